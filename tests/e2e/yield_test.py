"""Ranks that wait give their cores away where there are more ranks than cores."""

import os
import resource

import harness


class Yield(harness.TestCase):
    """Rank 0 waits 0.3 s for rank 1: it goes to sleep some thousand times, or spins."""

    def wait(self, subcommand="record", option=None, cores=None, env=None, ranks=2):
        tool = [harness.build / "bin" / "foretrace", subcommand, "-n", ranks, "-o",
                self.directory / "trace.ftr"]
        if subcommand == "predict":
            tool += ["--machine", harness.T3D, "--compute", "none"]
        if option:
            tool += ["--yield", option]
        bound = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
        # Open MPI would bind the ranks to cores of its own choice.
        env = {"OMPI_MCA_hwloc_base_binding_policy": "none", **(env or {})}
        result = self.ok(harness.run([*bound, *tool, "--", harness.test_program("misbehave"), "wait_long"], env=env))
        return result.out.strip()

    def cores(self, count):
        mine = sorted(os.sched_getaffinity(0))
        if len(mine) < count:
            self.skipTest(f"needs {count} cores")
        return mine[:count]

    def test_where_ranks_share_a_core(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, cores=self.cores(1)), self.by_itself())

    @staticmethod
    def by_itself():
        """Open MPI only yields, unless it is told otherwise."""
        return "slept often" if harness.mpi == "mpich" else "slept seldom"

    def test_not_where_each_has_its_own(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, cores=self.cores(2)), "slept seldom")

    def test_more_ranks_than_cores(self):
        self.assertEqual(self.wait(cores=self.cores(2), ranks=3), self.by_itself())

    def test_as_told(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, "always", self.cores(2)), "slept often")
            self.assertEqual(self.wait(subcommand, "never", self.cores(1)), "slept seldom")

    def test_by_the_environment(self):
        self.assertEqual(self.wait(cores=self.cores(1), env={"FORETRACE_YIELD": "never"}), "slept seldom")
        # What the command line says counts more.
        self.assertEqual(self.wait(option="always", cores=self.cores(1), env={"FORETRACE_YIELD": "never"}),
                         "slept often")

    def test_wrong_use(self):
        result = self.foretrace("record", "-n", 2, "--yield", "sometimes", "--",
                                harness.test_program("misbehave"), status=2)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("--yield", result.err)
        result = self.ok(harness.foretrace("record", "-n", 2, "-o", self.directory / "t.ftr", "--",
                                           harness.test_program("misbehave"),
                                           env={"FORETRACE_YIELD": "sometimes"}), 1)
        self.assertIn("FORETRACE_YIELD='sometimes': expected auto, always or never", result.err)
        self.assertIn("no trace was written", result.err)

    def test_changes_no_prediction(self):
        program = [harness.paper_program("life"), "--rows", 40, "--cols", 40, "--iters", 3]
        for option in ("always", "never"):
            self.predict(5, program, name=f"{option}.ftr", options=("--yield", option))
        self.assert_same_ticks(self.directory / "always.ftr", self.directory / "never.ftr")

    def test_sleep_is_no_computation(self):
        """Three events in 0.3 s of waiting: the naps are in none of them."""
        trace = self.directory / "trace.ftr"
        self.assertEqual(self.wait(option="always"), "slept often")
        waiting = [f for kind, name, f in self.events(trace)[0] if name == "MPI_Recv"]
        self.assertEqual(len(waiting), 1)
        self.assertLess(sum(f["compute"] for kind, name, f in self.events(trace)[0]), 0.1e12)


# Rank 0 computes for 0.3 s of CPU time while the others wait, and prints how often they woke, in a second of real time.
COMPUTES_BESIDE = r"""
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
// Not by the function, which shows predicted time.
static double real_time() {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}
int main(int argc, char **argv) {
  int rank;
  struct rusage before, after;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  getrusage(RUSAGE_SELF, &before);
  const double begin = real_time();
  if (rank == 0) {
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 300000000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = real_time();
  getrusage(RUSAGE_SELF, &after);
  long woke = rank == 0 ? 0 : after.ru_nvcsw - before.ru_nvcsw, all;
  MPI_Reduce(&woke, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.0f\n", all / (end - begin));
  MPI_Finalize();
  return 0;
}
"""


