"""One-sided communication takes the same time in all three ways: under predict, recorded and
simulated, and live, to the picosecond; on networks, recorded and simulated, and live."""

import harness_live
from harness_live import harness

SOURCE = harness_live.HERE / "epochs.c"
# What the thesis's machine has not.
MEASURED = """
[[function]]
name = "put"
[[function.regime]]
bytes = [0]
c = 4
k = 0.01
g = "d"
[[function]]
name = "get"
[[function.regime]]
bytes = [0]
c = 6
k = 0.02
g = "d"
[[function]]
name = "accumulate"
[[function.regime]]
bytes = [0]
c = 9
k = 0.05
g = "d"
[[function]]
name = "win_lock"
[[function.regime]]
bytes = [0]
c = 3
[[function]]
name = "win_fence"
[[function.regime]]
bytes = [0]
c = 11
"""
# Open MPI 4.1's osc/rdma crashes in such programs, by itself, too.
ENVIRONMENT = {"OMPI_MCA_osc": "^rdma"}
NETWORKS = {
    "loggps": "--network loggps",
    "hops": "--network hops --topology ring:4?latency=5us&bandwidth=1MB/s",
    "bus": "--network bus --topology bus:4?latency=5us&bandwidth=1MB/s",
    "flow": "--network flow --topology ring:4?latency=5us&bandwidth=1MB/s",
    "packet": "--network packet --topology ring:4?latency=5us&bandwidth=1MB/s",
}


