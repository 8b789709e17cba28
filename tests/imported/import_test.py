"""foretrace import through the command line, and the machines that were made by it.

    import_test.py FORETRACE SOURCE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).parent
FILES = [HERE / "data/osu_allreduce_128.dat", HERE / "data/osu_allreduce_256.dat"]
OPTIONS = ["--name", "ARCHER2, two files", "--date", "2022-03", "--licence", "CC0 1.0 Universal", "--source",
           "github.com/ARCHER2-HPC/performance_ofi-ucx, commit 0ff502e669650281e1c45acd13ada0c747166a46"]


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def foretrace(self, *words, status=0):
        result = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True, timeout=120,
                                cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result


class Import(Command):
    def test_the_sample_gives_the_same_bytes(self):
        self.foretrace("import", "osu", *FILES, "-o", "m.toml", *OPTIONS)
        self.assertEqual((self.folder / "m.toml").read_text(), (HERE / "data/osu_allreduce.toml").read_text())

    def test_a_program_runs_on_it(self):
        self.foretrace("import", "osu", *FILES, "-o", "m.toml", *OPTIONS)
        model = tomllib.loads((self.folder / "m.toml").read_text())
        self.assertEqual(model["machine"]["kind"], "derived")
        function, = model["function"]
        self.assertEqual((function["name"], function["measured_ranks"]), ("allreduce", [128, 256]))
        self.assertIn("mean over ranks", function["method"])
        # The file of 256 ranks says 7.03 us for 8 bytes.
        answer = json.loads(self.foretrace("calc", "m.toml", "allreduce", "--ranks", 256, "--bytes", 8,
                                           "--json").stdout)
        self.assertIn("avg", json.dumps(answer))
        (self.folder / "p.goal").write_text("num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n")
        said = self.foretrace("simulate", "p.goal", "--machine", "m.toml").stderr
        self.assertRegex(said, "nothing stands in, so these take no time: .*isend1")

    def test_wrong_lines_are_named(self):
        (self.folder / "bad.txt").write_text("== Processes = 4\nnonsense\n")
        error = self.foretrace("import", "osu", "bad.txt", "-o", "m.toml", status=1).stderr
        self.assertTrue(error.startswith("foretrace: bad.txt:2: "), error)
        self.assertFalse((self.folder / "m.toml").exists())
        self.foretrace("import", "imb", "none.txt", "-o", "m.toml", status=1)
        error = self.foretrace("import", "bad.txt", "-o", "m.toml", status=2).stderr
        self.assertIn("before the files comes what wrote them: osu, imb, netpipe, smpi-platform or simgrid-csv; found bad.txt", error)
        self.foretrace("import", "osu", "bad.txt", status=2)
        self.foretrace("import", "osu", *FILES, "-o", "m.toml", "--cluster", "x", status=2)

    def test_files_that_were_cut_off_are_refused(self):
        """The last time of all, 12.34 us, would be read as 1 or as 12."""
        whole = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n1     1.50\n2     1.51\n4     1.52\n8     12.34\n"
        times = {size: 1e-6 * (1.5 + size / 1000) for size in (1, 2, 4, 8)}
        files = {"osu": whole,
                 "netpipe": "".join(f"{size} {8e-6 * size / time:.6f} {time:.8f}\n" for size, time in times.items())}
        for kind, text in files.items():
            (self.folder / "a.txt").write_text(text)
            self.foretrace("import", kind, "a.txt", "-o", "m.toml")
            for cut in (1, 2, 3, 4):
                (self.folder / "a.txt").write_text(text[:-cut])
                error = self.foretrace("import", kind, "a.txt", "-o", "m.toml", status=1).stderr
                self.assertRegex(error, r"^foretrace: a\.txt:\d+: the file ends in the middle of this line")

    def test_a_file_that_is_given_twice(self):
        error = self.foretrace("import", "osu", FILES[0], FILES[0], "-o", "m.toml", status=1).stderr
        self.assertIn("give each measurement once", error)

    def test_a_size_that_stands_twice_hides_no_jump(self):
        """1.5 us + d / (10 GB/s) up to 8 KiB, 4 us + d / (12.5 GB/s) from there on; 64 bytes twice."""
        def seconds(size):
            return 1.5e-6 + size / 10e9 if size <= 8192 else 4e-6 + size / 12.5e9
        sizes = sorted({2 ** i + d for i in range(5, 23) for d in (-3, 0, 3)})
        for given in (sizes, [*sizes, 64]):
            (self.folder / "np.out").write_text("".join(
                f"{size} {8 * size / seconds(size) / 2 ** 20:.6f} {seconds(size):.12f}\n" for size in given))
            self.foretrace("import", "netpipe", "np.out", "-o", "m.toml")
            recv = next(each for each in tomllib.loads((self.folder / "m.toml").read_text())["function"]
                        if each["name"] == "recv")
            self.assertEqual([regime["bytes"][0] for regime in recv["regime"]], [0, 8193])

    def test_ranks_are_for_files_that_do_not_say_theirs(self):
        text = FILES[1].read_text()
        (self.folder / "silent.txt").write_text("".join(line for line in text.splitlines(True)
                                                        if not line.startswith("==")))
        self.foretrace("import", "osu", FILES[0], "silent.txt", "--ranks", 64, "-o", "m.toml")
        function, = tomllib.loads((self.folder / "m.toml").read_text())["function"]
        self.assertEqual(function["measured_ranks"], [64, 128])
        self.foretrace("import", "osu", f"64:{FILES[0]}", "-o", "m.toml", status=1)
        for format in ("imb", "netpipe", "smpi-platform", "simgrid-csv"):
            for words in (["--ranks", 4, "silent.txt"], ["4:silent.txt"]):
                error = self.foretrace("import", format, *words, "-o", "m.toml", status=2).stderr
                self.assertIn("ranks are for osu", error)


class Ranking(Command):
    """Which machine would run a program fastest."""

    def test_places(self):
        (self.folder / "p.goal").write_text("num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n")
        lines = self.foretrace("machines", "--run", "p.goal").stdout.splitlines()
        self.assertEqual(lines[0].split()[:5], ["place", "machine", "time", "least", "most"])
        names = [line.split()[1] for line in lines[1:lines.index("")]]
        self.assertIn("cray-t3d", names)
        # 30 us + 60 us at most on the Cray, 2 ms on the Ethernet of 1996.
        self.assertLess(names.index("cray-t3d"), names.index("sparc-ethernet"))
        text = "\n".join(lines)
        self.assertRegex(text, r"archer2-ofi +nobody measured .*isend1")
        self.assertIn("overlapping intervals are not told apart", text)

    def test_json_holds_the_same(self):
        (self.folder / "p.goal").write_text("num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n")
        told = json.loads(self.foretrace("machines", "--run", "p.goal", "--json").stdout)
        lines = self.foretrace("machines", "--run", "p.goal").stdout.splitlines()
        self.assertEqual([each["name"] for each in told["ranked"]],
                         [line.split()[1] for line in lines[1:lines.index("")]])
        cray = next(each for each in told["ranked"] if each["name"] == "cray-t3d")
        # send of 8 bytes at 0; recv ends at 0 + recv(8 bytes), by the printed table.
        self.assertEqual((cray["network"], "place" in cray), ("datasheet", False))
        self.assertGreater(cray["time"], 0)
        for each in told["ranked"]:
            if "place" in each:
                self.assertTrue(each["min"] <= each["time"] <= each["max"])
        self.assertIn("isend1", {each["name"]: each["reason"] for each in told["unranked"]}["archer2-ofi"])

    def test_what_fails_everywhere_is_the_runs_fault(self):
        self.foretrace("machines", "--run", "none.ftr", status=1)

    def test_options_need_a_run(self):
        self.foretrace("machines", "--network", "loggps", status=2)


class Shipped(Command):
    def test_they_are_what_the_data_give(self):
        data = pathlib.Path(os.environ.get("FORETRACE_DATA", SOURCE.parent / "shared/data"))
        if not data.is_dir():
            self.skipTest(f"{data} is not there (FORETRACE_DATA)")
        made = self.folder / "machines"
        made.mkdir()
        subprocess.run([SOURCE / "tools/import-machines", "--data", data, "--tool", FORETRACE, "-o", made], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = sorted(made.glob("*.toml"))
        self.assertGreaterEqual(len(files), 10)
        for file in files:
            self.assertEqual(file.read_text(), (SOURCE / "machines" / file.name).read_text(), file.name)

    def test_each_says_whose_it_is(self):
        for each in json.loads(self.foretrace("machines", "--json").stdout):
            with self.subTest(machine=each["name"]):
                self.assertIn(each["kind"], ("derived", "printed"))
                self.assertTrue(each["source"])
                if each["kind"] == "derived":
                    self.assertIn(each["licence"].split(" ")[0].rstrip(",;"), ("MIT", "Apache-2.0", "CC0"))
                    self.assertIn("commit", each["source"])


if __name__ == "__main__":
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
