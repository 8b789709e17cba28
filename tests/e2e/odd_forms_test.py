"""The less common forms of MPI (programs/odd_forms.cpp checks its data itself): the same output
with and without us, and the same times from predict as from record and simulate, on a machine
without rendezvous and on one with; some also as in a live run."""

import re
import unittest

import harness

CASES = re.findall(r'^    \{"(\w+)",',
                   (harness.SOURCE / "tests/e2e/programs/odd_forms.cpp").read_text(), re.M)

LIVE = ("posted_collectives", "posted_together", "persistent_collectives", "duplicate_posted",
        "send_and_receive_posted", "neighbours", "window", "file", "between", "nothing", "creations")


# Three rounds of two messages of one tag, in four parts of 5,000 bytes; "whole": as posted messages.
PARTITIONED = r"""
#include <mpi.h>
#include <string.h>
#if MPI_VERSION >= 4
static char out[2][20000], in[2][20000];
int main(int argc, char **argv) {
  int rank, wrong = 0;
  const int whole = argc > 1 && !strcmp(argv[1], "whole"), looks = argc > 1 && !strcmp(argv[1], "looks");
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2 && !whole; ++i) {
    if (rank == 0)
      MPI_Psend_init(out[i], 4, 5000, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    else
      MPI_Precv_init(in[i], 4, 5000, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  }
  for (char round = 1; round <= 3; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (whole && rank == 0)
      for (int i = 0; i < 2; ++i) MPI_Isend(out[i], 20000, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]);
    if (whole && rank == 1)
      for (int i = 0; i < 2; ++i) MPI_Irecv(in[i], 20000, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]);
    if (!whole) MPI_Startall(2, requests);
    if (!whole && rank == 0) {
      memset(out[0], round, sizeof out[0]);
      memset(out[1], -round, sizeof out[1]);
      for (int i = 0; i < 2; ++i) {
        int parts[] = {2};
        MPI_Pready(3, requests[i]);
        MPI_Pready_range(0, 1, requests[i]);
        MPI_Pready_list(1, parts, requests[i]);
      }
    }
    if (looks && rank == 1)
      for (int i = 0; i < 2; ++i)
        for (int there = 0; !there;) MPI_Parrived(requests[i], 3, &there);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!whole && rank == 1) wrong |= in[0][19999] != round || in[1][0] != -round;
  }
  for (int i = 0; i < 2 && !whole; ++i) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  return wrong;
}
#else
int main(void) { return 77; }
#endif
"""


# A group that comes in turn makes a communicator; then one of nobody is made.
BY_MEMBERS = r"""
#include <mpi.h>
#include <foretrace.h>
int main(int argc, char **argv) {
  int rank, wrong = 0;
  MPI_Comm made;
  MPI_Group all, some;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, (int[]){1}, &some);
  FORETRACE_COMPUTE(100 * rank);
  if (rank != 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 0, &made);
  wrong = made != MPI_COMM_NULL;
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  MPI_Finalize();
  return wrong;
}
"""


# Threads make the parts ready of what the first one waits for.
PARTITIONED_BY_THREADS = r"""
#include <mpi.h>
#include <pthread.h>
static MPI_Request request;
static char data[4][5000];
static void *make_ready(void *part) {
  for (int i = 0; i < 5000; ++i) ((char *)part)[i] = 1;
  MPI_Pready((int)(((char *)part - data[0]) / 5000), request);
  return NULL;
}
int main(int argc, char **argv) {
  int level, rank;
  pthread_t threads[4];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    MPI_Psend_init(data, 4, 5000, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(data, 4, 5000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 5; ++round) {
    MPI_Start(&request);
    for (int i = 0; i < 4 && rank == 0; ++i) pthread_create(&threads[i], NULL, make_ready, data[i]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4 && rank == 0; ++i) pthread_join(threads[i], NULL);
  }
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
"""


