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

    def test_survives_text(self):
        self.assert_survives_text(self.record(2, [self.program], env=ENVIRONMENT))


if __name__ == "__main__":
    harness.main()
