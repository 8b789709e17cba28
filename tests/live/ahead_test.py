"""Ranks that run ahead of the simulator: results and traces are those of ranks that wait for it.

Random programs: named and wildcard receives, probes that take, sends that wait for their
receiver, all ways to complete. FORETRACE_LIVE_AHEAD=off makes every call wait.
"""

import resource

import harness_live
from harness_live import harness

PROGRAM = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kMost = 12, kBytes = 6000 };
static unsigned long state;
static int any(int below) { /* the same numbers on all ranks */
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (int)((state >> 33) % (unsigned long)below);
}
static unsigned long own_state; /* each rank its own */
static int any_of_own(int below) {
  own_state = own_state * 6364136223846793005ul + 1442695040888963407ul;
  return (int)((own_state >> 33) % (unsigned long)below);
}
static unsigned long digest = 5381;
static void add(unsigned long value) { digest = digest * 31 + value; }
static void note(const char *buffer, MPI_Status *status) {
  int count, cancelled;
  MPI_Test_cancelled(status, &cancelled);
  add(cancelled ? 77 : 1);
  if (cancelled) return;
  MPI_Get_count(status, MPI_BYTE, &count);
  add(status->MPI_SOURCE), add(status->MPI_TAG), add(count);
  for (int i = 0; i < count; i += 97) add((unsigned char)buffer[i]);
}
static char in[kMost][kBytes], out[kMost][kBytes];
int main(int argc, char **argv) {
  int rank, size;
  state = (unsigned long)atol(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  own_state = state + (unsigned long)rank;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
  for (int round = 0; round < 40; ++round) {
    MPI_Request requests[2 * kMost];
    MPI_Status statuses[2 * kMost];
    int n = 0, receives = 0;
    const int messages = 1 + any(kMost), wild = any(4) == 0, taken = any(6) == 0;
    const int completing = any(9), ssends = any(3) == 0;
    int from[kMost], to[kMost], tag[kMost], bytes[kMost];
    for (int i = 0; i < messages; ++i) {
      from[i] = any(size), to[i] = any(size), tag[i] = any(2);
      bytes[i] = any(3) ? any(20) : any(kBytes);
    }
    /* With wildcards: some named receives first, which come before them; then the wildcards,
     * of tag 0, and named ones of tag 1 between them. */
    int named[kMost];
    for (int i = 0; i < messages; ++i) named[i] = !wild || any(3) == 0;
    for (int pass = 0; pass < 2 && !taken; ++pass)
      for (int i = 0; i < messages; ++i) {
        if (to[i] != rank || named[i] != !pass) continue;
        MPI_Irecv(in[receives++], kBytes, MPI_BYTE,
                  !named[i] && tag[i] == 0 ? MPI_ANY_SOURCE : from[i], tag[i], MPI_COMM_WORLD,
                  &requests[n++]);
      }
    for (int i = 0; i < messages; ++i) {
      const int waits = ssends && any(2);
      if (from[i] != rank) continue;
      memset(out[i], round + i, bytes[i]);
      (waits ? MPI_Issend : MPI_Isend)(out[i], bytes[i], MPI_BYTE, to[i], tag[i], MPI_COMM_WORLD,
                                       &requests[n++]);
    }
    if (taken)
      for (int i = 0; i < messages; ++i) {
        MPI_Message message;
        MPI_Status status;
        if (to[i] != rank) continue;
        MPI_Mprobe(from[i], tag[i], MPI_COMM_WORLD, &message, &status);
        MPI_Imrecv(in[receives++], kBytes, MPI_BYTE, &message, &requests[n++]);
      }
    const int all = n;
    int done = 0, flag = 0;
    long tests = 0;
    if (completing == 0) {
      MPI_Waitall(n, requests, statuses);
    } else if (completing == 1) {
      for (int i = 0; i < n; ++i) MPI_Wait(&requests[i], &statuses[i]);
    } else if (completing == 2) {
      for (int index; done < all; ++done) {
        MPI_Status status;
        MPI_Waitany(n, requests, &index, &status);
        add(index);
        statuses[index] = status;
      }
    } else if (completing == 3) {
      while (!flag) MPI_Testall(n, requests, &flag, statuses);
    } else if (completing == 4) {
      for (int i = 0; i < n; ++i)
        for (flag = 0; !flag; ++tests) MPI_Test(&requests[i], &flag, &statuses[i]);
    } else if (completing == 5) {
      for (int index = 0; done < all; ++tests) {
        MPI_Status status;
        MPI_Testany(n, requests, &index, &flag, &status);
        if (!flag) continue;
        ++done;
        add(index);
        statuses[index] = status;
      }
    } else if (completing == 6) {
      for (int indices[2 * kMost], some = 0; done < all; ++tests) {
        MPI_Status each[2 * kMost];
        MPI_Testsome(n, requests, &some, indices, each);
        for (int i = 0; i < some; ++i, ++done) {
          add(indices[i]);
          statuses[indices[i]] = each[i];
        }
      }
    } else if (completing == 7) {
      /* One test of each in turn, with computation between. */
      while (done < all)
        for (int i = 0; i < n; ++i, ++tests) {
          if (requests[i] == MPI_REQUEST_NULL) continue;
          if (any_of_own(3) == 0) FORETRACE_COMPUTE(any_of_own(40));
          MPI_Test(&requests[i], &flag, &statuses[i]);
          done += flag;
        }
    } else {
      for (int i = n; i-- > 0;) MPI_Wait(&requests[i], &statuses[i]);
    }
    add(tests);
    int at = 0;
    if (!taken)
      for (; at < receives; ++at) note(in[at], &statuses[at]);
    else
      for (at = 0; at < receives; ++at) note(in[at], &statuses[n - receives + at]);
    if (wild || any(4) == 0) MPI_Barrier(MPI_COMM_WORLD);
    /* All from one rank: a named receive behind a wildcard gets what that leaves. */
    const int left = (rank + size - 1) % size, first_wild = any(3), tested = any(2);
    for (int i = 0; i < 3; ++i)
      MPI_Irecv(in[i], kBytes, MPI_BYTE, i == first_wild ? MPI_ANY_SOURCE : left,
                i == first_wild && tested ? MPI_ANY_TAG : 3, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; ++i) {
      memset(out[i], 100 + i, 200);
      MPI_Isend(out[i], 200, MPI_BYTE, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[3 + i]);
    }
    MPI_Waitall(6, requests, statuses);
    for (int i = 0; i < 3; ++i) note(in[i], &statuses[i]);
    for (int i = 0; i < 3; ++i)
      if (in[i][0] != 100 + i) printf("message %d of %d came out of order\n", i, rank);
    /* Made of messages of the library's own. */
    const int own_bytes = 1 + any(200);
    MPI_Request neighbours;
    memset(out[0], rank + round, own_bytes);
    MPI_Ineighbor_allgather(out[0], own_bytes, MPI_CHAR, in[0], own_bytes, MPI_CHAR, ring, &neighbours);
    for (flag = 0; !flag; add(flag)) MPI_Test(&neighbours, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * own_bytes; ++i) add((unsigned char)in[0][i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&ring);
  printf("%d %lx\n", rank, digest);
  MPI_Finalize();
  return 0;
}
"""

HANGS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Ssend(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* which nobody receives */
    MPI_Send(&word, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  }
  if (rank > 1) {
    MPI_Recv(&word, 1, MPI_INT, rank == 2 ? 0 : 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Send(&word, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    puts("came so far");
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

ENDS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, in[2], out = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int peers[2] = {(rank + 1) % size, (rank + size - 1) % size};
  for (int round = 0; round < 100; ++round) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    for (int i = 0; i < 2; ++i) MPI_Irecv(&in[i], 1, MPI_INT, peers[i], 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; ++i) MPI_Isend(&out, 1, MPI_INT, peers[i], 0, MPI_COMM_WORLD, &requests[2 + i]);
    MPI_Waitall(4, requests, statuses);
    if (round == 50 && rank == size / 2) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return 0;
}
"""


RING = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, in, out = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 2000; ++i)
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


class Ahead(harness_live.TestCase):
    def test_same_with_and_without(self):
        program = self.compile(PROGRAM)
        gap = self.write("gap.toml", harness.with_gap(harness.T3D.read_text(), 300))
        for seed, ranks in ((1, 2), (2, 3), (3, 5), (4, 8), (5, 16), (6, 1)):
            machine = gap if seed % 2 else harness.T3D
            for eager in ((), ("--loggps", "S=1000")):
                with self.subTest(seed=seed, ranks=ranks, eager=eager):
                    traces, lines = [], []
                    for ahead in ("on", "off"):
                        trace = self.live(ranks, [program, seed], options=eager, machine=machine, name=f"{ahead}.ftr",
                                          env={"FORETRACE_LIVE_AHEAD": ahead})
                        traces.append(trace.read_bytes())
                        lines.append(sorted(harness_live.said(self.result)))
                    self.assertEqual(*lines)
                    self.assertFalse([line for line in lines[0] if "order" in line])
                    self.assertEqual(*traces)

    def test_nobody_gets_what_is_never_sent(self):
        program = self.compile(HANGS)
        for ahead in ("on", "off"):
            with self.subTest(ahead=ahead):
                self.live(4, [program], status=1, env={"FORETRACE_LIVE_AHEAD": ahead})
                self.assertNotIn("came so far", self.result.out)
                self.assertIn("MPI_Ssend", self.result.err)

    def test_programs_in_cpp(self):
        """Open MPI's C++ bindings are in each of them, and can withdraw messages: that alone says nothing."""
        source, program = self.write("ring.cpp", RING), self.directory / "ring"
        self.ok(harness.run([f"mpicxx.{harness.mpi}", "-O1", source, "-o", program]))
        traces, switches = [], []
        for ahead in ("on", "off"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
            trace = self.live(4, [program], compute="none", name=f"{ahead}.ftr", env={"FORETRACE_LIVE_AHEAD": ahead})
            switches.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before)
            traces.append(trace.read_bytes())
        self.assertEqual(*traces)
        self.assertLess(switches[0], switches[1] / 2)

    def test_nothing_is_later_than_the_end(self):
        program = self.compile(ENDS)
        traces = {self.live(32, [program], status=3, env={"FORETRACE_LIVE_AHEAD": ahead}).read_bytes()
                  for ahead in ("off", "on", "on", "on")}
        self.assertEqual(len(traces), 1)


if __name__ == "__main__":
    harness.main()
