"""Looks for whatever message comes first: a rank that knows how far the others are answers them itself.

Random programs look by probes and by tests of wildcard receives, and look at the clock.
FORETRACE_LIVE_AHEAD=off makes every look ask the simulator.
"""

import resource

import harness_live
from harness_live import harness

# What both random programs begin with.
DRAWS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long state, own_state; /* the same on all ranks, and each rank its own */
static int next(unsigned long *from, int below) {
  *from = *from * 6364136223846793005ul + 1442695040888963407ul;
  return (int)((*from >> 33) % (unsigned long)below);
}
static int any(int below) { return next(&state, below); }
static int own(int below) { return next(&own_state, below); }
static unsigned long digest = 5381;
static void add(unsigned long value) { digest = digest * 31 + value; }
"""

PROGRAM = DRAWS + r"""
enum { kMost = 24, kBytes = 3000, kOpen = 3 };
static int rank, size;
static void note(const char *buffer, MPI_Status *status) {
  int count;
  MPI_Get_count(status, MPI_BYTE, &count);
  add(status->MPI_SOURCE), add(status->MPI_TAG), add(count);
  for (int i = 0; i < count; i += 97) add((unsigned char)buffer[i]);
}
static char in[kOpen][kBytes], out[kMost][kBytes];
static MPI_Request sends[kMost];
static int messages, sent, from[kMost], to[kMost], tag[kMost], bytes[kMost];
static void send_some(int slowly) {
  for (; sent < messages && (!slowly || own(4) > 0); ++sent) {
    if (from[sent] != rank) continue;
    memset(out[sent], sent, bytes[sent]);
    MPI_Isend(out[sent], bytes[sent], MPI_BYTE, to[sent], tag[sent], MPI_COMM_WORLD, &sends[sent]);
    if (slowly) FORETRACE_COMPUTE(own(7));
  }
}
/* Now and then it works for certain: a program that only looks does so for longer and longer. A lazy
   one lets that come about. */
