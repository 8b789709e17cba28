"""Where a program makes its calls: in traces, reports, time lines and messages, from C and Fortran."""

import json
import re
import shutil
import unittest

import harness

PROGRAMS = harness.SOURCE / "tests/e2e/programs"
SOURCE = PROGRAMS / "places.c"


def line_of(comment):
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if f"/* {comment} */" in line)


def place(comment):
    return f"places.c:{line_of(comment)}"


class Places(harness.TestCase):
    def compile(self, *options, source=SOURCE, compiler="mpicc"):
        program = self.directory / source.stem
        self.ok(harness.run([f"{compiler}.{harness.mpi}", "-g", "-O1", *options, source, "-o", program],
                            cwd=self.directory))
        return program

    def text(self, trace):
        out = self.directory / "text.txt"
        self.foretrace("convert", trace, out)
        return out.read_text()

    def places(self, trace):
        """Of each rank: (function, place or None) of its events, in order."""
        ranks, sites, names = [], [], []
        for line in self.text(trace).splitlines():
            words = line.split()
            if words[0] == "rank":
                ranks.append([])
                sites.clear()
            elif words[0] == "site":
                sites.append(line.partition(" # ")[2])
            elif ranks and words[0] not in ("name", "comm", "in"):
                site = re.search(r" site=(\d+)", line)
                ranks[-1].append((words[1], sites[int(site.group(1)) - 1] if site else None))
        return ranks

    EXPECTED = {"MPI_Send": "send", "MPI_Irecv": "post", "MPI_Wait": "wait", "MPI_Allreduce": "allreduce",
                "MPI_Barrier": "barrier", "MPI_Finalize": "finalize"}


class Traces(Places):
    def check(self, trace):
        ranks = self.places(trace)
        for rank, functions in enumerate((["MPI_Send"], ["MPI_Irecv", "MPI_Wait"])):
            for name in (*functions, "MPI_Allreduce", "MPI_Barrier", "MPI_Finalize"):
                found = {where for function, where in ranks[rank] if function == name}
                self.assertEqual(found, {place(self.EXPECTED[name])}, name)
            # Calls in a row have the place of all of them, or none.
            self.assertEqual([where for name, where in ranks[rank] if name == "MPI_Iprobe"],
                             [place("here"), place("here"), place("there"), None])
        return ranks

    def test_all_modes(self):
        program = self.compile()
        recorded = self.record(2, [program])
        self.assertEqual(self.result.out, "places: done\n")
        self.check(recorded)
        self.check(self.record(2, [program], name="wall.ftr", env={"FORETRACE_CLOCK": "wall"}))
        predicted = self.predict(2, [program])
        self.assertEqual(self.check(self.simulate(recorded)), self.check(predicted))
        again = self.record(2, [program], name="again.ftr")
        site_lines = [[line for line in self.text(trace).splitlines() if line.startswith("site ")]
                      for trace in (recorded, again)]
        self.assertEqual(*site_lines)

    def test_way_to_text_and_back(self):
        recorded = self.record(2, [self.compile()])
        text = self.write("run.txt", self.text(recorded))
        self.foretrace("convert", text, self.directory / "back.ftr")
        self.assertEqual((self.directory / "back.ftr").read_bytes(), recorded.read_bytes())

    def test_without_line_numbers(self):
        recorded = self.record(2, [self.compile("-g0", "-s")])
        where = {where for rank in self.places(recorded) for name, where in rank if name == "MPI_Allreduce"}
        self.assertEqual(len(where), 1, where)
        self.assertRegex(where.pop(), r"^places\+0x[0-9a-f]+$")

    def test_program_that_is_gone(self):
        program = self.compile()
        recorded = self.record(2, [program])
        program.unlink()
        where = dict(self.places(recorded)[0])["MPI_Send"]
        self.assertRegex(where, r"^places\+0x[0-9a-f]+$")


