"""`foretrace profile`: counts, bytes, partners, communicators and call sites of programs that say which
they are; runs that die; several threads; Fortran."""

import json
import os
import re
import shutil
import unittest

import harness

PROGRAMS = harness.SOURCE / "tests/e2e/programs"
SOURCE = PROGRAMS / "profiled_calls.c"


def line_of(comment, source=SOURCE):
    return next(n for n, line in enumerate(source.read_text().splitlines(), 1) if comment in line)


class Profile(harness.TestCase):
    def compile(self, source=SOURCE, compiler=None, *options):
        program = self.directory / source.stem
        self.ok(harness.run([compiler or f"mpicc.{harness.mpi}", "-g", "-O1", *options, source, "-o", program,
                             "-lpthread"], cwd=self.directory))
        return program

    def profile(self, ranks, command, *options, status=0, **rest):
        path = self.directory / "p.json"
        self.result = self.foretrace("profile", "-n", ranks, *options, "-o", path, "--", *command,
                                     status=status, **rest)
        return json.loads(path.read_text())

    def function(self, profile, name):
        return next(f for f in profile["functions"] if f["name"] == name)

    def sites(self, profile, name):
        """calls by (function, line) of the frames of the call sites of a function."""
        return {tuple((f["function"], f["line"]) for f in s["frames"]): s["calls"]
                for s in profile["sites"] if s["function"] == name}


# One rank gathers from three; only the root has counts, though another one has its number.
BETWEEN = r"""
#include <stddef.h>
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, all[6], mine[3] = {7, 8, 9}, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  MPI_Comm part, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &between);
  if (rank == 0)
    MPI_Gatherv(NULL, 0, MPI_INT, all, counts, places, MPI_INT, MPI_ROOT, between);
  else
    MPI_Gatherv(mine, rank, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return rank == 0 && all[5] != 9;
}
"""


