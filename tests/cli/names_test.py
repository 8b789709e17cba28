"""Machines, topologies and architectures by name, sizes, and words that were mistyped.

    names_test.py FORETRACE SOURCE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GOAL = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n"


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def foretrace(self, *words, status=0):
        result = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True,
                                timeout=60, cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result

    def refused(self, *words):
        result = self.foretrace(*words, status=2)
        self.assertEqual((result.stdout, len(result.stderr.splitlines())), ("", 1), result.stderr)
        return result.stderr


class Machines(Command):
    def test_list(self):
        lines = self.foretrace("machines").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["name", "machine", "ranks", "year", "kind", "functions", "source"])
        self.assertEqual(len(lines) - 1, len(list((SOURCE / "machines").glob("*.toml"))))
        self.assertRegex("\n".join(lines), r"\ncray-t3d +Cray T3D +128 +1996 +printed .* F\. W\. Howell")
        every = json.loads(self.foretrace("machines", "--json").stdout)
        self.assertEqual([each["name"] for each in every], [line.split()[0] for line in lines[1:]])
        self.assertIn("bcast", next(each for each in every if each["name"] == "cray-t3d")["functions"])

    def test_every_command_takes_names(self):
        (self.folder / "p.goal").write_text(GOAL)
        file = SOURCE / "machines" / "cray-t3d.toml"
        for words in (["calc", "{}", "send"], ["datasheet", "{}"], ["datasheet", "{}", "sparc-ethernet"],
                      ["simulate", "p.goal", "--machine", "{}"]):
            with self.subTest(words=words):
                by_name = self.foretrace(*[w.format("cray-t3d") for w in words]).stdout
                self.assertEqual(by_name, self.foretrace(*[w.format(file) for w in words]).stdout)

    def test_files_that_are_cut_off(self):
        """Within the last number of what was measured, or between two lines; not what somebody wrote without a last end of a line."""
        text, end = (SOURCE / "machines/gros-2021.toml").read_text().split("\n\n# The last line.")
        self.assertRegex(text, r'\d$')
        self.assertEqual(end, "\n")
        for cut, says in ((text, " within a line"), (text[:-1], " within a line"), (text + "\n", ": its last line, .*, is missing")):
            for words in (["calc", "m.toml"], ["simulate", "p.goal", "--machine", "m.toml"]):
                (self.folder / "p.goal").write_text(GOAL)
                (self.folder / "m.toml").write_text(cut)
                error = self.foretrace(*words, status=1).stderr
                self.assertRegex(error, r"m\.toml:\d+: the file is cut off" + says)
        text = (SOURCE / "machines/cray-t3d.toml").read_text()
        (self.folder / "m.toml").write_text(text.rstrip("\n"))
        self.foretrace("calc", "m.toml", "send")

    def test_topologies(self):
        self.assertEqual(self.foretrace("topology", "two-clusters").stdout,
                         self.foretrace("topology", SOURCE / "topologies/two-clusters.toml").stdout)
        (self.folder / "p.goal").write_text(GOAL)
        self.foretrace("simulate", "p.goal", "--machine", "cray-t3d", "--network", "flow", "--topology", "two-clusters")
        for micro in ("\u00b5s", "\u03bcs"):  # the sign, and the letter
            self.assertEqual(*(self.foretrace("simulate", "p.goal", "--network", "loggps", "--loggps",
                                              f"L=2{unit},o=500ns,g=0,G=0.1ns").stdout for unit in ("us", micro)))
        error = self.refused("topology", "ring")
        self.assertIn("after 'ring:' write the number of processors, for example ring:16", error)
        error = self.refused("topology", "two-cluster")
        self.assertIn("no topology of that name; did you mean 'two-clusters'? (there are cray-t3d-64, ", error)

    def test_architectures(self):
        self.assertEqual(self.foretrace("architecture", "check", "mesh-8x8").stdout,
                         self.foretrace("architecture", "check", SOURCE / "architectures/mesh-8x8.arch.toml").stdout)
        (self.folder / "p.goal").write_text(GOAL)
        self.foretrace("simulate", "p.goal", "--loggps", "o=1us,g=0s", "--network", "arch:mesh-8x8")
        error = self.refused("architecture", "check", "mesh-8")
        self.assertIn("no architecture of that name; did you mean 'mesh-8x8'? (there are mesh-8x8)", error)  # the others are parts
        missing = self.foretrace("architecture", "check", "mesh.arch.toml", status=1)
        self.assertIn("there is no file 'mesh.arch.toml', and no architecture of that name", missing.stderr)

    def test_traffic_takes_topologies(self):
        """As --topology does: an expression, a file, a name. Alike graphs have alike curves."""
        words = ["--load", "0.1", "--cycles", "500", "--json"]
        told = {}
        (self.folder / "t.toml").write_text('[topology]\nkind = "torus"\nparameters = "4x4"\n')
        for name in ("torus:4x4", "t.toml", "two-clusters", "fat-tree-64", "mesh-8x8"):
            told[name] = json.loads(self.foretrace("traffic", name, *words).stdout)
        self.assertEqual(told["torus:4x4"]["points"], told["t.toml"]["points"])
        self.assertEqual([told[name]["terminals"] for name in told], [16, 16, 6, 64, 64])
        self.assertIn("and no topology of that name", self.refused("traffic", "twoclusters"))

    def test_traffic_takes_no_notice_of_speeds(self):
        words = ["--load", "0.1", "--cycles", "100", "--warm-up", "0", "--json"]
        for name, told in (("mesh:2x2", False), ("mesh:2x2?bandwidth=1GB/s", True), ("mesh:2x2?latency=1us", True)):
            self.assertEqual("how fast its links are" in self.foretrace("traffic", name, *words).stderr, told)

    def test_unknown_names(self):
        for words in (["calc", "cray-t3", "send"], ["simulate", "p.goal", "--machine", "cray-t3"],
                      ["datasheet", "sparc-ethernet", "cray-t3"],
                      ["predict", "-n", "2", "--machine", "cray-t3", "--", "true"]):
            with self.subTest(words=words):
                error = self.refused(*words)
                self.assertIn("did you mean 'cray-t3d'? (there are archer2-ofi, ", error)
        self.assertNotIn("did you mean", self.refused("calc", "quantum"))

    def test_files_that_are_not_there(self):
        """Status 1 of every command: what was asked for makes sense."""
        (self.folder / "p.goal").write_text(GOAL)
        m = str(SOURCE / "machines/cray-t3d.toml")
        for words in (["calc", "cray-t3.toml"], ["calc", "x/m.toml", "send"], ["datasheet", "x.toml"],
                      ["simulate", "x.ftr", "--machine", m], ["simulate", "x.goal", "--machine", m],
                      ["simulate", "x.ti", "--machine", m], ["simulate", "p.goal", "--machine", "x.toml"],
                      ["simulate", "p.goal", "--machine", m, "--scale-from", "x.toml"],
                      ["simulate", "p.goal", "--machine", m, "--network", "flow", "--topology", "x.toml"],
                      ["simulate", "p.goal", "--machine", m, "--compute", "table:x.toml"],
                      ["simulate", "p.goal", "--machine", m, "--compute", "replayed:x.ftr"],
                      ["predict", "-n", "2", "--machine", "x.toml", "--", "/bin/true"],
                      ["explain", "x.ftr", "--machine", m], ["machines", "--run", "x.ftr"],
                      ["explain", "p.goal", "--machine", m, "--baseline", "x.json"],
                      ["report", "x.ftr"], ["timeline", "x.ftr"],
                      ["compare", "x.ftr", "y.ftr"], ["regions", "x.ftr", "-o", "r.toml"],
                      ["convert", "x.ftr", "y.txt"], ["convert", "x.txt", "y.ftr"], ["topology", "x.toml"],
                      ["import", "osu", "x.txt", "-o", "m.toml"], ["wrap", "x.w", "-o", "w.so"],
                      ["profile", "--read", "x.fprof"], ["measure", "--refit", "-o", "x.toml"]):
            with self.subTest(words=words):
                error = self.foretrace(*words, status=1).stderr
                self.assertEqual(len(error.splitlines()), 1, error)

    def test_path_in_the_sources_folder(self):
        """Examples have machines/cray-t3d.toml, which is there in that folder only: the name will do."""
        (self.folder / "p.goal").write_text(GOAL)
        for words, name in ((["calc", "machines/cray-t3d.toml", "send"], "machine that comes with Foretrace .*: cray-t3d"),
                            (["simulate", "p.goal", "--machine", "machines/cray-t3d.toml"], "machine .*: cray-t3d"),
                            (["topology", "topologies/two-clusters.toml"], "topology .*: two-clusters")):
            error = self.foretrace(*words, status=1).stderr
            self.assertRegex(error, rf"there is no file '{words[-1] if words[-1] != 'send' else words[1]}'; the {name}\n")

    def test_a_file_comes_first(self):
        text = (SOURCE / "machines/sparc-ethernet.toml").read_text()
        (self.folder / "cray-t3d").write_text(text)
        self.assertEqual(self.foretrace("calc", "cray-t3d", "barrier").stdout,
                         self.foretrace("calc", "sparc-ethernet", "barrier").stdout)
        self.assertIn("folder/m.toml", self.foretrace("calc", "folder/m.toml", "send", status=1).stderr)


class Sizes(Command):
    def test_one_reader(self):
        sizes = "1k,2KiB,3kB"
        (self.folder / "p.goal").write_text(GOAL)
        times = self.foretrace("calc", "cray-t3d", "send", "--bytes", sizes).stdout
        self.assertEqual([line.split()[2] for line in times.splitlines()[1:]], ["1024", "2048", "3000"])
        sheet = self.foretrace("datasheet", "cray-t3d", "--bytes", sizes, "--ranks", "2..8").stdout
        for word in ("1024 B", "2048 B", "3000 B", "p = 4"):
            self.assertIn(word, sheet)
        for option in (["--network", "packet", "--topology", "ring:2", "--packet-size", "1k"],
                       ["--network", "hops", "--topology", "ring:2", "--block", "1KiB"], ["--loggps", "S=1k"]):
            self.foretrace("simulate", "p.goal", "--machine", "cray-t3d", *option)

    def test_what_is_no_size(self):
        for words in (["datasheet", "cray-t3d", "--bytes", "1x"], ["datasheet", "cray-t3d", "--ranks", "0"],
                      ["measure", "-n", "2", "-o", "m.toml", "--max-bytes", "many"],
                      ["measure", "-n", "2", "-o", "m.toml", "--max-bytes", "2g"]):
            with self.subTest(words=words):
                self.refused(*words)


if __name__ == "__main__":
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
