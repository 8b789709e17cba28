"""Help, guesses at what was meant, why a program cannot be run, and completion in shells.

    help_test.py FORETRACE SOURCE
"""

import os
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
    return [path.stem for path in sorted((SOURCE / "src/cli/commands").glob("*.cpp"))]


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

    def test_every_option_is_on_its_page(self):
        """The page of a command says what its options are; some are on the page of what they are for."""
        pages = {"simulate": ["simulate", "live", "architecture-files"], "architecture": ["architecture-files"]}
        options = {}
        for line in run(FORETRACE, "--completion-data").stdout.splitlines():
            kind, command, name, *_ = line.split("\t")
            if kind == "option" and name not in ("-h", "--help", "--output"):  # -o is
                options.setdefault(command, []).append(name)
        self.assertEqual(sorted(options), commands())
        for command, names in options.items():
            text = "".join((SOURCE / f"docs/{page}.md").read_text() for page in pages.get(command, [command]))
            for name in names:
                with self.subTest(command=command, option=name):
                    self.assertRegex(text, rf"(?<![\w-]){name}(?![\w-])")

    def test_did_you_mean(self):
        for words, says in ((["recrod"], "unknown command 'recrod'; did you mean 'record'?"),
                            (["help", "sim"], "did you mean 'simulate'?"),
                            (["report", "x.ftr", "--jsno"], "did you mean '--json'?"),
                            (["predict", "--machne=cray-t3d"], "unknown option '--machne'; did you mean '--machine'?"),
                            (["simulate", "--machne", "X"], "unknown option '--machne'; did you mean '--machine'?"),
                            (["--versoin"], "unknown option '--versoin'; did you mean '--version'?"),
                            (["calc", "-q", "cray-t3d"], "unknown option '-q'; see foretrace calc --help")):
            with self.subTest(words=words):
                error = run(FORETRACE, *words, status=2).stderr
                self.assertIn(says, error)
                self.assertEqual(len(error.splitlines()), 1)
        self.assertNotIn("did you mean", run(FORETRACE, "frobnicate", status=2).stderr)

    def test_numbers(self):
        ranks = "-n: expected a whole number from 1 to 16777216, found "
        for words, says in ((["predict", "-n", "abc"], ranks + "abc;"), (["predict", "-n", "0"], ranks + "0;"),
                            (["predict", "-n", "2.5"], ranks + "2.5;"),
                            (["predict", "--every", "soon"], "--every: expected a number from 0.1 to 86400, found soon;")):
            with self.subTest(words=words):
                self.assertIn(says, run(FORETRACE, *words, status=2).stderr)

    def test_machine_without_its_option(self):
        for words in (["simulate", "run.ftr", "cray-t3d"], ["simulate", "cray-t3d", "-n", "2", "--", "/bin/true"],
                      ["simulate", "-n", "2", "cray-t3d", "/bin/true"], ["predict", "-n", "2", "cray-t3d", "--", "/bin/true"],
                      ["validate", "-n", "2", "cray-t3d", "--", "/bin/true"], ["explain", "run.ftr", "cray-t3d"]):
            with self.subTest(words=words):
                self.assertTrue(run(FORETRACE, *words, status=2).stderr.startswith(
                    "foretrace: 'cray-t3d' is a machine model: say --machine cray-t3d"))
        self.assertIn("'here.toml' is a machine model", run(FORETRACE, "simulate", "run.ftr", "here.toml", status=2).stderr)
        # A program's own arguments are its own.
        self.assertNotIn("is a machine model", run(FORETRACE, "predict", "-n", 2, "--", "/bin/true", "cray-t3d", status=2).stderr)

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
            launcher = script.rename(f"{folder}/mpirun.mine")
            self.assertIn("/mpirun.mine starts programs: name the program alone",
                          run(FORETRACE, "record", "-n", 2, "--", launcher, status=2, cwd=folder).stderr)