# Calls that are several messages or meetings, on four ranks.
SEVERAL = r"""
#include <stdio.h>
#include <string.h>
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, dims[2] = {2, 2}, periods[2] = {1, 1}, out[4] = {1, 2, 3, 4}, in[4], one = 1;
  MPI_Comm grid, part, between;
  MPI_Request request, both[2];
  MPI_Win win;
  MPI_Group world, other;
  MPI_File file;
  int memory[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  for (int i = 0; i < 3; ++i) MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send_init(out, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &both[0]);
  MPI_Recv_init(in, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  MPI_Bcast(&one, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int partner = rank ^ 1;
  MPI_Group_incl(world, 1, &partner, &other);
  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Put(out, 2, MPI_INT, partner, 0, 2, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Win_lock_all(0, win);
  MPI_Get(in, 1, MPI_INT, partner, 3, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 8, out, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, out, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""


NOBODY = """
#include <mpi.h>
int main(int argc, char **argv) {
  int in[10], rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Irecv(in, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  else MPI_Send(in, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class SeveralEvents(Profile):
    """A call that is several messages or meetings is one call, whoever counts."""

    def report(self, trace):
        return {f["name"]: f for f in json.loads(self.foretrace("report", trace, "--json").out)["functions"]}

    def test_one_call(self):
        program = self.compile(self.write("several.c", SEVERAL))
        command = [program, self.directory / "data"]
        profile = self.profile(4, command)
        expected = {f["name"]: f["calls"] for f in profile["functions"]}
        for name, calls in {"MPI_Neighbor_alltoall": 12, "MPI_Ineighbor_alltoall": 4, "MPI_Startall": 8, "MPI_Put": 4,
                            "MPI_Win_complete": 4, "MPI_Win_post": 4, "MPI_Win_unlock_all": 4, "MPI_Bcast": 4,
                            "MPI_File_write_ordered": 4}.items():
            self.assertEqual(expected[name], calls, name)
        recorded = self.record(4, command)
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 4, "--machine", harness.T3D, "--compute", "none", "-o", live, "--", *command)
        predicted = self.predict(4, command, compute="none")
        traces = {"recorded": recorded, "predicted": predicted, "live": live,
                  "replayed": self.simulate(recorded, compute="none")}
        for form in ("txt", "otf2"):
            traces[form] = self.directory / f"back-{form}.ftr"
            self.foretrace("convert", predicted, self.directory / f"x.{form}")
            self.foretrace("convert", self.directory / f"x.{form}", traces[form])
        for name, trace in traces.items():
            with self.subTest(name):
                found = self.report(trace)
                calls = {f: of["calls"] for f, of in found.items() if f in expected}
                self.assertEqual(calls, {f: expected[f] for f in calls})
                self.assertEqual(found["MPI_Put"]["sent"], 4 * 8)
                self.assertEqual(found["MPI_Get"]["received"], 4 * 4)
                self.assertEqual(found["MPI_File_write_at"]["sent"], 4 * 8)
        self.assert_same_ticks(predicted, traces["replayed"])
        self.assert_survives_text(recorded)


class Counts(Profile):
    def test_counts_that_only_the_root_has(self):
        profile = self.profile(4, [self.compile(self.write("between.c", BETWEEN))])
        # The root's mean of 24 bytes over three ranks, and what each of these gives.
        self.assertEqual(self.function(profile, "MPI_Gatherv")["collective"], 24 // 3 + 4 + 8 + 12)

    def test_counts(self):
        profile = self.profile(4, [self.compile()])
        self.assertEqual(self.result.out, "profiled_calls: done\n")
        self.assertTrue(profile["complete"])
        self.assertEqual(profile["ranks"], 4)
        self.assertEqual(profile["lost"], 0)
        calls = {f["name"]: f["calls"] for f in profile["functions"]}
        # Switched off by MPI_Pcontrol: one more send and receive, and the call that switches on again.
        expected = {"MPI_Send": 101, "MPI_Recv": 101, "MPI_Comm_rank": 4, "MPI_Comm_size": 4, "MPI_Comm_split": 4,
                    "MPI_Comm_dup": 4, "MPI_Comm_set_name": 4, "MPI_Allreduce": 28, "MPI_Barrier": 4,
                    "MPI_Comm_free": 8, "MPI_Send_init": 1, "MPI_Recv_init": 1, "MPI_Start": 6, "MPI_Wait": 6,
                    "MPI_Request_free": 2, "MPI_Pcontrol": 4}
        self.assertEqual(calls, expected)
        send = self.function(profile, "MPI_Send")
        self.assertEqual((send["sent"], send["messages"]), (1800, 101))
        self.assertEqual(self.function(profile, "MPI_Recv")["received"], 1800)
        self.assertEqual(self.function(profile, "MPI_Start")["sent"], 3 * 64)
        self.assertEqual(self.function(profile, "MPI_Allreduce")["collective"], 28 * 8)
        self.assertEqual(profile["matrix"], [{"from": 0, "to": 1, "messages": 104, "bytes": 1800 + 192}])

    def test_receives_from_nobody(self):
        profile = self.profile(2, [self.compile(self.write("nobody.c", NOBODY))])
        irecv = self.function(profile, "MPI_Irecv")
        self.assertEqual((irecv["calls"], irecv["received"]), (3, 40))

    def test_sums(self):
        """Each sum over call sites is the function's; times of ranks add up."""
        profile = self.profile(2, [self.compile()])
        for function in profile["functions"]:
            sites = [s for s in profile["sites"] if s["function"] == function["name"]]
            self.assertEqual(sum(s["calls"] for s in sites), function["calls"])
            self.assertAlmostEqual(sum(s["time"] for s in sites), function["time"], delta=1e-9)
        self.assertAlmostEqual(sum(f["time"] for f in profile["functions"]),
                               sum(r["mpi"] for r in profile["per_rank"]), delta=1e-6)
        for rank in profile["per_rank"]:
            self.assertAlmostEqual(rank["application"] + rank["mpi"], rank["time"], delta=1e-9)
            self.assertGreater(rank["application"], 0)
            self.assertGreater(rank["profiler"], 0)
        self.assertAlmostEqual(sum(profile["classes"].values()), sum(f["time"] for f in profile["functions"]),
                               delta=1e-6)

    def test_communicators(self):
        profile = self.profile(4, [self.compile()])
        comms = {c["name"]: c for c in profile["communicators"]}
        self.assertEqual(set(comms), {"MPI_COMM_WORLD", "a copy", "communicator 1 of 2", "communicator 2 of 2"})
        self.assertEqual(comms["a copy"]["ranks"], 4)
        # Barrier and MPI_Comm_set_name on each of four ranks.
        self.assertEqual(comms["a copy"]["calls"], 8)
        self.assertEqual(comms["communicator 1 of 2"]["calls"], 14)
        self.assertEqual(comms["communicator 1 of 2"]["collective"], 14 * 8)
        self.assertEqual(comms["MPI_COMM_WORLD"]["sent"], 1800 + 192)

    def test_start_off(self):
        """What is before MPI_Pcontrol(1) does not count, nor does its time."""
        profile = self.profile(2, [self.compile()], "--start", "off")
        calls = {f["name"]: f["calls"] for f in profile["functions"]}
        self.assertNotIn("MPI_Send", calls)
        self.assertNotIn("MPI_Comm_rank", calls)
        self.assertEqual((calls["MPI_Start"], calls["MPI_Comm_split"]), (6, 2))

    def test_sizes(self):
        profile = self.profile(2, [self.compile()])
        sizes = {(s["function"], s["direction"], s["from"], s["to"]): (s["calls"], s["bytes"])
                 for s in profile["sizes"] if s["communicator"] == "MPI_COMM_WORLD"}
        self.assertEqual(sizes[("MPI_Send", "sent", 8, 15)], (100, 800))
        self.assertEqual(sizes[("MPI_Send", "sent", 512, 1023)], (1, 1000))
        self.assertEqual(sizes[("MPI_Recv", "received", 512, 1023)], (1, 1000))
        self.assertEqual(sizes[("MPI_Start", "sent", 64, 127)], (3, 192))

    def test_call_sites(self):
        """One line; the compiler may have made one call of it or several, in other functions."""
        sites = self.sites(self.profile(2, [self.compile()]), "MPI_Send")
        self.assertEqual(sum(sites.values()), 101)
        for frames in sites:
            self.assertEqual(frames, (("send_or_receive", line_of("send here")),))


# In a communicator in which rank 0 of the world is the last, ranks 1 and 2 each send late.
WAITS = r"""
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, a, b;
  MPI_Comm turned;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  for (int tag = 0; tag < 8; ++tag) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
      usleep(rank == 1 ? 20000 : 40000);
      MPI_Send(&rank, 1, MPI_INT, 2, tag, turned);
      continue;
    }
    if (tag == 0) MPI_Recv(&a, 1, MPI_INT, MPI_ANY_SOURCE, tag, turned, MPI_STATUS_IGNORE); /*any*/
    if (tag == 1) MPI_Recv(&a, 1, MPI_INT, 0, tag, turned, MPI_STATUS_IGNORE); /*recv*/
    if (tag == 2) MPI_Probe(0, tag, turned, MPI_STATUS_IGNORE); /*probe*/
    if (tag >= 3) MPI_Irecv(&a, 1, MPI_INT, tag == 5 ? MPI_ANY_SOURCE : 0, tag, turned, &requests[0]);
    if (tag >= 3) MPI_Irecv(&b, 1, MPI_INT, tag == 4 || tag == 5 ? 0 : 1, tag + 100 * (tag == 4), turned, &requests[1]);
    if (tag == 3) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /*waitall*/
    if (tag == 4) MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /*wait*/
    if (tag == 4) MPI_Cancel(&requests[1]);
    if (tag == 4) MPI_Request_free(&requests[1]);
    if (tag == 5) MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /*wait any*/
    if (tag >= 5) for (int done = 0; !done;) MPI_Testall(2 - (tag == 5), requests + (tag == 5), &done, MPI_STATUSES_IGNORE);
    /* The handles may be those of the receives. */
    if (tag == 6) MPI_Isend(&a, 1, MPI_INT, MPI_PROC_NULL, 0, turned, &requests[0]);
    if (tag == 6) MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /*send*/
    if (tag == 7) MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
    if (tag == 7) MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /*barrier*/
  }
  MPI_Finalize();
  return 0;
}
"""


class WaitsFor(Profile):
    def test_senders(self):
        """In ranks of the world, whatever communicator, call and status there is."""
        source = self.write("waits.c", WAITS)
        profile = self.profile(3, [self.compile(source)])
        found = {}
        for row in profile["waits_for"]:
            self.assertEqual(row["rank"], 0)
            line = profile["sites"][row["site"]]["frames"][0]["line"]
            found[line, row["for"]] = (row["calls"], row["time"] > 0.01)
        expected = {("any", 1): 1, ("recv", 2): 1, ("probe", 2): 1, ("waitall", None): 1, ("wait", 2): 1, ("wait any", 1): 1}
        self.assertEqual(found, {(line_of(f"/*{word}*/", source), sender): (calls, True)
                                 for (word, sender), calls in expected.items()})
        text = self.foretrace("profile", "-n", 3, "--", self.directory / "waits").out
        self.assertRegex(text, rf"\n +0 +2 +\d\S* m?s +1 +\d\S* m?s +MPI_Recv +waits.c:{line_of('/*recv*/', source)} main")


class Depth(Profile):
    def test_callers(self):
        program = [self.compile(SOURCE, None, "-fno-inline", "-fno-optimize-sibling-calls")]
        here = ("send_or_receive", line_of("send here"))
        self.assertEqual(self.sites(self.profile(2, program), "MPI_Send"), {(here,): 101})
        sites = self.sites(self.profile(2, program, "--depth", 2), "MPI_Send")
        self.assertEqual(sites, {(here, ("small", line_of("/* small */"))): 100,
                                 (here, ("large", line_of("/* large */"))): 1})
        sites = self.sites(self.profile(2, program, "--depth", 3), "MPI_Send")
        self.assertEqual([[f for f, _ in frames] for frames in sorted(sites, key=sites.get)],
                         [["send_or_receive", "large", "main"], ["send_or_receive", "small", "main"]])

    def test_without_line_numbers(self):
        program = self.compile(SOURCE, None, "-g0", "-s")
        text = self.foretrace("profile", "-n", 2, "--", program).out
        self.assertRegex(text, r"MPI_Send .*profiled_calls\+0x[0-9a-f]+")


class Views(Profile):
    def test_text(self):
        program = self.compile()
        text = self.foretrace("profile", "-n", 2, "--top", 3, "--", program).out
        self.assertTrue(text.startswith("profiled_calls: done\n"), text)
        for words in ("wall-clock times of this run", "MPI share", "profiler", "\nRanks\n", "\nFunctions",
                      "\nCall sites", "\nCommunicators", "\nMessage sizes", "\nMessages between ranks: 104 with"):
            self.assertIn(words, text)
        self.assertRegex(text, r"13 more functions")

    def test_files(self):
        """All forms come from the same counters, which can be kept and read again."""
        program = self.compile()
        files = [self.directory / f"p.{ending}" for ending in ("html", "json", "txt", "fprof")]
        result = self.foretrace("profile", "-n", 2, *[w for f in files for w in ("-o", f)], "--", program)
        self.assertEqual(result.out, "profiled_calls: done\n")
        again = self.foretrace("profile", "--read", files[3], "--json").out
        self.assertEqual(again, files[1].read_text())
        self.assertEqual(self.foretrace("profile", "--read", files[3]).out, files[2].read_text())
        page = files[0].read_text()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertNotRegex(page, r"(src|href)=\"(?!#)")
        self.assertIn("profiled_calls.c:", page)
        self.assertEqual(list(self.directory.glob("*.part")), [])

    def test_json_is_all_of_standard_output(self):
        program = self.compile()
        result = self.foretrace("profile", "-n", 2, "--json", "--", program)
        self.assertEqual(json.loads(result.out)["ranks"], 2)
        self.assertIn("profiled_calls: done", result.err)

    def test_more_ranks_than_cores(self):
        program = self.compile()
        cores = len(os.sched_getaffinity(0))
        page = self.directory / "p.html"
        for ranks in (2, cores + 2):
            crowded = ranks > cores
            with self.subTest(ranks=ranks):
                profile = self.profile(ranks, [program], "-o", page)
                self.assertEqual(profile["more_ranks_than_cores"], crowded)
                for text in (self.result.err, page.read_text()):
                    self.assertEqual("more ranks than processor cores" in text, crowded, text[:2000])

    def test_in_a_launcher(self):
        program = self.compile()
        command = [*harness.launcher(2), harness.build / "bin" / "foretrace", "profile", "--", program]
        result = self.ok(harness.run(command, cwd=self.directory))
        self.assertEqual(len(re.findall("^Call sites", result.out, re.M)), 1, str(result))
        self.assertIn("profiled_calls: done", result.out)

    def test_by_environment(self):
        library = harness.build / "lib" / "foretrace" / f"libforetrace-{harness.mpi}.so"
        output = self.directory / "e.fprof"
        result = harness.plain(2, ["env", f"LD_PRELOAD={library}", "FORETRACE_MODE=profile",
                                   f"FORETRACE_OUTPUT={output}", self.compile()])
        self.assertEqual(self.ok(result).out, "profiled_calls: done\n")
        self.assertIn("MPI_Send", self.foretrace("profile", "--read", output).out)


class Endings(Profile):
    def test_killed(self):
        """What was counted is there; who still was in a call is named, with the place."""
        result = harness.foretrace("profile", "-n", 2, "-o", self.directory / "p.json", "-o",
                                   self.directory / "p.txt", "--", self.compile(), "block", limit=60)
        self.assertNotEqual(result.status, 0, str(result))
        profile = json.loads((self.directory / "p.json").read_text())
        self.assertFalse(profile["complete"])
        self.assertEqual(self.function(profile, "MPI_Send")["calls"], 101)
        line = line_of("/* block */")
        self.assertEqual(profile["per_rank"][0]["end"], f"was in MPI_Recv called by main at profiled_calls.c:{line}")
        self.assertIn(f"rank 0 was in MPI_Recv called by main at profiled_calls.c:{line}",
                      (self.directory / "p.txt").read_text())

    def test_times_of_one_that_dies_early(self):
        """They are seconds, however few calls the run made."""
        source = self.write("early.c", r"""
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; ++i) {
    usleep(200000);
    MPI_Barrier(MPI_COMM_SELF);
  }
  kill(getpid(), SIGKILL);
  return 0;
}
""")
        harness.foretrace("profile", "-n", 1, "-o", self.directory / "p.json", "--", self.compile(source), limit=60)
        time = json.loads((self.directory / "p.json").read_text())["per_rank"][0]["time"]
        self.assertTrue(0.6 <= time < 1.2, time)

    def test_abort(self):
        program = harness.test_program("misbehave")
        result = harness.foretrace("profile", "-n", 2, "-o", self.directory / "p.json", "--", program, "abort", 3)
        self.assertNotEqual(result.status, 0)
        ranks = json.loads((self.directory / "p.json").read_text())["per_rank"]
        self.assertEqual(ranks[1]["end"], "called MPI_Abort with code 3")

    def test_status_passes(self):
        program = harness.test_program("misbehave")
        self.assertEqual(harness.foretrace("profile", "-n", 2, "--", program, "status", 4).status, 4)

    def test_kept_profiles(self):
        """Those who ask for one as for a trace, or as for a program, are told how it is shown."""
        kept = self.directory / "kept.fprof"
        self.profile(1, [harness.test_program("misbehave"), "status", 0], "-o", kept)
        for command, status in (("report", 1), ("profile", 2)):
            result = self.foretrace(command, kept, status=status)
            self.assertIn(f"foretrace profile --read {kept} shows it", result.err)

    def test_wrong_use(self):
        program = harness.test_program("misbehave")
        for words, says in ((["-n", 2, "-o", "p.pdf", "--", program], ".html"),
                            (["--", program], "-n"),
                            (["-n", 2, "--depth", 9, "--", program], "--depth"),
                            (["-n", 2, "-o", "/none/p.html", "--", program], "/none"),
                            (["--read", "x.fprof", "-n", 2, "--", program], "--read")):
            result = self.ok(harness.foretrace("profile", *words, cwd=self.directory), 2)
            self.assertEqual(len(result.err.splitlines()), 1, str(result))
            self.assertIn(says, result.err)
        self.assertEqual(list(self.directory.iterdir()), [])
        for path in (self.write("text.fprof", "hello"), self.directory / "none.fprof"):
            result = self.foretrace("profile", "--read", path, status=1)
            self.assertIn(str(path), result.err)

    def test_threads(self):
        """Calls of all threads are counted, none twice."""
        profile = self.profile(2, [self.compile(), "threads"])
        if not profile["several_threads"]:
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        self.assertEqual(self.function(profile, "MPI_Initialized")["calls"], 2 * 4 * 5000)
        self.assertEqual(self.function(profile, "MPI_Send")["calls"], 2 * 4 * 5000)
        self.assertEqual(self.function(profile, "MPI_Send")["messages"], 0)


@unittest.skipUnless(shutil.which("gfortran") and shutil.which(f"mpifort.{harness.mpi}"), "no gfortran")
class Fortran(Profile):
    def test_call_sites(self):
        """The place is the Fortran program's, not the MPI library's."""
        for name in ("ten_calls.f", "ten_calls.f90", "ten_calls.f08.f90"):
            with self.subTest(name=name):
                source = PROGRAMS / name
                profile = self.profile(2, [self.compile(source, f"mpifort.{harness.mpi}")])
                calls = {f["name"]: f["calls"] for f in profile["functions"]}
                self.assertEqual(calls["MPI_Send"], 2)
                sites = self.sites(profile, "MPI_Bcast")
                text = source.read_text().splitlines()
                self.assertEqual(len(sites), 1, sites)
                (function, line), = next(iter(sites))
                self.assertEqual(function, "ten_calls")
                self.assertIn("mpi_bcast", text[line - 1].lower())


if __name__ == "__main__":
    harness.main()
