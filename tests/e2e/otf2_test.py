"""OTF2 archives: other tools accept ours, and what other recorders wrote is read and replayed."""

import shutil
import unittest

import harness

TRACES = harness.SOURCE / "tests/formats/data/otf2-stencil4d"
LOGGPS = "L=2us,o=500ns,g=1us,G=0.08ns,S=64"
# Deterministic, and of calls that EZTrace records as a whole: it loses what Sendrecv, Scan and
# requests are about.
PROGRAMS = [("life", "--rows", 40, "--cols", 40, "--iters", 3), ("elastic",), ("mergesort",), ("gauss",),
            ("norm",)]


class Otf2(harness.TestCase):
    def times_of(self, trace):
        """When each rank ends, in ps, without computation: by equations, and by messages."""
        self.foretrace("simulate", trace, "--compute", "none", "--loggps", LOGGPS, "-o", "loggps.ftr",
                       cwd=self.directory)
        traces = [self.simulate(trace, compute="none"), self.directory / "loggps.ftr"]
        return [[rank[-1][2]["enter"] for rank in self.events(predicted)] for predicted in traces]


class Ours(Otf2):
    def setUp(self):
        super().setUp()
        self.trace = self.record(4, [harness.paper_program("life"), "--rows", 23, "--cols", 23])
        self.archive = self.directory / "run.otf2"
        self.foretrace("convert", self.trace, self.archive)

    @unittest.skipUnless(shutil.which("otf2-print"), "otf2-tools are not installed")
    def test_otf2_print_accepts_it(self):
        for option in (["-G"], [], ["--show-clock-offsets"], ["--silent"]):
            result = self.ok(harness.run(["otf2-print", *option, self.archive]))
            self.assertNotIn("rror", result.err, option)
            self.assertNotIn("arning", result.err, option)
        events = harness.run(["otf2-print", self.archive]).out
        sends = self.foretrace("report", self.trace, "--json").out
        self.assertIn(f'"messages": {events.count("MPI_SEND ")}', sends)
        self.assertEqual(events.count("MPI_RECV "), events.count("MPI_SEND "))

    def test_it_comes_back(self):
        again = self.directory / "again.ftr"
        self.foretrace("convert", self.archive, again)
        self.assertEqual(self.events(again), self.events(self.trace))

    def test_same_trace_same_bytes(self):
        before = {path: path.read_bytes() for path in self.archive_files()}
        self.foretrace("convert", self.trace, self.archive)
        self.assertEqual({path: path.read_bytes() for path in self.archive_files()}, before)

    def archive_files(self):
        return sorted([self.archive, self.archive.with_suffix(".def"),
                       *self.archive.with_suffix("").iterdir()])

    def test_a_folder_of_that_name_is_kept(self):
        folder = self.directory / "mine"
        folder.mkdir()
        (folder / "thesis.tex").write_text("all my work")
        result = harness.foretrace("convert", self.trace, self.directory / "mine.otf2")
        self.ok(result, 1)
        self.assertEqual((folder / "thesis.tex").read_text(), "all my work")


@unittest.skipUnless(shutil.which("eztrace"), "eztrace is not installed")
class OfEztrace(Otf2):
    def test_replays_to_the_same_picosecond(self):
        for name, *arguments in PROGRAMS:
            with self.subTest(program=name):
                self.replay([harness.paper_program(name), *arguments], name)

    def replay(self, command, name):
        own = self.record(4, command, name=f"{name}.ftr")
        # It finds its libraries by LD_LIBRARY_PATH, and its trace's name by the program's.
        self.ok(harness.plain(4, ["eztrace", "-t", harness.mpi, *command], cwd=self.directory))
        archive = self.directory / f"{name}_trace" / "eztrace_log.otf2"
        self.assertTrue(archive.exists())
        self.assertEqual(self.times_of(archive), self.times_of(own))


class OfScoreP(Otf2):
    """A public trace of 32 ranks with real times; see its folder for whose it is."""

    def test_is_read_shown_and_replayed(self):
        archive = TRACES / "traces.otf2"
        report = self.foretrace("report", archive)
        self.assertRegex(report.out, r"messages +512, 64 MiB")
        self.assertRegex(report.out, r"ranks +32\n")
        self.assertIn("64 times: what a rank did while its recording was off", report.out)
        drawn = self.foretrace("timeline", archive, "--width", 80)
        self.assertRegex(drawn.out, r"(?m)^\D*\b31\b")
        out = self.foretrace("simulate", archive, "--compute", "none", "--machine", harness.T3D).out
        self.assertRegex(out, r"predicted time [0-9.e-]+ s on 32 ranks of Cray T3D")

    def test_its_messages_are_as_otf2_print_says(self):
        text = self.directory / "stencil.txt"
        self.foretrace("convert", TRACES / "traces.otf2", text)
        lines = text.read_text().splitlines()
        self.assertEqual(sum(line.startswith("send MPI_Send ") for line in lines), 512)
        self.assertEqual(sum(line.startswith("irecv MPI_Irecv ") for line in lines), 512)
        self.assertEqual(sum(line.startswith("complete MPI_Waitall ") for line in lines), 64)
        self.assertEqual(sum(line.startswith("collective MPI_Barrier ") for line in lines), 96)
        self.assertEqual(lines.count('rank 31'), 1)

    def test_damage_is_said_with_its_place(self):
        copy = self.directory / "copy"
        shutil.copytree(TRACES, copy)
        events = copy / "traces" / "7.evt"
        events.write_bytes(events.read_bytes()[:900])
        result = harness.foretrace("convert", copy / "traces.otf2", self.directory / "x.ftr")
        self.ok(result, 1)
        self.assertRegex(result.err, r"traces.otf2: rank 7, event \d+: ")
        self.assertFalse((self.directory / "x.ftr").exists())


if __name__ == "__main__":
    harness.main()