class Partitioned(harness.TestCase):
    def setUp(self):
        super().setUp()
        source, self.program = self.write("parts.c", PARTITIONED), self.directory / "parts"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", source, "-o", self.program]))
        if harness.run([self.program]).status == 77:
            self.skipTest("this MPI has none")

    def three_ways(self, *arguments, model=harness.T3D):
        command = [self.program, *arguments]
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 2, "--machine", model, "--compute", "none", "-o", live, "--", *command)
        recorded = self.record(2, command)
        return [self.predict(2, command, model, compute="none"), self.simulate(recorded, model, compute="none"), live]

    def test_travel_when_all_parts_are_ready(self):
        """They take the time of posted messages: what makes parts ready takes none."""
        for threshold in (None, 4096):
            model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), threshold))
            with self.subTest(threshold=threshold):
                predicted, simulated, live = self.three_ways(model=model)
                self.assert_same_ticks(predicted, simulated)
                self.assert_same_ticks(predicted, live)
                ends = [events[-1][2]["enter"] for events in self.events(predicted)]
                self.assertNotIn("no virtual time", self.result.err)
                whole = self.predict(2, [self.program, "whole"], model, compute="none", name="whole.ftr")
                self.assertEqual(ends, [events[-1][2]["enter"] for events in self.events(whole)])

    def test_parts_that_threads_make_ready(self):
        """The message travels when the last one has; whoever waits for it meanwhile goes on."""
        source = self.write("threads.c", PARTITIONED_BY_THREADS)
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", source, "-o", self.program, "-lpthread"]))
        for trace in self.three_ways():
            with self.subTest(trace=trace.name):
                sent = [fields["send"] for kind, _, fields in self.events(trace)[0] if kind == "isend"]
                self.assertEqual(sent, 5 * ["1/0/20000"])

    def test_who_looks_for_parts_waits_for_the_message(self):
        """From the look that finds the second one: no sooner than a wait for both would end."""
        least = self.events(self.predict(2, [self.program], compute="none"))[1][-1][2]["enter"]
        for trace in self.three_ways("looks"):
            with self.subTest(trace=trace.name):
                end = self.events(trace)[1][-1][2]["enter"]
                self.assertGreaterEqual(end, least)
                self.assertLess(end, 1.5 * least)


class MadeByMembers(harness.TestCase):
    def test_each_begins_when_it_comes(self):
        """A replay and a live run agree also where the collective is messages; predict, of nobody, too."""
        source = self.write("made.c", BY_MEMBERS)
        program = self.directory / "made"
        self.ok(harness.run([f"mpicc.{harness.mpi}", f"-I{harness.SOURCE / 'include'}", source, "-o", program, "-ldl"]))
        trace = self.record(6, [program])
        predicted = self.predict(6, [program], harness.T3D)
        for network in ([], ["--network", "loggps"], ["--network", "flow", "--topology", "ring:6"]):
            with self.subTest(network=network):
                on = ["--machine", harness.T3D, "--compute", "annotated", *network]
                simulated, live = self.directory / "simulated.ftr", self.directory / "live.ftr"
                self.foretrace("simulate", trace, *on, "-o", simulated)
                self.foretrace("simulate", "-n", 6, *on, "-o", live, "--", program)
                self.assert_same_ticks(simulated, live)
                if not network:
                    self.assert_same_ticks(predicted, simulated)