class Views(Places):
    def test_report(self):
        predicted = self.predict(2, [self.compile()])
        report = json.loads(self.foretrace("report", predicted, "--json").out)
        calls = {(site["function"], site["place"]): site["calls"] for site in report["sites"]}
        for name, (ranks, times) in {"MPI_Send": (1, 3), "MPI_Wait": (1, 3), "MPI_Allreduce": (2, 3),
                                     "MPI_Barrier": (2, 1)}.items():
            self.assertEqual(calls[name, place(self.EXPECTED[name])], ranks * times, name)
        times = {function["name"]: (function["time"], function["wait"]) for function in report["functions"]}
        for site in report["sites"]:
            if site["function"] == "MPI_Allreduce":
                self.assertEqual((site["time"], site["wait"]), times["MPI_Allreduce"])
        self.assertEqual(report["sites"], sorted(report["sites"], key=lambda site: -site["time"]))
        text = self.foretrace("report", predicted).out
        self.assertRegex(text, r"\nCall sites, over all ranks\n")
        self.assertRegex(text, rf"MPI_Allreduce +{place('allreduce')} +6 ")

    def test_time_line(self):
        if not harness.has_page():
            self.skipTest("this build has no page")
        predicted = self.predict(2, [self.compile()])
        page = self.directory / "page.html"
        self.foretrace("timeline", predicted, "-o", page)
        self.assertIn(f'"{place("allreduce")}"', page.read_text())


class Messages(Places):
    def test_deadlock(self):
        recorded = self.record(2, [self.compile(), "head_on"])
        model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), 2000))
        result = self.ok(harness.foretrace("simulate", recorded, "--machine", model), 1)
        for rank in (0, 1):
            self.assertRegex(result.err, rf"rank {rank} in event \d+, MPI_Send to rank {1 - rank}, tag 1, "
                                         rf"3000 bytes at {place('head on')}")

    def test_deadlock_under_predict(self):
        """The ranks' last calls are told with their places."""
        model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), 2000))
        result = harness.foretrace("predict", "-n", 2, "--machine", model, "-o", self.directory / "p.ftr", "--",
                                   self.compile(), "head_on")
        self.assertEqual(result.status, 1, str(result))
        for rank in (0, 1):
            self.assertRegex(result.err, rf"rank {rank} was last seen in MPI_Send \(event \d+\) at {place('head on')}\n")

    def test_collectives_that_do_not_match(self):
        """One rank's Allreduce is made a barrier in the text."""
        text = self.text(self.record(2, [self.compile()]))
        head, rank1 = text.split("rank 1\n")
        bent = rank1.replace("collective=allreduce bytes=4", "collective=barrier")
        self.assertNotEqual(bent, rank1)
        self.foretrace("convert", self.write("bent.txt", head + "rank 1\n" + bent), self.directory / "bent.ftr")
        result = self.ok(harness.foretrace("simulate", self.directory / "bent.ftr", "--machine", harness.T3D), 1)
        self.assertIn("do not match", result.err)
        self.assertEqual(result.err.count(f" at {place('allreduce')}"), 2, result.err)

    def test_killed(self):
        """Who still was in a call is named, with the place."""
        result = harness.foretrace("record", "-n", 2, "-o", self.directory / "r.ftr", "--", self.compile(), "block")
        self.assertNotEqual(result.status, 0, str(result))
        self.assertRegex(result.err, rf"rank 0 was last seen in MPI_Recv \(event \d+\) at {place('block')}\n")


@unittest.skipUnless(shutil.which("gfortran") and shutil.which(f"mpifort.{harness.mpi}"), "no gfortran")
class Fortran(Places):
    def test_places(self):
        """They are in the Fortran program, not in the MPI's library."""
        for name in ("ten_calls.f", "ten_calls.f90", "ten_calls.f08.f90"):
            with self.subTest(name=name):
                source = PROGRAMS / name
                lines = source.read_text().splitlines()
                program = self.compile(source=source, compiler="mpifort")
                recorded = self.record(2, [program])
                for rank in self.places(recorded):
                    for function, where in rank:
                        # gfortran gives MPI_Finalize the line of the program's first statement.
                        if function in ("MPI_Init", "MPI_Finalize"):
                            continue
                        file, _, number = where.rpartition(":")
                        self.assertEqual(file, name)
                        # A call may go on in the next line.
                        call = " ".join(lines[int(number) - 2:int(number)]).lower()
                        self.assertIn(function.lower(), call)


if __name__ == "__main__":
    harness.main()
