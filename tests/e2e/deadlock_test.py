"""Deadlocks on the target that today's MPI hides, and waits that are none."""

import concurrent.futures
import signal
import subprocess
import threading

import harness

S = 2000


HEAD_ON = """
#include <mpi.h>
static char buffer[3000];
static void swap(int other) {
  MPI_Send(buffer, sizeof buffer, MPI_CHAR, other, 5, MPI_COMM_WORLD);
  MPI_Recv(buffer, sizeof buffer, MPI_CHAR, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(void) {
  int rank;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  swap(1 - rank);
  MPI_Finalize();
  return 0;
}
"""


UNLIKE = """
#include <mpi.h>
int main(void) {
  int rank, in = 1, out = 0;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Bcast(&in, 1, MPI_INT, 1, MPI_COMM_WORLD);
  else MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# Two broadcasts, of which each rank calls another one first.
CROSSED = """
#include <mpi.h>
int main(void) {
  int rank, data[2] = {0, 0};
  MPI_Comm comms[2] = {MPI_COMM_WORLD};
  MPI_Init(0, 0);
  MPI_Comm_rank(comms[0], &rank);
  MPI_Comm_dup(comms[0], &comms[1]);
  for (int i = 0; i < 2; ++i) MPI_Bcast(&data[i ^ rank], 1, MPI_INT, 0, comms[i ^ rank]);
  MPI_Finalize();
  return 0;
}
"""

# Rank 1 makes one call too few.
ENDED = """
#include <mpi.h>
int main(void) {
  int rank;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# The ranks' first collectives do not match, and rank 0 comes through its own.
EARLY = """
#include <mpi.h>
int main(void) {
  int rank, in = 0, out;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  else MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class Standstill(harness.TestCase):
    """Without S nothing looks for deadlocks; it is told that nobody goes on, and where all are."""

    def told(self, name, source, *options, ranks=2):
        source, program = self.write(f"{name}.c", source), self.directory / name
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", source, "-o", program]))
        command = [harness.tool(), *options, "-n", ranks, "-o", self.directory / f"{name}.ftr", "--", program]
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, env=harness.environment(None), start_new_session=True)
        killer = threading.Timer(100, lambda: harness.kill(process))
        killer.start()
        told = ""
        with process:
            for line in process.stderr:
                told += line
                if "Ctrl-C ends the run" in line:
                    process.send_signal(signal.SIGINT)
        killer.cancel()
        return told

    def test_all(self):
        """At once, since they take long."""
        with concurrent.futures.ThreadPoolExecutor() as threads:
            unlike = threads.submit(self.told, "unlike", UNLIKE, "predict", "--machine", harness.T3D)
            ended = threads.submit(self.told, "ended", ENDED, "record")
            early = threads.submit(self.told, "early", EARLY, "record", ranks=3)
            synchronous = threads.submit(self.told, "synchronous", HEAD_ON.replace("MPI_Send", "MPI_Ssend"), "record")
        self.assertRegex(unlike.result(), r"no rank has gone on for 15 seconds:\n"
                                          r"foretrace:   rank 0 is in MPI_Bcast \(event \d+\) at unlike\.c:7\n"
                                          r"foretrace:   rank 1 is in MPI_Allreduce \(event \d+\) at unlike\.c:8\n")
        self.assertIn("rank 1 was last seen in MPI_Allreduce", unlike.result())
        # As a Python program does after an exception.
        self.assertRegex(ended.result(), r"no rank has gone on for 15 seconds:\n"
                                         r"foretrace:   rank 1 has ended: its last call was MPI_Finalize "
                                         r"\(event \d+\) at ended\.c:8\n"
                                         r"foretrace:   rank 0 is in MPI_Barrier \(event \d+\) at ended\.c:7\n")
        # What Foretrace sends itself at the end does not meet what the program sends.
        self.assertRegex(early.result(), r"no rank has gone on for 15 seconds:\n"
                                         r"foretrace:   rank 0 has ended: its last call was MPI_Finalize "
                                         r"\(event \d+\) at early\.c:9\n")
        self.assertNotIn("truncated", early.result())
        self.assertRegex(synchronous.result(), r"foretrace:   rank 1 is in MPI_Ssend \(event 3\) at synchronous\.c:5\n"
                                               r"foretrace: calls that wait for each other, or do not belong together, "
                                               r"never return; Ctrl-C ends the run\n")


class Deadlock(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), S))

    def command(self, *arguments):
        return [harness.test_program("misbehave"), *arguments]

    def predict_deadlock(self, *arguments):
        result = harness.foretrace("predict", "-n", 2, "--machine", self.model, "--compute", "none",
                                   "-o", self.directory / "p.ftr", "--", *self.command(*arguments),
                                   limit=100)
        self.ok(result, 1)
        self.assertIn("deadlock", result.err)
        return result.err

    def simulate_deadlock(self, *arguments):
        recorded = self.record(2, self.command(*arguments))
        result = harness.foretrace("simulate", recorded, "--machine", self.model, "-o",
                                   self.directory / "s.ftr")
        self.ok(result, 1)
        self.assertIn("deadlock", result.err)
        self.assertIn("s.ftr holds what happened until then: 6 events of 2 of 2 ranks", result.err)
        self.assertIn("incomplete", harness.foretrace("report", self.directory / "s.ftr").out)
        return result.err

    def test_head_on(self):
        """S bytes, and more: both block in MPI_Send. (Both sizes are eager on today's MPIs.)"""
        for size in (S, S + 1000):
            with self.subTest(size=size):
                text = self.predict_deadlock("head_on", size)
                self.assertRegex(text, r"rank 0 waits in MPI_Send to rank 1 \(tag 5, %d bytes\) at misbehave\+0x" % size)
                self.assertRegex(text, r"rank 1 waits in MPI_Send to rank 0 \(tag 6, %d bytes\) at misbehave\+0x" % size)
                text = self.simulate_deadlock("head_on", size)
                self.assertRegex(text, r"rank 0 in event \d+, MPI_Send to rank 1, tag 5, %d bytes" % size)
                self.assertRegex(text, r"rank 1 in event \d+, MPI_Send to rank 0, tag 6, %d bytes" % size)

    def test_tells_the_line(self):
        """Where the ranks stood, as soon as the run has ended."""
        source = self.write("head_on.c", HEAD_ON)
        program = self.directory / "head_on"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", source, "-o", program]))
        trace = self.directory / "p.ftr"
        result = harness.foretrace("predict", "-n", 2, "--machine", self.model, "-o", trace, "--", program, limit=100)
        line = 1 + HEAD_ON.splitlines().index("  MPI_Send(buffer, sizeof buffer, MPI_CHAR, other, 5, MPI_COMM_WORLD);")
        for rank in range(2):
            self.assertIn(f"rank {rank} was last seen in MPI_Send (event 3) at head_on.c:{line}\n",
                          self.ok(result, 1).err)

    def test_synchronous(self):
        """These wait on any machine: S has no part in it."""
        program = self.compile(HEAD_ON.replace("MPI_Send", "MPI_Ssend"), "synchronous")
        for model in (harness.T3D, self.model):
            result = harness.foretrace("predict", "-n", 2, "--machine", model, "-o", self.directory / "p.ftr", "--", program,
                                       limit=100)
            self.ok(result, 1)
            self.assertRegex(result.err, r"deadlocks on the target machine:\n"
                                         r"foretrace:   rank 0 waits in MPI_Ssend to rank 1 \(tag 5, 3000 bytes\) at .*\n"
                                         r"foretrace:   rank 1 waits in MPI_Ssend to rank 0 \(tag 5, 3000 bytes\) at .*\n"
                                         r"foretrace: synchronous sends \(MPI_Ssend\) do not return before the receive is "
                                         r"posted, on any machine\.")
            self.assertNotIn("S in the machine model", result.err)

    def test_head_on_below_threshold(self):
        command = self.command("head_on", S - 1)
        predicted = self.predict(2, command, self.model)
        recorded = self.record(2, command)
        self.assert_same_ticks(predicted, self.simulate(recorded, self.model))

    def test_head_on_here_alone(self):
        """The target buffers what this machine's MPI does not."""
        patient = self.write("patient.toml", harness.with_threshold(harness.T3D.read_text(), 300000))
        result = harness.foretrace("predict", "-n", 2, "--machine", patient, "--compute", "none", "-o",
                                   self.directory / "p.ftr", "--", *self.command("head_on", 200000), limit=100)
        self.ok(result, 1)
        self.assertIn("does not go on under this machine's MPI:\n"
                      "foretrace:   rank 0 waits in MPI_Send to rank 1 (tag 5, 200000 bytes)", result.err)
        self.assertIn("Run it live: foretrace simulate -n", result.err)
        self.assertNotIn("deadlock", result.err)

    def test_collectives_in_another_order(self):
        """Under predict, where sends may wait, ranks meet in each; on the target a broadcast's root waits for nobody."""
        program = self.compile(CROSSED, "crossed")
        result = harness.foretrace("predict", "-n", 2, "--machine", self.model, "-o", self.directory / "p.ftr", "--", program,
                                   limit=100)
        self.ok(result, 1)
        self.assertRegex(result.err, r"does not go on under predict:\n"
                                     r"foretrace:   rank 0 waits in MPI_Bcast for others at crossed\+0x.*\n"
                                     r"foretrace:   rank 1 waits in MPI_Bcast for others at crossed\+0x.*\n"
                                     r".* Run it live")
        self.assertNotIn("deadlock", result.err)
        self.foretrace("simulate", "-n", 2, "--machine", self.model, "--", program)

    def test_across_barrier(self):
        """A rank that blocks in a send for one that waits for it in a barrier."""
        text = self.simulate_deadlock("across_barrier", S)
        self.assertIn("MPI_Send", text)
        self.assertIn("MPI_Barrier", text)
        text = self.predict_deadlock("across_barrier", S)
        self.assertRegex(text, r"rank 0 .*MPI_Send")
        self.assertRegex(text, r"rank 1 .*MPI_Barrier")

    def check_patience(self, behaviour):
        """Long waits, of which one will be over, are no deadlock."""
        self.predict(3, self.command(behaviour), self.model)

    def test_patient_waitall(self):
        self.check_patience("patient_waitall")

    def test_patient_waitany(self):
        self.check_patience("patient_waitany")


if __name__ == "__main__":
    harness.main(together=4)