class ComputeBesideWaits(harness.TestCase):
    def test_is_seldom_interrupted(self):
        """Each time costs who computes some 15 us, which counts as its computation: 4000 times are 6 % of it."""
        program = self.compile(COMPUTES_BESIDE, "computes_beside")
        for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D))):
            with self.subTest(verb=verb):
                result = self.ok(harness.run(["taskset", "-c", min(os.sched_getaffinity(0)), harness.tool(), verb, "-n", 4, *machine, "-o",
                                              self.directory / f"{verb}.ftr", "--", program],
                                             env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
                self.assertLess(int(result.out), 4000)


# 10 us of work, then a look, until a posted collective is over ("collective"), or a message is there ("messages"). The
# last rank comes to it 100 us later for each rank before it. "replies": rank 0 alone does; the message has gone round by
# all others, who wait for it in MPI.
WORKS_UNTIL = r"""
#include <foretrace.h>
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, mine = 1, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 5; ++i) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const int replies = argv[1][0] == 'r';
    if (replies && rank != 0) {
      MPI_Recv(&all, 1, MPI_INT, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      FORETRACE_COMPUTE(7);
      MPI_Send(&all, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
      continue;
    }
    FORETRACE_COMPUTE(100 * rank);
    if (replies) {
      MPI_Irecv(&all, 1, MPI_INT, size - 1, i, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(&mine, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    } else if (argv[1][0] == 'c') {
      MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    } else {
      MPI_Irecv(&all, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[1]);
    }
    for (int done = 0; !done;) {
      FORETRACE_COMPUTE(10);
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
"""
WORKED = ('[machine]\nname = "m"\ntime_unit = "us"\n[compute]\nstep = "1us"\n' + "".join(
    f'[[function]]\nname = "{name}"\n[[function.regime]]\nc = {takes}\n'
    for name, takes in (("isend1", 1), ("isend2", 2), ("irecv1", 3), ("irecv2", 4), ("send", 2), ("recv", 3), ("allreduce", 5), ("test", 0.5))))


class LooksBesideWork(harness.TestCase):
    def test_take_little(self):
        """A rank that works and looks waits for those behind, here: not for 25 times what the program takes."""
        program = self.compile((harness.SOURCE / "bench/capture/polling.c").read_text(), "polling")

        def seconds(*tool):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.foretrace(*tool, "-n", 4, "-o", self.directory / "polling.ftr", "--", program, "probes", 20000)
            (self.directory / "polling.ftr").unlink()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        took = seconds("record"), seconds("predict", "--machine", harness.T3D)
        self.assertLess(took[1], 5 * took[0] + 1)


class WorkUntilItIsThere(harness.TestCase):
    def test_is_as_much_as_on_the_target(self):
        """With more ranks than cores nobody works on while others have no core: predict ends as a live run does."""
        program = self.compile(WORKS_UNTIL, "works_until")
        machine = self.write("machine.toml", WORKED)
        for what in ("collective", "messages", "replies"):
            live = self.directory / "live.ftr"
            self.foretrace("simulate", "-n", 6, "--machine", machine, "--compute", "annotated", "-o", live, "--mpi",
                           harness.mpi, "--", program, what)
            ends = [events[-1][2]["enter"] for events in self.events(live)]
            found = []
            # A machine that leaves a rank without a core for long makes a run another one.
            while len(found) < 5 and ends not in found:
                predicted = self.predict(6, [program, what], machine)
                found.append([events[-1][2]["enter"] for events in self.events(predicted)])
            with self.subTest(what=what):
                self.assertIn(ends, found)


if __name__ == "__main__":
    harness.main()
