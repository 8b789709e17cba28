"""Help, guesses at what was meant, why a program cannot be run, and completion in shells.

    help_test.py FORETRACE SOURCE
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest


def run(*words, status=0, **options):
    result = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=60, **options)
    if result.returncode != status:
        raise AssertionError(f"{words}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def commands():
    return [path.stem[4:] for path in sorted((SOURCE / "src/cli").glob("cmd_*.cpp"))]


class Help(unittest.TestCase):
    def test_every_command_has_examples(self):
        for name in commands():
            with self.subTest(command=name):
                text = run(FORETRACE, "help", name).stdout
                self.assertEqual(text, run(FORETRACE, name, "--help").stdout)
                examples = text.split("\nExamples:\n")[1].split("\n\n")[0].splitlines()
                for line in examples:
                    self.assertIn("foretrace ", line)
                lines = [line for line in examples if f"foretrace {name}" in line]
                self.assertTrue(lines)
                for line in lines:
                    # No option that there is not.
                    ours = line.split(" -- ")[0].split(f"foretrace {name}")[1]
                    for option in re.findall(r"(?<= )--?[a-z][a-z-]*", ours):
                        if '"' not in ours.split(option)[0]:
                            self.assertIn(option, text.split("Examples:")[0])
        self.assertEqual(run(FORETRACE, "help").stdout, run(FORETRACE, "--help").stdout)

    def test_did_you_mean(self):
        for words, says in ((["recrod"], "unknown command 'recrod'; did you mean 'record'?"),
                            (["help", "sim"], "did you mean 'simulate'?"),
                            (["report", "x.ftr", "--jsno"], "did you mean '--json'?"),
                            (["predict", "--machne=cray-t3d"], "did you mean '--machine'?")):
            with self.subTest(words=words):
                error = run(FORETRACE, *words, status=2).stderr
                self.assertIn(says, error)
                self.assertEqual(len(error.splitlines()), 1)
        self.assertNotIn("did you mean", run(FORETRACE, "frobnicate", status=2).stderr)

    def test_header_is_found(self):
        flags = run(FORETRACE, "--cflags").stdout.split()
        self.assertEqual(len(flags), 1)
        self.assertTrue(pathlib.Path(flags[0][2:], "foretrace.h").exists(), flags)

    def test_compiler(self):
        for name in ("foretrace-cc", "foretrace-c++"):
            text = run(pathlib.Path(FORETRACE).parent / name, "--help").stdout
            self.assertIn(f"Usage: {name} [-show]", text)
            self.assertIn("Examples:", text)

    def test_what_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for file, says in ((f"{folder}/none", "there is no such file"), ("/etc/passwd", "not executable"),
                               (folder, "is a folder"), ("/dev/null", "no regular file"),
                               ("no-such-program-at-all", "not found in PATH")):
                with self.subTest(file=file):
                    error = run(FORETRACE, "record", "-n", 2, "--", file, status=2, cwd=folder).stderr
                    self.assertIn(f"cannot run {file}: ", error)
                    self.assertIn(says, error)
            script = pathlib.Path(folder, "my-own-script")
            script.write_text("#!/bin/sh\n")
            script.chmod(0o755)
            self.assertIn("the one in this folder is ./my-own-script",
                          run(FORETRACE, "record", "-n", 2, "--", "my-own-script", status=2, cwd=folder).stderr)
            self.assertIn("no compiled program",
                          run(FORETRACE, "record", "-n", 2, "--", "./my-own-script", status=2, cwd=folder).stderr)


class Completion(unittest.TestCase):
    def test_data(self):
        lines = [line.split("\t") for line in run(FORETRACE, "--completion-data").stdout.splitlines()]
        self.assertEqual(sorted(line[1] for line in lines if line[0] == "command"), commands())
        value = {(line[1], line[2]): line[3] for line in lines if line[0] == "option"}
        self.assertEqual(value["predict", "--machine"], "machine")
        self.assertEqual(value["record", "--clock"], "cpu,wall")
        self.assertEqual(value["report", "--json"], "-")
        self.assertNotIn(("profile", "--in-rank"), value)

    def complete_in_bash(self, *words):
        script = (f'source "{SOURCE}/tools/completion/foretrace.bash"; COMP_WORDS=("$@"); '
                  'COMP_CWORD=$(($# - 1)); _foretrace; printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "-c", script, "bash", FORETRACE, *words).stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete_in_bash("rec"), ["record"])
        self.assertEqual(self.complete_in_bash("help", "topo"), ["topology"])
        self.assertEqual(self.complete_in_bash("predict", "--mach"), ["--machine"])
        self.assertEqual(self.complete_in_bash("predict", "--machine", "cray"), ["cray-t3d"])
        self.assertEqual(self.complete_in_bash("calc", "spa"), ["sparc-ethernet"])
        self.assertEqual(self.complete_in_bash("record", "--clock", "w"), ["wall"])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "run.ftr").touch()
            self.assertEqual(self.complete_in_bash("report", f"{folder}/r"), [f"{folder}/run.ftr"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        run("zsh", "-n", SOURCE / "tools/completion/_foretrace")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        text = run("fish", "-c", f'set PATH {pathlib.Path(FORETRACE).parent} $PATH; '
                   f'source {SOURCE}/tools/completion/foretrace.fish; complete -C "foretrace predict --mach"').stdout
        self.assertIn("--machine", text)


if __name__ == "__main__":
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