# Rank 1 looks at memory that rank 0 shares, and calls nothing meanwhile.
SPIN = """#include <mpi.h>
int main(int argc, char** argv) {
  int rank, unit, *flag;
  MPI_Win win;
  MPI_Aint size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
  MPI_Win_shared_query(win, 0, &size, &unit, &flag);
  if (rank == 0) *flag = 0;
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 10; ++i) {
      volatile double sum = 0;
      for (int j = 0; j < 1000000; ++j) sum += j;
      MPI_Wtime();
    }
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  }
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) continue;
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""

# Rank 0 writes into the memory of the given rank at 300 us, rank 1 looks there at 50 and at 400 us; in real time it is
# late the first time, and early the second.
ORDER = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "foretrace.h"
static MPI_Win win;
static int one = 1, zero = 0, target;
static void wait_for(int shared) {
  if (shared) MPI_Win_unlock(target, win);
  else MPI_Win_flush(target, win);
}
static void reach(int shared) {
  if (shared) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
}
static int look(int how, int shared) {
  int found = -1;
  reach(shared);
  if (how == 0) MPI_Get(&found, 1, MPI_INT, target, 0, 1, MPI_INT, win);
  if (how == 1) MPI_Fetch_and_op(NULL, &found, MPI_INT, target, 0, MPI_NO_OP, win);
  if (how == 2) MPI_Compare_and_swap(&zero, &zero, &found, MPI_INT, target, 0, win);
  wait_for(shared);
  return found;
}
int main(int argc, char** argv) {
  int rank, *memory, how = atoi(argv[2]), shared = atoi(argv[3]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  target = atoi(argv[1]);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (!shared) MPI_Win_lock_all(0, win);
  if (rank == 0) {
    FORETRACE_COMPUTE(300);
    reach(shared);
    if (how == 0) MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    else MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
    wait_for(shared);
  } else if (rank == 1) {
    usleep(20000);
    FORETRACE_COMPUTE(50);
    int before = look(how, shared);
    FORETRACE_COMPUTE(350);
    int after = look(how, shared);
    printf("%d %d", before, after);
  }
  if (!shared) MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""
# Ranks that take turns by tickets, each for 100 us.
TICKETS = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include "foretrace.h"
int main(int argc, char** argv) {
  int one = 1, mine, now, *memory;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, 2 * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&one, &mine, MPI_INT, 0, 0, MPI_SUM, win);
  MPI_Win_flush(0, win);
  do {
    MPI_Fetch_and_op(NULL, &now, MPI_INT, 0, 1, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
  } while (now != mine);
  double begin = MPI_Wtime();
  FORETRACE_COMPUTE(100);
  printf("%.3f %.3f\\n", begin * 1e6, MPI_Wtime() * 1e6);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_flush(0, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""
# A put to memory that is not there, which may only be found when it is waited for, then one with a request that is well.
ERRORS = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, memory = 0, one = 1;
  MPI_Win win;
  MPI_Aint place;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, &memory, sizeof memory);
  MPI_Get_address(&memory, &place);
  MPI_Bcast(&place, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    int put = MPI_Put(&one, 1, MPI_INT, 1, 8, 1, MPI_INT, win);
    int rput = MPI_Rput(&one, 1, MPI_INT, 1, place, 1, MPI_INT, win, &request);
    int made = request != MPI_REQUEST_NULL;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int flush = MPI_Win_flush(1, win);
    printf("%d %d %d", put != 0 || flush != 0, rput, made);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_detach(win, &memory);
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""
# Steps of 1 us; an access takes 10 us.
SIMPLE = """[machine]
name = "simple"
time_unit = "us"
[compute]
step = 1e-6
""" + "".join(f'[[function]]\nname = "{name}"\n[[function.regime]]\nc = {time}\n'
              for name, time in (("recv", 10), ("send", 1), ("isend1", 1), ("barrier", 5)))


class OneSided(harness_live.TestCase):
    def setUp(self):
        super().setUp()
        self.program = self.compile(SOURCE.read_text(), "epochs")

    def times(self, trace):
        """Of all events but calls that concern nobody else (locks that a live run takes later)."""
        return [[(kind, name, f["enter"], f["leave"], f["wait"], f.get("one_sided"), f.get("moves"))
                 for kind, name, f in rank if kind != "call" or "one_sided" in f]
                for rank in self.events(trace)]

    def assert_same_times(self, a, b):
        for rank, (one, other) in enumerate(zip(self.times(a), self.times(b), strict=True)):
            for number, (x, y) in enumerate(zip(one, other)):
                self.assertEqual(x, y, f"{a.name} and {b.name}, rank {rank}, event {number}")
            self.assertEqual(len(one), len(other))

    def check_three_ways(self, ranks, machine):
        model = self.write("machine.toml", machine)
        recorded = self.record(ranks, [self.program], env=ENVIRONMENT)
        predicted = self.predict(ranks, [self.program], model, env=ENVIRONMENT)
        self.assert_same_ticks(predicted, self.simulate(recorded, model))
        self.assert_same_times(predicted, self.live(ranks, [self.program], machine=model))
        return predicted

    def test_without_an_access_of_its_own(self):
        predicted = self.check_three_ways(3, harness.T3D.read_text())
        puts = [f for kind, name, f in self.events(predicted)[0] if name == "MPI_Put"]
        self.assertTrue(all(f["leave"] > f["enter"] for f in puts if f.get("moves")))

    def test_with_measured_accesses(self):
        self.check_three_ways(4, harness.T3D.read_text() + MEASURED)

    def test_with_rendezvous(self):
        for threshold in (0, 4096):
            with self.subTest(threshold=threshold):
                self.check_three_ways(3, harness.with_threshold(harness.T3D.read_text(), threshold))

    def test_networks(self):
        recorded = self.record(4, [self.program], env=ENVIRONMENT)
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                live = self.live(4, [self.program], options=words.split())
                replayed = self.directory / "replayed.ftr"
                self.foretrace("simulate", recorded, "--machine", harness.T3D, "--compute",
                               "annotated", *words.split(), "-o", replayed)
                self.assert_same_times(live, replayed)

    def test_memory_that_is_looked_at(self):
        program = self.compile(SPIN, "spin")
        self.live(2, [program], compute="measured", limit=30)

    def run_simple(self, ranks, *command):
        machine = self.write("simple.toml", SIMPLE)
        return self.foretrace("simulate", "-n", ranks, "--machine", machine, "--compute", "annotated",
                              "--mpi", harness.mpi, "-o", self.directory / "simple.ftr", "--", *command).out

    def test_accesses_follow_virtual_time(self):
        program = self.compile(ORDER, "order")
        for target in range(3):
            for how in range(3):
                for shared in range(2):
                    with self.subTest(target=target, how=how, shared=shared):
                        self.assertRegex(self.run_simple(3, program, target, how, shared), "^0 1")

    def test_turns_by_tickets_do_not_overlap(self):
        program = self.compile(TICKETS, "tickets")
        outputs = set()
        for _ in range(3):
            output = self.run_simple(4, program)
            stays = sorted(tuple(map(float, line.split())) for line in output.splitlines()[:4])
            for (_, end), (begin, _) in zip(stays, stays[1:]):
                self.assertLessEqual(end, begin)
            outputs.add(tuple(stays))
        self.assertEqual(len(outputs), 1)

    def test_an_error_is_of_its_own_access(self):
        self.assertRegex(self.run_simple(2, self.compile(ERRORS, "errors")), "^1 0 1")

    def test_survives_text(self):
        self.assert_survives_text(self.record(2, [self.program], env=ENVIRONMENT))


if __name__ == "__main__":
    harness.main()
