"""What predict, record and simulate say of programs whose course hangs on who comes first here, or on the clock."""

import re
import statistics

import harness

ONE_SIDED_MODEL = """
[[function]]
name = "fetch_and_op"
[[function.regime]]
bytes = [0]
c = 2
"""

# Each rank works while it holds the lock of rank 0.
LOCKS = r"""
#include <mpi.h>
#include "foretrace.h"
int main(int argc, char **argv) {
  int one = 1, *memory;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  FORETRACE_COMPUTE(10000);
  MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""

# Of two messages the one that is sent later there comes first here.
ORDER = r"""
#include <foretrace.h>
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, value[2] = {0};
  const int way = argv[1][0], late = argv[2][0] - '0';
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) usleep(300000);
  if (rank == late) FORETRACE_COMPUTE(1000);
  if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2 && rank == 0; ++i) {
    int source = way == 'n' ? i + 1 : MPI_ANY_SOURCE;
    if (way == 'p') {
      MPI_Probe(source, 0, MPI_COMM_WORLD, &status);
      source = status.MPI_SOURCE;
    }
    if (way == 'i') MPI_Irecv(&value[i], 1, MPI_INT, source, 0, MPI_COMM_WORLD, &requests[i]);
    else MPI_Recv(&value[i], 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0 && way == 'i') MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
"""

# Two messages are waited for, that of rank 2 comes 0.3 s later here.
CHOICES = r"""
#include <foretrace.h>
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, value[2] = {0}, index, flag, done = 0, indices[2];
  const int way = argv[1][0], late = argv[2][0] - '0';
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) usleep(300000);
  if (rank == late) FORETRACE_COMPUTE(1000);
  if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2 && rank == 0; ++i)
    MPI_Irecv(&value[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  while (rank == 0 && done < 2) {
    int now = 1;
    if (way == 'a') {
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    } else if (way == 's') {
      MPI_Waitsome(2, requests, &now, indices, MPI_STATUSES_IGNORE);
    } else if (way == 't') {
      MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
      now = flag && index != MPI_UNDEFINED;
    } else {
      MPI_Wait(&requests[done], MPI_STATUS_IGNORE);
    }
    done += now;
  }
  MPI_Finalize();
  return 0;
}
"""

READINGS = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 1 && i < atoi(argv[1]); ++i) MPI_Wtime();
  MPI_Finalize();
  return 0;
}
"""

# Rank 1 reads a flag of rank 0's until that has written it, or draws numbers from it.
LOOKS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, value = 0, one = 1;
  int *memory;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  const int draws = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    /* When the other has looked 300 times. */
    if (!draws) MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush(0, window);
  } else {
    for (int i = 0; draws ? i < 1000 : value == 0; ++i) {
      MPI_Fetch_and_op(&one, &value, MPI_INT, 0, 0, draws ? MPI_SUM : MPI_NO_OP, window);
      MPI_Win_flush(0, window);
      if (i == 299 && !draws) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""

# Rank 1 calls MPI_Win_sync so often.
SYNCS = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, *memory;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; rank == 1 && i < atoi(argv[1]); ++i) MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""

# Rank 0 looks for the messages of ranks 1 and 2 in turn, twice, in one of several ways. That of rank 2 is sent
# 0.3 s after the other here, and before it there; "one" waits for each by itself.
LOOKED_FOR = r"""
#include <foretrace.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, got[2], value, flag;
  const char *way = argv[1];
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 2; ++round) {
    usleep(rank * 300000);
    if (rank == 1) FORETRACE_COMPUTE(1000);
    if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    const int posts = !strcmp(way, "test") || !strcmp(way, "status");
    for (int i = 0; i < 2 && rank == 0 && posts; ++i)
      MPI_Irecv(&got[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    for (int open = rank == 0 ? 3 : 0; open;)
      for (int i = 0; i < 2; ++i) {
        if (!(open & 1 << i)) continue;
        flag = 0;
        if (!strcmp(way, "test")) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        if (!strcmp(way, "status")) {
          MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
          if (flag) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        if (!strcmp(way, "one"))
          while (!flag) MPI_Iprobe(i + 1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (!strcmp(way, "iprobe")) MPI_Iprobe(i + 1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (flag && !posts) MPI_Recv(&value, 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(way, "improbe")) {
          MPI_Improbe(i + 1, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
          if (flag) MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        if (flag) open &= ~(1 << i);
      }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

# The ranks share out 12 numbers by a file's pointer.
DRAWN_FROM_A_FILE = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, value = 0, count = 1, own = 0;
  const int numbers[12] = {0};
  MPI_File file;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (rank == 0) MPI_File_write_at(file, 0, numbers, 12, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  while (count) {
    MPI_File_read_shared(file, &value, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (count) FORETRACE_COMPUTE(1000 * (rank + 1));
    own += count;
  }
  printf("rank %d: %d\n", rank, own);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

# A thread waits 0.3 s for a message; the other one makes a call meanwhile, or after that.
THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *receive(void *nothing) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return nothing;
}
int main(int argc, char **argv) {
  int rank, provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    usleep(300000);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    pthread_create(&thread, 0, receive, 0);
    usleep(100000);
    if (argv[1][0] == 'a') pthread_join(thread, 0);
    MPI_Barrier(MPI_COMM_SELF);
    if (argv[1][0] != 'a') pthread_join(thread, 0);
  }
  MPI_Finalize();
  return 0;
}
"""


class Order(harness.TestCase):
    def test_messages_in_another_order(self):
        """Said where it matters, and not where a receive names its source, or the order is the same there."""
        program = self.compile(ORDER)
        told = "foretrace: rank 0 took 1 of 2 messages from MPI_ANY_SOURCE after others that are sent later there"
        for way in ("recv", "irecv", "probe", "named"):
            for late in (1, 2):
                with self.subTest(way=way, late=late):
                    predicted = self.predict(3, [program, way, late])
                    self.assertEqual(self.result.err.count(told), 1 if late == 1 and way != "named" else 0, self.result.err)
                    self.assertEqual(self.result.err.count("ANY_SOURCE"), self.result.err.count(told))
                    self.assertEqual(self.foretrace("report", predicted).out.count(told.replace("foretrace", "note")),
                                     self.result.err.count(told))

    def test_messages_from_anybody_are_told_when_recorded(self):
        """simulate keeps their order, whatever the target's is."""
        program = self.compile(ORDER)
        told = "rank 0 asked 2 times for messages from MPI_ANY_SOURCE; simulate takes them in the order of here"
        for way in ("recv", "irecv", "probe", "named"):
            recorded = self.record(3, [program, way, 1])
            for said in (self.result.err, self.foretrace("simulate", recorded, "--machine", harness.T3D).err):
                self.assertEqual(said.count(told), 0 if way == "named" else 1, said)

    def test_choices_in_another_order(self):
        """Told where the order of here costs something: rank 1's message comes first here, and late there."""
        program = self.compile(CHOICES)
        # It is sent after 1000 steps of 1 us; the other one's way is as long.
        told = "rank 0 takes 1 message by MPI_Waitany and the like after others that come later, by 0.001 s in all"
        for way in ("any", "some", "test", "wait"):
            for late in (1, 2):
                with self.subTest(way=way, late=late):
                    expected = 1 if late == 1 and way != "wait" else 0
                    self.predict(3, [program, way, late], compute="annotated")
                    self.assertEqual(self.result.err.count(told), expected, self.result.err)
                    recorded = self.record(3, [program, way, late])
                    self.assertNotIn("Waitany", self.result.err)
                    replay = self.foretrace("simulate", recorded, "--machine", harness.T3D, "--compute", "annotated")
                    self.assertEqual(replay.err.count(told), expected, replay.err)
                    live = self.foretrace("simulate", "-n", 3, "--machine", harness.T3D, "--compute", "annotated", "--",
                                          program, way, late)
                    self.assertNotIn("Waitany", live.err)

    def test_looks_for_several_messages(self):
        program = self.compile(LOOKED_FOR)
        # Each 1000 steps of 1 us later, the other one's way is as long.
        predicted = "foretrace: rank 0 takes 2 messages by MPI_Test, MPI_Iprobe and the like after others that come later, by 0.002 s in all"
        recorded = "foretrace: rank 0 took 2 messages that it found by looking for several in turn (MPI_Test, MPI_Iprobe and the like)"
        for way in ("test", "status", "iprobe", "improbe", "one"):
            with self.subTest(way=way):
                self.predict(3, [program, way], compute="annotated")
                self.assertEqual(self.result.err.count(predicted), 0 if way == "one" else 1, self.result.err)
                trace = self.record(3, [program, way])
                replay = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated").err
                for said in (self.result.err, replay):
                    self.assertEqual(said.count(recorded), 0 if way == "one" else 1, said)

    def test_parts_of_a_file(self):
        """Live a rank gets as many as it would there: rank 0, with the least work for each, seven of twelve."""
        program = self.compile(DRAWN_FROM_A_FILE)
        told = "calls like MPI_File_read_shared, whose results tell who came first"
        self.record(3, [program, self.directory / "record.dat"])
        self.assertEqual(self.result.err.count(told), 1, self.result.err)
        self.predict(3, [program, self.directory / "predict.dat"], compute="annotated")
        self.assertEqual(self.result.err.count(told), 1, self.result.err)
        for _ in range(3):
            live = self.foretrace("simulate", "-n", 3, "--machine", harness.T3D, "--compute", "annotated", "--",
                                  program, self.directory / "live.dat")
            self.assertEqual(sorted(live.out.splitlines()[:3]), ["rank 0: 7", "rank 1: 3", "rank 2: 2"], live.out)
            self.assertNotIn(told, live.err)

    def test_calls_of_several_threads(self):
        program = self.compile(THREADS)
        told = "foretrace: rank 0: while 1 call waited, other threads made theirs; which of them ends first is this machine's doing"
        for way, times in (("meanwhile", 1), ("after", 0)):
            self.predict(2, [program, way], compute="none")
            self.assertEqual(self.result.err.count(told), times, self.result.err)
            self.record(2, [program, way])
            self.assertEqual(self.result.err.count(told), times, self.result.err)

    def test_readings_of_the_clock(self):
        """A replay does what was decided by them."""
        program = self.compile(READINGS)
        for readings in (100, 99):
            recorded = self.record(2, [program, readings])
            told = self.foretrace("simulate", recorded, "--machine", harness.T3D).err
            self.assertEqual(told.count(f"rank 1 read MPI_Wtime {readings} times: if it decides by that"), readings // 100, told)
            self.predict(2, [program, readings])
            self.assertNotIn("MPI_Wtime", self.result.err)

    def test_locks_in_another_order(self):
        """Which rank gets a lock first is this machine's doing."""
        program = self.compile(LOCKS)
        model = self.write("m.toml", harness.T3D.read_text() + ONE_SIDED_MODEL)
        self.predict(2, [program], model)
        self.assertRegex(self.result.err, r"rank \d waits \S+ s for locks of windows, which ranks get in the order of here")

    def test_looks_in_vain_by_one_sided_calls(self):
        """As many as this machine made, each with its time: said of whoever waits so, not of work."""
        program = self.compile(LOOKS)
        model = self.write("m.toml", harness.T3D.read_text() + ONE_SIDED_MODEL)
        told = r"foretrace: rank 1 looked (\d+) times in vain by MPI_Fetch_and_op at program\+0x"
        recorded = self.record(2, [program])
        self.assertRegex(self.result.err, told)
        # To find out whether a look was in vain is no computation of the program's.
        between = [fields["compute"] for _, name, fields in self.events(recorded)[1] if name == "MPI_Fetch_and_op"]
        self.assertLess(statistics.median(between), 1_000_000)
        # It stays with the trace, and with what is predicted of that.
        for trace in (recorded, self.simulate(recorded, compute="none")):
            self.assertRegex(self.foretrace("report", trace).out, told.replace("foretrace", "note"))
        self.assertRegex(self.result.err, told)
        self.predict(2, [program], model, compute="none")
        self.assertRegex(self.result.err, told)
        found = re.search(r"looked (\d+) times .*, which take (\S+) s of the predicted time", self.result.err)
        # The flush waits until the access has ended, 2 us after it began.
        self.assertGreaterEqual(int(found[1]), 298)
        self.assertAlmostEqual(float(found[2]), int(found[1]) * 2e-6, delta=0.01 * float(found[2]))
        for run in (lambda *words: self.predict(*words, model, compute="none"), self.record):
            run(2, [program, "draws"])
            self.assertNotIn("in vain", self.result.err)

    def test_rows_of_syncs(self):
        """A rank may look at its own memory until another has put something there; nothing else tells of it."""
        program = self.compile(SYNCS)
        told = r"foretrace: rank 1 called MPI_Win_sync \d{3,} times in a row at program\+0x\w+: if it waits there"
        for run in (self.predict, self.record):
            run(2, [program, 1000])
            self.assertRegex(self.result.err, told)
            run(2, [program, 50])
            self.assertNotIn("MPI_Win_sync", self.result.err)


if __name__ == "__main__":
    harness.main()