class OddForms(harness.TestCase):
    plain = {}

    def said_plainly(self, case, ranks):
        """What the program says without us; one run for all cases of so many ranks."""
        if ranks not in self.plain:
            cases = [each for each in CASES if each == "many_comms"] if ranks == 2 else \
                [each for each in CASES if each != "many_comms"]
            result = self.ok(harness.plain(ranks, [harness.test_program("odd_forms"), *cases], limit=100, cwd=self.directory))
            self.plain[ranks] = dict(zip(cases, result.out.splitlines(keepends=True), strict=True))
        return self.plain[ranks][case]

    def check(self, case):
        command = [harness.test_program("odd_forms"), case]
        # Making communicators is slow where ranks spin for each other on fewer cores.
        ranks = 2 if case == "many_comms" else 3
        said = f"odd_forms: {case}: all checks passed\n"
        self.assertEqual(self.said_plainly(case, ranks), said)
        recorded = self.record(ranks, command, limit=100, cwd=self.directory)
        self.assertEqual(self.result.out, said)
        self.assert_survives_text(recorded)
        for threshold in (None, 4096):
            with self.subTest(threshold=threshold):
                model = self.write("m.toml", harness.with_threshold(
                    harness.T3D.read_text(), threshold))
                predicted = self.predict(ranks, command, model, limit=100, cwd=self.directory)
                self.assertEqual(self.result.out, said)
                self.assert_same_ticks(predicted, self.simulate(recorded, model))
                if case in LIVE:
                    self.assert_same_ticks(predicted, self.live(ranks, command, model))

    def live(self, ranks, command, model):
        trace = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", ranks, "--machine", model, "--compute", "annotated", "-o",
                       trace, "--", *command, limit=100)
        return trace


    def test_what_moves(self):
        """One-sided and file calls have their bytes and target, and take the time of their own
        equation; by record and simulate as by predict."""
        model = self.write("m.toml", harness.T3D.read_text() + """
[[function]]
name = "put"
[[function.regime]]
bytes = [0]
c = 7
k = 2
g = "d"
[[function]]
name = "file_write_at"
[[function.regime]]
bytes = [0]
c = 11
""")
        for case, name, moves in (("window", "MPI_Put", ["1/200", "2/200", "0/200"]),
                                  ("file", "MPI_File_write_at", ["-1/100"] * 3)):
            command = [harness.test_program("odd_forms"), case]
            predicted = self.predict(3, command, model, cwd=self.directory)
            self.assertNotIn("no virtual time yet: ", self.result.err)
            calls = [fields for events in self.events(predicted) for _, call, fields in events
                     if call == name]
            self.assertEqual([call["moves"] for call in calls], moves)
            ends = [call["leave"] for call in calls]
            if case == "window":  # the fence after it, the first that has to wait, waits for the put
                ends = [next(fields["leave"] for kind, call, fields in events
                             if (kind, call) == ("call", "MPI_Win_fence"))
                        for events in self.events(predicted)]
            # 200 bytes are 25 elements of the model.
            took = 57_000_000 if case == "window" else 11_000_000
            self.assertEqual([end - call["enter"] for end, call in zip(ends, calls, strict=True)],
                             [took] * 3)
            recorded = self.record(3, command, cwd=self.directory)
            self.assert_same_ticks(predicted, self.simulate(recorded, model))

    def test_what_windows_and_files_meet_in(self):
        """The collective calls of windows and files are barriers of their members, which take
        the time of their own equation, or of the one that is measured in their place; so do
        the calls that post a collective or make a communicator. The same by all three ways."""
        names = {"win_fence": (3, 0), "file_open": (5, 0), "file_close": (7, 0),
                 "file_read_at_all": (11, 2), "ibarrier1": (13, 0), "comm_create_group": (17, 0),
                 "intercomm_create": (19, 0)}
        model = self.write("m.toml", harness.T3D.read_text() + "".join(f"""
[[function]]
name = "{name}"
[[function.regime]]
bytes = [0]
c = {c}
k = {k}
g = "d"
""" for name, (c, k) in names.items()))
        # 100 bytes are 12.5 elements of the model.
        expected = {"window": {"MPI_Win_fence": 3}, "file": {"MPI_File_open": 5, "MPI_File_close": 7,
                                                             "MPI_File_read_at_all": 36},
                    "posted_collectives": {"MPI_Ibarrier": 13},
                    "creations": {"MPI_Comm_create_group": 17, "MPI_Intercomm_create": 19}}
        for case, calls in expected.items():
            command = [harness.test_program("odd_forms"), case]
            predicted = self.predict(3, command, model, cwd=self.directory)
            for events in self.events(predicted):
                for kind, call, fields in events:
                    if call in calls and kind != "call":
                        with self.subTest(call=call):
                            self.assertEqual(fields["leave"] - fields["enter"] - fields.get("wait", 0),
                                             calls[call] * 1_000_000)
            recorded = self.record(3, command, cwd=self.directory)
            self.assert_same_ticks(predicted, self.simulate(recorded, model))
            if case in LIVE:
                self.assert_same_ticks(predicted, self.live(3, command, model))

    def test_what_moves_nothing_takes_no_time(self):
        """A rank beside the root of a collective between two groups, and accesses to nobody and of
        no bytes; though the model knows what their functions take. The same by all three ways."""
        functions = ("put", "get", "accumulate", "rput")
        model = self.write("m.toml", harness.T3D.read_text() + "".join(
            f'\n[[function]]\nname = "{name}"\n[[function.regime]]\nc = 1000\n' for name in functions))
        command = [harness.test_program("odd_forms"), "nothing"]
        predicted = self.predict(3, command, model)
        for rank, events in enumerate(self.events(predicted)):
            free = [f"MPI_{name.capitalize()}" for name in functions]
            if rank == 1:
                free += ["MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter"]
            taken = {(name, fields["leave"] - fields["enter"]) for _, name, fields in events if name in free}
            self.assertEqual(taken, {(name, 0) for name in free}, rank)
        self.assert_same_ticks(predicted, self.simulate(self.record(3, command), model))
        self.assert_same_ticks(predicted, self.live(3, command, model))


for each in CASES:
    setattr(OddForms, f"test_{each}", lambda self, case=each: self.check(case))

if __name__ == "__main__":
    harness.main()
