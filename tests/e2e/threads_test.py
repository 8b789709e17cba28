"""Programs whose threads call MPI at once (programs/threads.c): the results are those of a plain run, no call
is lost, and the trace can be replayed."""

import collections
import json

import harness

THREADS = 4
# Calls of one thread in one round.
CALLS = {"MPI_Send": 1, "MPI_Recv": 2, "MPI_Irecv": 1, "MPI_Isend": 2, "MPI_Waitall": 1, "MPI_Wait": 1,
         "MPI_Sendrecv": 1, "MPI_Allreduce": 1, "MPI_Bcast": 1}
# What stands in the trace for a blocking call that another thread overtook, beside its end.
POSTED = {"send": "isend", "recv": "irecv", "sendrecv": "irecv", "collective": "icollective"}
KINDS = {"MPI_Send": "send", "MPI_Recv": "recv", "MPI_Sendrecv": "sendrecv", "MPI_Allreduce": "collective",
         "MPI_Bcast": "collective", "MPI_Irecv": "irecv", "MPI_Isend": "isend", "MPI_Waitall": "complete",
         "MPI_Wait": "complete"}


class Threads(harness.TestCase):
    ranks = 2

    def program(self, rounds, *size):
        command = [harness.test_program("threads"), rounds, *size]
        plain = self.ok(harness.plain(self.ranks, command, limit=200))
        if plain.out == "no MPI_THREAD_MULTIPLE\n":
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        self.assertEqual(plain.out, f"{self.ranks} ranks, {rounds} rounds, 0 wrong\n")
        self.plain = plain.out
        return command

    def check_counts(self, trace, rounds):
        """Each call once: as what it is, or as what was posted."""
        report = json.loads(self.foretrace("report", trace, "--json").out)
        self.assertTrue(report["complete"])
        self.assertEqual(report["damage"], [])
        overtaken = 0
        for events in self.events(trace):
            begun = collections.Counter()
            for kind, name, _ in events:
                whole = KINDS.get(name)
                begun[name] += kind in (whole, POSTED.get(whole))
                overtaken += kind == POSTED.get(whole)
            for name, calls in CALLS.items():
                token = THREADS // self.ranks if name in ("MPI_Send", "MPI_Recv") else 0
                self.assertEqual(begun[name], 2 * rounds * (THREADS * calls + token), name)
            self.assertEqual(events[-1][1], "MPI_Finalize")
            leaves = [fields["leave"] for _, _, fields in events if "leave" in fields]
            self.assertEqual(leaves, sorted(leaves))
        return overtaken

    def test_record(self):
        for rounds, size in ((4, ()), (2, ("big",))):
            command = self.program(rounds, *size)
            for clock in ("cpu", "wall"):
                with self.subTest(size=size, clock=clock):
                    trace = self.directory / "record.ftr"
                    result = self.foretrace("record", "-n", self.ranks, "--clock", clock, "-o", trace, "--",
                                            *command, limit=200)
                    self.assertEqual(result.out, self.plain)
                    self.assertGreater(self.check_counts(trace, rounds), 0)
                    if clock == "cpu":
                        self.simulate(trace, compute="recorded", limit=120)

    def test_predict(self):
        strict = self.write("strict.toml", harness.with_threshold(harness.T3D.read_text(), 64))
        for rounds, size in ((3, ()), (2, ("big",))):
            command = self.program(rounds, *size)
            for machine in (harness.T3D, strict):
                with self.subTest(size=size, machine=machine.name):
                    trace = self.predict(self.ranks, command, machine, limit=200)
                    self.assertEqual(self.result.out, self.plain)
                    self.check_counts(trace, rounds)

    def test_profile(self):
        rounds = 4
        command = self.program(rounds)
        path = self.directory / "p.json"
        result = self.foretrace("profile", "-n", self.ranks, "-o", path, "--", *command, limit=200)
        self.assertEqual(result.out, self.plain)
        calls = {f["name"]: f["calls"] for f in json.loads(path.read_text())["functions"]}
        for name, number in CALLS.items():
            token = 1 if name in ("MPI_Send", "MPI_Recv") else 0
            self.assertEqual(calls[name], 2 * THREADS * rounds * (self.ranks * number + token), name)

    def test_one_thread_alone(self):
        """Who asks for MPI_THREAD_MULTIPLE and makes all calls by one thread has the same prediction, also
        where there is another thread."""
        source = self.write("level.c", LEVEL)
        predicted, simulated = [], []
        for level, other in (("SINGLE", 0), ("MULTIPLE", 0), ("MULTIPLE", 1)):
            program = self.directory / f"{level.lower()}{other}"
            self.ok(harness.run([f"mpicc.{harness.mpi}", f"-DLEVEL=MPI_THREAD_{level}", f"-DOTHER={other}", source,
                                 "-o", program, "-lpthread"]))
            predicted.append(self.specified_ticks(self.predict(2, [program], name=f"{program.name}.ftr")))
            record = self.record(2, [program], name="record.ftr")
            trace = self.directory / "simulated.ftr"
            self.foretrace("simulate", record, "--machine", harness.T3D, "--compute", "none", "-o", trace)
            simulated.append(self.specified_ticks(trace))
        self.assertEqual(predicted[0], predicted[1])
        self.assertEqual(predicted[0], predicted[2])
        self.assertEqual(simulated[0], simulated[1])
        self.assertEqual(simulated[0], simulated[2])

    def test_what_a_thread_computes_before_its_first_call(self):
        source = self.write("birth.c", BIRTH)
        program = self.directory / "birth"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", program, "-lpthread"]))
        if self.ok(harness.plain(1, [program])).out:
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        trace = self.directory / "birth.ftr"
        self.foretrace("record", "-n", 1, "-o", trace, "--", program)
        (_, (_, name, send), _), = self.events(trace)
        self.assertEqual(name, "MPI_Send")
        self.assertGreaterEqual(send["compute"], 40_000_000_000)  # ps


# A thread that calls MPI once it has used 40 ms.
BIRTH = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static void *work(void *nothing) {
  struct timespec used;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  while (used.tv_sec == 0 && used.tv_nsec < 40000000);
  MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  return nothing;
}
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    puts("no MPI_THREAD_MULTIPLE");
    return MPI_Finalize();
  }
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
"""

# Every kind of event.
LEVEL = r"""
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rest(void *nothing) { return pause(), nothing; }
int main(int argc, char** argv) {
  int provided, rank, in = 0, out = 1;
  pthread_t thread;
  MPI_Request requests[2];
  MPI_Init_thread(&argc, &argv, LEVEL, &provided);
  if (OTHER) pthread_create(&thread, NULL, rest, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    if (rank == 0) {
      MPI_Send(&out, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&in, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
    for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 8, &in, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&in, 1, MPI_INT, i % 2, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


if __name__ == "__main__":
    harness.main()