static int lazy;
static void between(void) {
  static int calls;
  const int what = own(8);
  if (what < (lazy ? 1 : 3) || ++calls % (lazy ? 60 : 12) == 0) FORETRACE_COMPUTE(own(30) + 0.001 * rank);
  if (what == 3) add((unsigned long)(MPI_Wtime() * 1e12));
  if (what > 5) send_some(1);
}
static void probe(int named, int takes) {
  int flag = 0;
  MPI_Status status;
  MPI_Message message;
  for (int source = 0; !flag; source = (source + 1) % size) {
    const int asked = named ? source : MPI_ANY_SOURCE, like = own(3) ? MPI_ANY_TAG : own(2);
    if (takes)
      MPI_Improbe(asked, like, MPI_COMM_WORLD, &flag, &message, &status);
    else
      MPI_Iprobe(asked, like, MPI_COMM_WORLD, &flag, &status);
    if (!flag) between();
  }
  if (takes)
    MPI_Mrecv(in[0], kBytes, MPI_BYTE, &message, &status);
  else
    MPI_Recv(in[0], kBytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
  note(in[0], &status);
}
static void test(int mine, int how, int probes) {
  MPI_Request open[kOpen];
  int posted = 0, done = 0, tests = 0;
  for (int i = 0; i < kOpen; ++i) open[i] = MPI_REQUEST_NULL;
  while (done < mine) {
    int flag = 0, indices[kOpen], count = 0;
    MPI_Status statuses[kOpen];
    for (int i = 0; i < kOpen; ++i)
      if (open[i] == MPI_REQUEST_NULL && posted < mine)
        MPI_Irecv(in[i], kBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &open[i]), ++posted;
    if (probes) {
      /* Nothing is left for it as long as a receive is open. */
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      add(flag);
    }
    if (how == 0) {
      MPI_Testany(kOpen, open, &indices[0], &flag, &statuses[0]);
      count = flag && indices[0] != MPI_UNDEFINED;
    } else if (how == 1) {
      MPI_Testsome(kOpen, open, &count, indices, statuses);
    } else {
      for (int i = 0; i < kOpen && count == 0; ++i) {
        if (open[i] == MPI_REQUEST_NULL) continue;
        MPI_Test(&open[i], &flag, &statuses[0]);
        if (flag) indices[count++] = i;
      }
    }
    for (int i = 0; i < count; ++i, ++done) add(indices[i]), note(in[indices[i]], &statuses[i]);
    ++tests;
    if (count == 0) between();
  }
  add(tests);
}
int main(int argc, char **argv) {
  state = (unsigned long)atol(argv[1]);
  lazy = argc > 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  own_state = state + 7919ul * (unsigned long)rank;
  for (int round = 0; round < 60; ++round) {
    int mine = 0, flag = 0;
    const int how = any(8), alike = any(2);
    sent = 0;
    messages = 1 + any(kMost);
    for (int i = 0; i < messages; ++i) {
      from[i] = any(size), to[i] = any(size), tag[i] = any(2);
      bytes[i] = any(4) ? 8 * any(4) : any(kBytes);
      sends[i] = MPI_REQUEST_NULL;
      mine += to[i] == rank;
    }
    if (alike) send_some(0);
    if (how < 3) {
      for (; mine > 0; --mine) probe(how == 1, how == 2);
    } else if (how < 7) {
      test(mine, how - 3, how == 6);
    } else {
      send_some(0);
      MPI_Status status;
      for (; mine > 0; --mine) {
        MPI_Recv(in[0], kBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        note(in[0], &status);
        FORETRACE_COMPUTE(own(9));
      }
    }
    send_some(0);
    MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (; !flag; between()) MPI_Test(&all, &flag, MPI_STATUS_IGNORE);
  }
  printf("%d %lx\n", rank, digest);
  MPI_Finalize();
  return 0;
}
"""

# All kinds of requests at a time, on two communicators: sends, some of which wait for their receivers;
# receives, of which some name source and tag; collectives. Now and then a probe looks as well.
MIXED = DRAWS + r"""
enum { kMost = 16, kBytes = 3000, kAll = 2 * kMost + 1 };
static int rank, size, lazy, count;
static MPI_Comm comms[2];
static char in[kMost][kBytes], out[kMost][kBytes];
static int messages, sent, from[kMost], to[kMost], tag[kMost], bytes[kMost], mode[kMost], comm[kMost];
static MPI_Request all[kAll];
static void send_some(int slowly) {
  for (; sent < messages && (!slowly || own(4) > 0); ++sent) {
    if (from[sent] != rank) continue;
    memset(out[sent], sent, bytes[sent]);
    (mode[sent] == 0 ? MPI_Issend : MPI_Isend)(out[sent], bytes[sent], MPI_BYTE, to[sent], tag[sent],
                                               comms[comm[sent]], &all[count++]);
    if (slowly) FORETRACE_COMPUTE(own(7));
  }
}
static void between(void) {
  static int calls;
  const int what = own(8);
  if (what < (lazy ? 1 : 3) || ++calls % (lazy ? 60 : 12) == 0) FORETRACE_COMPUTE(own(30) + 0.001 * rank);
  if (what == 3) add((unsigned long)(MPI_Wtime() * 1e12));
  if (what == 4) {
    int flag;
    MPI_Status status;
    MPI_Iprobe(own(2) ? MPI_ANY_SOURCE : own(size), MPI_ANY_TAG, comms[own(2)], &flag, &status);
    if (flag) add(status.MPI_SOURCE), add(status.MPI_TAG);
    add(flag);
  }
  if (what > 5) send_some(1);
}
/* How many are done; testsome and its kin tell which. */
static int look(int how, int *indices, MPI_Status *statuses) {
  int flag = 0, done = 0;
  if (how == 0) {
    MPI_Testany(count, all, &indices[0], &flag, &statuses[0]);
    return flag && indices[0] != MPI_UNDEFINED;
  }
  if (how == 1) {
    MPI_Testsome(count, all, &done, indices, statuses);
    return done == MPI_UNDEFINED ? 0 : done;
  }
  if (how == 2) {
    for (int i = 0; i < count && !flag; ++i) {
      if (all[i] == MPI_REQUEST_NULL) continue;
      MPI_Test(&all[i], &flag, &statuses[0]);
      indices[0] = i;
    }
    return flag;
  }
  MPI_Testall(count, all, &flag, statuses);
  return 0;
}
int main(int argc, char **argv) {
  state = (unsigned long)atol(argv[1]);
  lazy = argc > 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  own_state = state + 7919ul * (unsigned long)rank;
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  for (int round = 0; round < 40; ++round) {
    const int how = any(4), collective = any(4), named = any(4), late = any(2), root = any(size);
    int open = 1, sum = 0, value = rank + round;
    sent = 0, count = 0;
    messages = 1 + any(kMost);
    for (int i = 0; i < messages; ++i) {
      from[i] = any(size), to[i] = any(size), tag[i] = named == 0 ? 1 : any(3), comm[i] = any(2);
      bytes[i] = any(4) ? 8 * any(4) : any(kBytes);
      mode[i] = any(6);
    }
    if (!late) send_some(0);
    if (collective == 1) MPI_Ibarrier(comms[any(2)], &all[count++]);
    for (int i = 0; i < messages; ++i)
      if (to[i] == rank) {
        MPI_Irecv(in[i], kBytes, MPI_BYTE, named == 0 ? MPI_ANY_SOURCE : from[i], named > 1 ? tag[i] : MPI_ANY_TAG,
                  comms[comm[i]], &all[count++]);
        if (named == 2 && own(2)) between();
      }
    if (collective == 2) MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[any(2)], &all[count++]);
    if (collective == 3) MPI_Ibcast(&value, 1, MPI_INT, root, comms[1], &all[count++]);
    while (open) {
      int indices[kAll];
      MPI_Status statuses[kAll];
      const int done = look(how, indices, statuses);
      for (int i = 0; i < done; ++i) add(indices[i]), add(statuses[i].MPI_SOURCE), add(statuses[i].MPI_TAG);
      open = sent < messages;
      for (int i = 0; i < count; ++i) open |= all[i] != MPI_REQUEST_NULL;
      if (open && done == 0) between();
    }
    for (int i = 0; i < messages; ++i)
      if (to[i] == rank) add((unsigned char)in[i][0]);
    add(sum);
    if (any(3) == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      continue;
    }
    int flag = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &all[0]);
    for (; !flag; between()) MPI_Test(&all[0], &flag, MPI_STATUS_IGNORE);
  }
  printf("%d %lx\n", rank, digest);
  MPI_Comm_free(&comms[1]);
  MPI_Finalize();
  return 0;
}
"""

# Each rank looks every microsecond or so, and sends to its neighbour at one look in eight.
LOOKS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, size, flag, word = 0, received = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int probes = strcmp(argv[1], "probes") == 0;
  if (!probes) MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2000; ++i) {
    FORETRACE_COMPUTE(1 + 0.01 * rank + 0.1 * ((i * 7 + rank) % 11));
    if (i % 8 == 0) MPI_Send(&i, 1, MPI_INT, (rank + 1 + i / 8 % (size - 1)) % size, 0, MPI_COMM_WORLD);
    if (probes) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    else MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (flag && probes) MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (flag && !probes) MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    received += flag;
  }
  if (!probes) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return received == 0;
}
"""


