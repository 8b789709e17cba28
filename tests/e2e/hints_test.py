"""What predict and record say of programs that do not fit: collectives that do not match, another MPI than the one
that was named, calls beyond what the machine's model was measured for."""

import os
import pathlib
import re
import subprocess
import unittest

import harness

MISMATCH = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, in = 0, out;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == atoi(argv[1])) MPI_Barrier(MPI_COMM_WORLD);
  else MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# Each rank names itself as the root: nobody waits for another.
ROOTS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&data, 1, MPI_INT, argc > 1 ? 0 : rank, MPI_COMM_WORLD);
  if (argc > 1) MPI_Reduce(rank == 1 ? MPI_IN_PLACE : &rank, &data, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# The same of what is posted.
POSTED = r"""
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, size, data = 0, all[8] = {0};
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "roots") == 0) MPI_Ibcast(&data, 1, MPI_INT, rank, world, &request);
  else if (strcmp(argv[1], "right") == 0) MPI_Ireduce(&rank, all, 1, MPI_INT, MPI_SUM, 1, world, &request);
  else if (strcmp(argv[1], "rooted") == 0 && rank == 0) MPI_Iscatter(all, 1, MPI_INT, &data, 1, MPI_INT, 0, world, &request);
  else if (strcmp(argv[1], "rooted") == 0) MPI_Ibcast(&data, 1, MPI_INT, 0, world, &request);
  else if (rank == 0) MPI_Iallgather(&data, 1, MPI_INT, all, 1, MPI_INT, world, &request);
  else MPI_Ialltoall(all + 4, 1, MPI_INT, all, 1, MPI_INT, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""

# A synchronous send of 4 KiB, then a few bytes both ways.
SYNCHRONOUS = r"""
#include <mpi.h>
static char data[4096], other[8];
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Ssend(data, 4096, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  else MPI_Recv(data, 4096, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, 8, MPI_CHAR, 1 - rank, 1, other, 8, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
"""

SENDS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank;
  static char data[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(data, 4096, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(data, 4096, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# A thread computes 20 ms, five times; its maker waits for the others meanwhile, or for it first.
STARTS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Comm other;
  int sum = 1, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
  MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, other);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}
"""

NO_TIMES = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank;
  static char data[100];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 100, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

# A thread announces what it computes.
HELPS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <pthread.h>
static void *help(void *nothing) {
  FORETRACE_COMPUTE(3000);
  return nothing;
}
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, argv[1][0] == 'm' ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  pthread_create(&thread, NULL, help, NULL);
  pthread_join(thread, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

ANNOUNCES = r"""
#include <mpi.h>
#include "foretrace.h"
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  FORETRACE_COMPUTE(10);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

MODEL = """\
[machine]
name = "small"
time_unit = "us"
"""
FUNCTION = """\
[[function]]
name = "{}"
class = "{}"
measured_ranks = [2]
measured_bytes = [0, 1024]
[[function.regime]]
bytes = [0]
c = 1.0
"""


# Rank 1 works until the message is there that rank 0 sends when it has looked 300 times; first so many steps.
WORKS = r"""
#include <mpi.h>
#include <stdlib.h>
#include "foretrace.h"
int main(int argc, char **argv) {
  int rank, value = 0, there = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FORETRACE_COMPUTE(atoi(argv[1]));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; !there; ++i) {
      FORETRACE_COMPUTE(1);
      MPI_Test(&request, &there, MPI_STATUS_IGNORE);
      if (i == 299) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
"""

# Rank 1 receives one of two messages; the other one is posted for and forgotten, or nobody's.
FORGETS = """#include <mpi.h>
#include <string.h>
int main(int argc, char** argv) {
  int rank, values[2] = {0, 0};
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 0 && i < 2; ++i) MPI_Send(values, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(argv[1], "all")) MPI_Recv(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(argv[1], "posted")) MPI_Irecv(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
  }
  MPI_Finalize();
  return 0;
}
"""
EARLY = r"""
#include <mpi.h>
__attribute__((constructor)) static void begin(void) { MPI_Init(0, 0); }
int rank_of_early(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
"""
LATE = r"""
#include <mpi.h>
#include <stdio.h>
int rank_of_early(void);
int main(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of_early() == 0) puts("done");
  MPI_Finalize();
  return 0;
}
"""

class Hints(harness.TestCase):
    def compile(self, text, mpi=None):
        program = self.directory / "program"
        self.ok(harness.run([f"mpicc.{mpi or harness.mpi}", "-g", f"-I{harness.SOURCE / 'include'}", self.write("program.c", text),
                             "-o", program]))
        return program

    def test_threads_that_announce_and_may_not_call(self):
        """They have no clock of their own; with MPI_THREAD_MULTIPLE they have."""
        program = self.compile(HELPS)
        told = "rank 0: threads that may not call MPI announced what they compute"
        ways = (["record"], ["predict", "--machine", harness.T3D, "--compute", "annotated"],
                ["simulate", "--machine", harness.T3D, "--compute", "annotated"])
        for way in ways:
            for level, times in (("funneled", 1), ("multiple", 0)):
                with self.subTest(way=way, level=level):
                    out = self.foretrace(way[0], "-n", 2, *way[1:], "-o", self.directory / f"{way[0]}-{level}.ftr", "--",
                                         program, level)
                    self.assertEqual(out.err.count(told), times, out.err)
        measured = self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", "measured", "--", program,
                                  "funneled")
        self.assertNotIn(told, measured.err)

    def test_collectives_that_do_not_match(self):
        """The run ended never before."""
        program = self.compile(MISMATCH)
        for ranks, odd in ((2, 0), (5, 3)):
            trace = self.directory / "p.ftr"
            result = harness.foretrace("predict", "-n", ranks, "--machine", harness.T3D, "--compute", "none", "-o", trace,
                                       "--", program, odd, limit=100)
            self.assertNotEqual(result.status, 0)
            self.assertRegex(result.err, r"foretrace: rank \d calls MPI_(Barrier|Allreduce), but rank \d calls "
                                         r"MPI_(Barrier|Allreduce) in the same place")
            self.assertIn(f"rank {odd} calls MPI_Barrier", result.err)
            self.assertIn(f"rank {odd} was last seen in MPI_Barrier (event 3) at program.c:8", result.err)
            self.assertRegex(result.err, r"predicted time \S+ s on \d ranks of Cray T3D, as far as the run came, ")

    def test_roots_that_do_not_match(self):
        """Seen in the call where sends may wait, else at the end."""
        program = self.compile(ROOTS)
        says = "members of a communicator call collectives that do not match: their roots differ"
        for ranks in (2, 5):
            self.predict(ranks, [program, "right"], compute="none")
            self.assertNotIn("do not match", self.result.err)
            self.assertEqual(self.refused(ranks, [program]).err.count(says), 1)
            model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), 2000))
            result = harness.foretrace("predict", "-n", ranks, "--machine", model, "--compute", "none",
                                       "-o", self.directory / "p.ftr", "--", program)
            self.assertNotEqual(result.status, 0, str(result))
            self.assertRegex(result.err, r"foretrace: rank \d calls MPI_Bcast \(root \d\), but rank \d calls MPI_Bcast "
                                         r"\(root \d\) in the same place among the collectives of a communicator")
            self.predict(ranks, [program, "right"], compute="none", machine=model)

    def test_posted_collectives_that_do_not_match(self):
        program = self.compile(POSTED)
        for ranks in (2, 5):
            self.predict(ranks, [program, "right"], compute="none")
            result = self.refused(ranks, [program, "roots"])
            self.assertRegex(result.err, r"do not match: their roots differ|rank \d calls MPI_Ibcast \(root \d\), but rank \d calls")
        # Others come through on Open MPI alone.
        unlike = [("rooted", r"MPI_Iscatter \(root 0\)", r"MPI_Ibcast \(root 0\)"), ("all", "MPI_Iallgather", "MPI_Ialltoall")]
        for which, here, there in unlike if harness.mpi == "openmpi" else unlike[1:]:
            self.assertRegex(self.refused(2, [program, which]).err,
                             f"foretrace: rank 0 calls {here}, but rank 1 calls {there} in the same place among the collectives")

    def refused(self, ranks, command):
        result = harness.foretrace("predict", "-n", ranks, "--machine", harness.T3D, "--compute", "none",
                                   "-o", self.directory / "p.ftr", "--", *command)
        self.assertNotEqual(result.status, 0, str(result))
        return result

    def test_calls_without_a_time(self):
        """Predict, simulate and explain name the same, and what of it is charged all the same."""
        command = [self.compile(NO_TIMES), self.directory / "file"]
        lacks = ("nothing stands in, so these take no time: file_write_at, "
                 "file_write_ordered (but for its barriers)")
        predicted = self.predict(2, command, compute="none")
        self.assertIn(lacks, self.result.err)
        self.assertIn(f"note: not in the machine model, and {lacks}\n", self.foretrace("report", predicted).out)
        for trace in (predicted, self.record(2, command)):
            for tool in ("simulate", "explain"):
                told = self.foretrace(tool, trace, "--machine", harness.T3D, "--compute", "none").err
                self.assertIn(lacks, told)
                self.assertNotIn("no virtual time yet", told)

    def test_a_library_that_begins_mpi_before_us(self):
        """Its constructor runs before those of what is preloaded: the program runs on without us."""
        library = self.directory / "libearly.so"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-shared", "-fPIC", self.write("early.c", EARLY), "-o", library]))
        program = self.directory / "late"
        self.ok(harness.run([f"mpicc.{harness.mpi}", self.write("late.c", LATE), library, "-o", program,
                             f"-Wl,-rpath,{self.directory}"]))
        for mode, ending in ((["record"], "ftr"), (["profile"], "json"), (["predict", "--machine", harness.T3D], "ftr")):
            result = harness.foretrace(*mode, "-n", 2, "-o", self.directory / f"early.{ending}", "--", program)
            self.assertEqual(result.out, "done\n", str(result))
            self.assertEqual(result.err.count("MPI_Init is called by a constructor of a library"), 1, str(result))
            self.assertEqual(result.status, 1)

    def test_messages_that_nobody_receives(self):
        """Told in all ways alike; of a receive that is left open nobody knows what it took."""
        program = self.compile(FORGETS)
        told = ("foretrace: 1 message was not received at MPI_Finalize\n"
                "foretrace:   from rank 0 to rank 1, tag 5, 8 bytes\n")
        for way, times in (("one", 1), ("all", 0), ("posted", 0)):
            with self.subTest(way=way):
                said = []
                self.predict(2, [program, way], compute="none")
                said.append(self.result.err)
                trace = self.record(2, [program, way])
                said.append(self.result.err)
                simulate = ["simulate", "--machine", harness.T3D, "--compute", "none"]
                said.append(self.foretrace(*simulate, trace).err)
                said.append(self.foretrace(*simulate, trace, "--network", "loggps").err)
                said.append(self.foretrace(*simulate, "-n", 2, "--mpi", harness.mpi, "--", program, way).err)
                self.assertEqual([err.count(told) for err in said], [times] * len(said), said)
                self.assertEqual([err.count("not received") for err in said], [times] * len(said), said)

    def test_looks_in_vain_before_announced_work(self):
        """How often a program works until a message is there is this machine's in a recording; not so where it
        announces little, nor under predict, which looks as often as the target."""
        program = self.compile(WORKS)
        self.record(2, [program, 1])
        self.assertRegex(self.result.err,
                         r"foretrace: rank 1 announced \d+ % of its computation before \d{2,} looks in vain")
        self.record(2, [program, 100000000])
        self.assertNotIn("in vain", self.result.err)
        self.predict(2, [program, 1])
        self.assertNotIn("in vain", self.result.err)

    def test_calls_to_processes_that_are_not_followed(self):
        """Calls on the communicator with them take no time either, and no note would name them."""
        if harness.mpi == "mpich":
            self.skipTest("MPICH over UCX starts no processes")
        command = [self.compile(STARTS)]
        told = "no virtual time yet: MPI_Comm_spawn (1); nor does any call on the communicators that they made\n"
        self.predict(1, command, compute="none")
        self.assertIn(told, self.result.err)
        trace = self.record(1, command)
        self.assertIn(told, self.result.err)
        self.assertIn(told.replace(" (1)", ""),
                      self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "none").err)

    def test_announced_steps_of_a_prediction(self):
        """Its times are what it was predicted with: there is nothing to choose."""
        program = self.compile(ANNOUNCES)
        unused = "--compute annotated takes what it announces"
        predicted = self.predict(2, [program])
        self.assertNotIn(unused, self.foretrace("simulate", predicted, "--machine", harness.T3D).err)
        recorded = self.record(2, [program])
        self.assertIn(unused, self.foretrace("simulate", recorded, "--machine", harness.T3D).err)

    def test_beyond_what_was_measured(self):
        """As simulate says it; nothing where all was measured."""
        program = self.compile(SENDS)
        model = self.write("m.toml", MODEL + "".join(
            FUNCTION.format(name, kind) for name, kind in (("send", "point-to-point"), ("recv", "point-to-point"),
                                                           ("bcast", "collective"), ("finalize", "local"))))
        trace = self.record(3, [program])
        simulated = self.foretrace("simulate", trace, "--machine", model, "--compute", "none").err.splitlines()
        self.assertIn("foretrace: extrapolated, beyond what was measured: send of 4096 B, recv of 4096 B, bcast with 3 "
                      "ranks", simulated)
        self.predict(3, [program], machine=model, compute="none")
        said = [line for line in self.result.err.splitlines() if "take no time" in line or "extrapolated" in line]
        self.assertEqual(said, [line for line in simulated if "take no time" in line or "extrapolated" in line])
        wide = self.write("wide.toml", model.read_text().replace("1024", "4096").replace("[2]", "[2, 3]"))
        self.predict(3, [program], machine=wide, compute="none")
        self.assertNotIn("extrapolated", self.result.err)

    def test_what_the_model_lacks_is_the_same_in_all_ways(self):
        """What was called, not what something else of its kind would take."""
        program = self.compile(SYNCHRONOUS)
        model = self.write("m.toml", MODEL + FUNCTION.format("barrier", "collective"))
        trace = self.record(2, [program])
        runs = [self.foretrace("simulate", trace, "--machine", model, "--compute", "none").err,
                self.foretrace("simulate", "-n", 2, "--machine", model, "--compute", "none", "--", program).err]
        self.predict(2, [program], machine=model, compute="none")
        for said in (*runs, self.result.err):
            self.assertRegex(said, r"take no time: send, ssend, recv, sendrecv\n")
        only = self.write("only.toml", MODEL + "".join(
            FUNCTION.format(name, "point-to-point") for name in ("send", "ssend", "recv", "sendrecv")))
        runs = [self.foretrace("simulate", trace, "--machine", only, "--compute", "none").err,
                self.foretrace("simulate", "-n", 2, "--machine", only, "--compute", "none", "--", program).err]
        self.predict(2, [program], machine=only, compute="none")
        for said in (*runs, self.result.err):
            self.assertIn("extrapolated, beyond what was measured: ssend of 4096 B, recv of 4096 B\n", said)

    def test_another_mpi_than_the_named(self):
        """Python says nothing of its MPI: whoever names the wrong one is told, once."""
        python, module = "/usr/bin/python3", "import mpi4py.MPI as m; print(m.__file__)"
        if not pathlib.Path(python).exists() or not harness.has_launcher("mpich"):
            self.skipTest("no system's Python, or no MPICH")
        found = subprocess.run([python, "-c", module], capture_output=True, text=True, env=harness.environment())
        if found.returncode != 0 or "libmpi.so.40" not in harness.run(["ldd", found.stdout.strip()]).out:
            self.skipTest("no mpi4py for Open MPI")
        script = self.write("script.py", "from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n")
        for name, times in (("mpich", 1), ("openmpi", 0)):
            for command in (["record", "-o", self.directory / "r.ftr"], ["simulate", "--machine", harness.T3D]):
                result = harness.foretrace(*command, "-n", 2, "--mpi", name, "--", python, script, limit=100)
                says = "foretrace: the program has loaded Open MPI, but its calls are taken for MPICH's: if it fails, " \
                       "use --mpi openmpi\n"
                self.assertEqual(result.err.count(says), times, str(result))

    def test_another_mpi_than_the_named_behind_a_shell(self):
        """Whose calls may end the program at once: it is told before."""
        other, name, own = (("mpich", "MPICH", "Open MPI") if harness.mpi == "openmpi"
                            else ("openmpi", "Open MPI", "MPICH"))
        if not harness.has_launcher(other):
            self.skipTest(f"no {name}")
        program = self.compile("#include <mpi.h>\nint main(int argc, char **argv)\n"
                               "{ MPI_Init(&argc, &argv); MPI_Finalize(); return 0; }\n", other)
        result = harness.foretrace("record", "-n", 2, "--mpi", harness.mpi, "-o", self.directory / "r.ftr", "--", "sh", "-c",
                                   program, limit=100)
        self.assertEqual(result.err.count(f"foretrace: the program has loaded {name}, but its calls are taken for {own}'s: "
                                          f"if it fails, use --mpi {other}\n"), 1, str(result))


if __name__ == "__main__":
    harness.main()
