"""Writing again what another rank of the node has read takes longer: in a live run it is part of what the rank computes,
as it is of what a real run computes."""

import harness_live

# Ranks 0 to 2 are on one node, rank 3 is on another. The program says before each of rank 0's calls what it has done
# to the data.
PROGRAM = r"""
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
enum { BYTES = 4096, NEAR = 3 };
static char data[BYTES] __attribute__((aligned(64))), parts[NEAR * BYTES], given[BYTES], in[NEAR * BYTES];
static char room[BYTES + MPI_BSEND_OVERHEAD];
static int rank, value;
static MPI_Comm near;
static void *rest(void *unused) { return pause(), unused; }
static void write_part(int bytes) { memset(data, ++value, bytes); }
static void send(int to) {
  if (rank == 0) MPI_Send(data, BYTES, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  if (rank == to) MPI_Recv(in, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (argc > 1) pthread_create(&thread, 0, rest, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < NEAR ? 0 : 1, 0, &near);
  send(1);                              /* never sent before: 0 */
  write_part(BYTES), send(1);           /* 1 s */
  send(1);                              /* not written: 0 */
  write_part(BYTES / 2), send(1);       /* 1/2 s */
  send(2);                              /* so is the place, whoever reads it: 0 */
  write_part(BYTES), send(1), send(2);  /* 1 s, for both */
  write_part(BYTES), send(1);           /* 1 s */
  write_part(BYTES), send(2);           /* rank 1 has read it: 1 s */
  send(3);
  write_part(BYTES), send(3), send(1);  /* rank 3 has no cache on this node: 0, then 1 s */
  if (rank == 0) MPI_Buffer_attach(room, sizeof room);
  write_part(BYTES);
  if (rank == 0) MPI_Bsend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* its copy is read: 0 */
  if (rank == 1) MPI_Recv(in, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(in, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  send(1);                              /* received into: 0 */
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(parts, BYTES / 4, MPI_BYTE, data, BYTES / 4, MPI_BYTE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  send(1);                              /* MPI has written it: 0 */
  write_part(BYTES);
  if (rank == 0) MPI_Isend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request); /* 1 s */
  if (rank == 1) MPI_Irecv(in, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    if (near != MPI_COMM_NULL && rank < NEAR) {
      write_part(BYTES), MPI_Bcast(data, BYTES, MPI_BYTE, 0, near); /* 3 s, at the root */
      memset(parts, value, sizeof parts);
      MPI_Alltoall(parts, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, near); /* the second time 3 x 1 s, each */
      memset(given, value, sizeof given);
      MPI_Gather(given, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, 0, near); /* the second time 1 s, but at the root */
    }
    write_part(BYTES), MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD); /* over two nodes: 0 */
  }
  MPI_Finalize();
  return 0;
}
"""
RANK_0 = 1 + 0.5 + 1 + 1 + 1 + 1 + 1 + 2 * 3 + 3
MACHINE = '[machine]\nname = "m"\n[path.node.rewrite]\nsend = [[4096, 1], [12288, 3]]\nbcast = [[4096, 3]]\n'


class Rewriting(harness_live.TestCase):
    def computed(self, compute="measured", machine=MACHINE, words=(), options=()):
        """Seconds of each rank."""
        trace = self.live(4, [self.compile(PROGRAM), *words], machine=self.write("m.toml", machine), compute=compute,
                          options=["--ranks-per-node", "3", *options], name=f"{compute}.ftr".replace(":", "-"))
        return [rank["compute"] for rank in self.report(trace)["per_rank"]]

    def test_counts_as_computation(self):
        for words in ([], ["threads"]):
            with self.subTest(words=words):
                for found, expected in zip(self.computed(words=words), (RANK_0, 3 + 1, 3 + 1, 0), strict=True):
                    self.assertAlmostEqual(found, expected, delta=0.2)

    def test_is_the_machines_and_not_scaled(self):
        self.assertAlmostEqual(self.computed("measured:0.5")[0], RANK_0, delta=0.2)
        self.assertAlmostEqual(self.computed(options=["--slower", "rank:0=2"])[0], RANK_0, delta=0.2)

    def test_only_where_time_is_measured(self):
        for compute in ("none", "annotated"):
            self.assertEqual(self.computed(compute), [0, 0, 0, 0])

    def test_only_where_the_machine_says_so(self):
        for found in self.computed(machine=MACHINE.split("[path")[0]):
            self.assertLess(found, 0.2)


if __name__ == "__main__":
    harness_live.harness.main()