class Completion(unittest.TestCase):
    def test_data(self):
        lines = [line.split("\t") for line in run(FORETRACE, "--completion-data").stdout.splitlines()]
        self.assertEqual(sorted(line[1] for line in lines if line[0] == "command"), commands())
        value = {(line[1], line[2]): line[3] for line in lines if line[0] == "option"}
        self.assertEqual(value["predict", "--machine"], "machine")
        self.assertEqual(value["record", "--clock"], "cpu,wall")
        self.assertEqual(value["report", "--json"], "-")
        self.assertEqual(value["simulate", "--network"],
                         "datasheet,loggps,hops,hops:store-and-forward,hops:cut-through,bus,flow,packet,arch:,auto")
        self.assertRegex(value["explain", "--topology"], "^full:,ring:,.*,dragonfly:,.*,FILE$")
        self.assertEqual(value["wrap", "--mpi"], "openmpi,mpich")
        self.assertEqual(value["simulate", "--mpi"], "openmpi,mpich,standard")
        self.assertEqual(value["convert", "--to"].split(",")[:3], ["trace", "text", "otf2"])
        self.assertNotIn(("profile", "--in-rank"), value)

    def test_options_of_fixed_words_offer_them(self):
        """Whatever command they belong to."""
        words = ("--network", "--compute", "--collectives", "--mpi", "--placement", "--topology", "--bound", "--from", "--to",
                 "--clock", "--routing", "--wildcards", "--yield", "--start", "--wtime", "--pattern", "--watch-what")
        lines = [line.split("\t") for line in run(FORETRACE, "--completion-data").stdout.splitlines()]
        files = [line[1:3] for line in lines if line[0] == "option" and line[2] in words and line[3] == "file"]
        self.assertEqual(files, [])
        self.assertEqual({line[2] for line in lines if line[0] == "option"} & set(words), set(words))

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
            self.assertEqual(self.complete_in_bash("explain", "x.ftr", "--topology", "toru"), ["torus:"])
            self.assertEqual(self.complete_in_bash("simulate", "x.ftr", "--placement", "r"),
                             ["round-robin", "random:", "recorded"])
            self.assertEqual(self.complete_in_bash("simulate", "x.ftr", "--placement", f"{folder}/r"),
                             [f"{folder}/run.ftr"])
            # As bash takes words apart.
            self.assertEqual(self.complete_in_bash("simulate", "x.ftr", "--network", "hops", ":", "cut"), ["cut-through"])
            self.assertEqual(self.complete_in_bash("simulate", "x.ftr", "--network", "hops", ":"),
                             ["store-and-forward", "cut-through"])
            self.assertEqual(self.complete_in_bash("simulate", "x.ftr", "--network", "arch", ":", f"{folder}/r"),
                             [f"{folder}/run.ftr"])
        self.assertEqual(self.complete_in_bash("predict", "--mpi", ""), ["openmpi", "mpich"])
        self.assertIn("none", self.complete_in_bash("simulate", "x.ftr", "--compute", ""))
        self.assertNotIn("CMakeLists.txt", self.complete_in_bash("simulate", "x.ftr", "--network", ""))

    def options(self):
        """By command, as the tool names them."""
        found = {}
        for line in run(FORETRACE, "--completion-data").stdout.splitlines():
            kind, command, name, *_ = line.split("\t")
            found.setdefault(command, set())
            if kind == "option":
                found[command].add(name)
        return found

    def test_every_option_in_bash(self):
        for command, options in self.options().items():
            self.assertEqual(set(self.complete_in_bash(command, "-")), options, command)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        """Its function under zsh, with what it calls to offer words replaced by printing them."""
        script = ("_describe() { print -rl -- ${${(P)argv[-1]}%%:*}; }; compadd() { print -rl -- ${(P)argv[-1]}; }; "
                  '_files() { print files; }; complete() { words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; '
                  f"source {SOURCE}/tools/completion/_foretrace; }}; ")
        def complete(*words):
            return run("zsh", "-f", "-c", script + 'complete "$@"', "zsh", FORETRACE, *words).stdout.split()
        self.assertEqual(set(complete("")), {"help", *commands()})
        self.assertEqual(set(complete("help", "")), {"help", *commands()})
        for command, options in self.options().items():
            self.assertEqual(set(complete(command, "-")), options, command)
        self.assertEqual(complete("calc", ""), [*MACHINES, "files"])
        self.assertEqual(complete("simulate", "x.ftr", "--machine", ""), [*MACHINES, "files"])
        self.assertEqual(complete("record", "--clock", ""), ["cpu", "wall"])
        self.assertEqual(complete("simulate", "x.ftr", "--placement", ""),
                         ["block", "round-robin", "recorded", "random:", "files"])
        self.assertEqual(complete("wrap", "x", "--mpi", ""), ["openmpi", "mpich"])
        self.assertEqual(complete("record", "-n", "2", "--", "./a", "-x"), ["files"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        ask = "\n".join(f'echo = {command}; complete -C "foretrace {command} -"' for command in self.options())
        ask += '\necho = names of machines\ncomplete -C "foretrace calc "\ncomplete -C "foretrace predict --machine "'
        ask += '\necho = names of clocks\ncomplete -C "foretrace record --clock "\necho = names of commands\ncomplete -C "foretrace "'
        ask += '\necho = names of placements\ncomplete -C "foretrace simulate x.ftr --placement "'
        ask += '\necho = names of MPIs\ncomplete -C "foretrace wrap x --mpi "'
        with tempfile.TemporaryDirectory() as folder:  # without any files to offer
            text = run("fish", "-c", f"set PATH {pathlib.Path(FORETRACE).parent} $PATH\n"
                       f"source {SOURCE}/tools/completion/foretrace.fish\n{ask}", cwd=folder,
                       env={**os.environ, "HOME": folder}).stdout
        offered = {}
        for line in text.splitlines():
            if line.startswith("= "):
                words = offered[line[2:]] = []
            else:
                words.append(line.split("\t")[0])
        for command, options in self.options().items():
            self.assertEqual(set(offered[command]), options, command)
        self.assertEqual(offered["names of machines"], 2 * MACHINES)
        self.assertEqual(offered["names of clocks"], ["cpu", "wall"])
        self.assertEqual(set(offered["names of placements"]), {"block", "round-robin", "recorded", "random:"})
        self.assertEqual(set(offered["names of MPIs"]), {"openmpi", "mpich"})
        self.assertEqual(set(offered["names of commands"]), {"help", *commands()})


if __name__ == "__main__":
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    MACHINES = sorted(path.stem for path in (SOURCE / "machines").glob("*.toml"))
    del sys.argv[1:3]
    unittest.main()