class Looks(harness_live.TestCase):
    def test_same_as_if_each_look_asked(self):
        program = self.compile(PROGRAM)
        gap = self.write("gap.toml", harness.with_gap(harness.T3D.read_text(), 300, small=200))
        for seed, ranks in ((1, 2), (2, 3), (3, 4), (4, 7), (5, 12), (6, 1)):
            for machine, options in ((harness.T3D, ()), (harness.T3D, ("--loggps", "S=1000")),
                                     (gap, ()), (gap, ("--loggps", "S=1000"))):
                self.compare(ranks, [program, seed], machine, options)

    def test_same_where_looks_wait(self):
        """Of a row of looks in vain the later ones wait. The last five programs have rows of more than 30 while
        other ranks compute."""
        program = self.compile(PROGRAM)
        for seed, ranks in ((11, 2), (12, 3), (16, 4), (17, 5), (14, 6),
                            (440, 2), (426, 3), (402, 4), (438, 5), (458, 5)):
            self.compare(ranks, [program, seed, "lazy"], harness.T3D)

    def test_same_among_all_kinds(self):
        """A probe leaves alone what a receive that was posted before gets, even if it is not known which receive."""
        program = self.compile(MIXED, "mixed")
        gap = self.write("gap.toml", harness.with_gap(harness.T3D.read_text(), 90, small=1000))
        for seed, ranks in ((1, 2), (2, 3), (3, 4), (4, 6), (5, 3), (6, 2)):
            for machine, options in ((harness.T3D, ()), (gap, ("--loggps", "S=1000"))):
                self.compare(ranks, [program, seed] + ["lazy"] * (seed % 2), machine, options)

    def test_same_where_messages_leave_later(self):
        """With gap a message leaves when those before it have, and ends while its receiver looks, or after."""
        program = self.compile(PROGRAM)
        rendezvous = ("--loggps", "S=1000")
        for seed, ranks, gap, small, options in (
                (604, 6, 90, 1000, ()), (605, 2, 300, None, ()), (606, 3, 300, None, rendezvous),
                (612, 4, 90, 1000, rendezvous), (638, 5, 300, None, ()), (500, 2, 300, 200, rendezvous),
                (520, 2, 300, 200, rendezvous), (607, 4, 15, None, ()), (608, 5, 40, None, rendezvous),
                (610, 2, 1000, 8, ("--loggps", "S=20")), (611, 3, 1000, 8, ())):
            machine = self.write(f"gap{gap}.toml", harness.with_gap(harness.T3D.read_text(), gap, small=small))
            self.compare(ranks, [program, seed, "lazy"], machine, options)

    def compare(self, ranks, command, machine, options=()):
        with self.subTest(command=command[1:], ranks=ranks, machine=machine, options=options):
            traces, lines = [], []
            for ahead in ("off", "on"):
                # Tens of thousands of switches between processes: on a busy machine each has to wait.
                trace = self.live(ranks, command, limit=200, machine=machine, options=options, name=f"{ahead}.ftr",
                                  env={"FORETRACE_LIVE_AHEAD": ahead})
                traces.append(trace.read_bytes())
                lines.append(sorted(harness_live.said(self.result)))
            self.assertEqual(lines[0], lines[1])
            self.assertEqual(traces[0], traces[1])

    def test_few_switches(self):
        """What costs is switches between processes: two or more where a look asks. A probe needs the rank that
        is furthest behind to come by; a test of a receive looks ahead by what a message takes."""
        program = self.compile(LOOKS)
        looks = 4 * 2000
        for how, most in (("probes", 2), ("tests", 0.3)):
            with self.subTest(how=how):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
                self.live(4, [program, how])
                switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
                self.assertLess(switches, most * looks)

    def test_ranks_that_wait_in_looks_ask_nobody(self):
        """Most looks of this program wait, and end since all ranks look: the ranks know which is the first."""
        program = self.compile((harness.SOURCE / "bench/capture/polling.c").read_text(), "bench")
        items = 3000
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
        self.live(4, [program, "probes", items], compute="none")
        switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
        self.assertLess(switches, 4 * items)

    def test_nobody_sends_any_more(self):
        """Rank 1 looks on, with more and more patience, when rank 0 has long gone."""
        program = self.compile(r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, flag;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 1 && i < 100; ++i)
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
""")
        traces = {self.live(2, [program], env={"FORETRACE_LIVE_AHEAD": ahead}).read_bytes()
                  for ahead in ("off", "on", "on")}
        self.assertEqual(len(traces), 1)


if __name__ == "__main__":
    harness.main()
