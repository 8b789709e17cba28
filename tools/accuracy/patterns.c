/* patterns NAME BYTES TIMES [untouched]: one small pattern of messages, TIMES times. Prints
   seconds.

   ring        everybody gives to the right at the same time (Sendrecv)
   halo        both neighbours of a ring (Irecv, Isend, Waitall)
   pingpong    first and last rank, back and forth
   all-to-one  everybody sends to rank 0, which receives in their order
   one-to-all  rank 0 sends to everybody in their order
   halves      random halves: half of the ranks each send to one of the other half, drawn anew each
   time pipeline    from rank to rank, in 8 parts allreduce, bcast, alltoall, allgather, gather,
   barrier   the collectives; alltoall has BYTES for each rank work        computing of uneven
   length, then allreduce

   Before each time every rank writes into what it sends, as programs do; with `untouched` nobody
   does, as in most benchmarks: then the data lie in the receiver's cache from the time before.

   Rank 0 computes for some milliseconds first, so that ranks do not begin in step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
  int rank, ranks, bytes, turn;
  char *out[2], *in[2]; /* each of BYTES for every rank */
};

static MPI_Comm world; /* MPI_COMM_WORLD is no constant under SMPI */
static unsigned long state = 12345;

static int below(int limit) {
  state = (6364136223846793005ul * state + 1442695040888963407ul) & 0xffffffffffffffful;
  return (int)((state >> 28) % (unsigned long)limit);
}

static void compute(int steps) {
  volatile double sum = 0;
  for (int i = 0; i < steps; ++i) sum += i;
}

/* A byte of each line of the cache. */
static void write_lines(struct pattern* p) {
  for (int i = 0; i < 2; ++i)
    for (size_t at = 0; at < (size_t)p->bytes * (size_t)p->ranks; at += 64)
      p->out[i][at] = (char)p->turn;
}

static void ring(struct pattern* p) {
  MPI_Sendrecv(p->out[0], p->bytes, MPI_BYTE, (p->rank + 1) % p->ranks, 0, p->in[0], p->bytes,
               MPI_BYTE, (p->rank + p->ranks - 1) % p->ranks, 0, world, MPI_STATUS_IGNORE);
}

static void halo(struct pattern* p) {
  const int next = (p->rank + 1) % p->ranks;
  const int before = (p->rank + p->ranks - 1) % p->ranks;
  MPI_Request all[4];
  MPI_Irecv(p->in[0], p->bytes, MPI_BYTE, before, 0, world, &all[0]);
  MPI_Irecv(p->in[1], p->bytes, MPI_BYTE, next, 1, world, &all[1]);
  MPI_Isend(p->out[0], p->bytes, MPI_BYTE, next, 0, world, &all[2]);
  MPI_Isend(p->out[1], p->bytes, MPI_BYTE, before, 1, world, &all[3]);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
}

static void pingpong(struct pattern* p) {
  const int last = p->ranks - 1;
  if (p->rank == 0) {
    MPI_Send(p->out[0], p->bytes, MPI_BYTE, last, 0, world);
    MPI_Recv(p->in[0], p->bytes, MPI_BYTE, last, 0, world, MPI_STATUS_IGNORE);
  } else if (p->rank == last) {
    MPI_Recv(p->in[0], p->bytes, MPI_BYTE, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Send(p->out[0], p->bytes, MPI_BYTE, 0, 0, world);
  }
}

static void all_to_one(struct pattern* p) {
  if (p->rank > 0) MPI_Send(p->out[0], p->bytes, MPI_BYTE, 0, 0, world);
  for (int from = 1; p->rank == 0 && from < p->ranks; ++from)
    MPI_Recv(p->in[0], p->bytes, MPI_BYTE, from, 0, world, MPI_STATUS_IGNORE);
}

static void one_to_all(struct pattern* p) {
  if (p->rank > 0) MPI_Recv(p->in[0], p->bytes, MPI_BYTE, 0, 0, world, MPI_STATUS_IGNORE);
  for (int to = 1; p->rank == 0 && to < p->ranks; ++to)
    MPI_Send(p->out[0], p->bytes, MPI_BYTE, to, 0, world);
}

static void halves(struct pattern* p) {
  int order[1024];
  for (int i = 0; i < p->ranks; ++i) {
    const int other = below(i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  const int half = p->ranks / 2;
  for (int i = 0; i < half; ++i) {
    if (order[i] == p->rank) MPI_Send(p->out[0], p->bytes, MPI_BYTE, order[half + i], 0, world);
    if (order[half + i] == p->rank)
      MPI_Recv(p->in[0], p->bytes, MPI_BYTE, order[i], 0, world, MPI_STATUS_IGNORE);
  }
}

static void pipeline(struct pattern* p) {
  for (int part = 0; part < 8; ++part) {
    if (p->rank > 0)
      MPI_Recv(p->in[0], p->bytes / 8, MPI_BYTE, p->rank - 1, 0, world, MPI_STATUS_IGNORE);
    if (p->rank + 1 < p->ranks) MPI_Send(p->out[0], p->bytes / 8, MPI_BYTE, p->rank + 1, 0, world);
  }
}

static void allreduce(struct pattern* p) {
  MPI_Allreduce(p->out[0], p->in[0], p->bytes / 8, MPI_DOUBLE, MPI_SUM, world);
}

static void bcast(struct pattern* p) {
  MPI_Bcast(p->out[0], p->bytes, MPI_BYTE, 0, world);
}

static void alltoall(struct pattern* p) {
  MPI_Alltoall(p->out[0], p->bytes, MPI_BYTE, p->in[0], p->bytes, MPI_BYTE, world);
}

static void allgather(struct pattern* p) {
  MPI_Allgather(p->out[0], p->bytes, MPI_BYTE, p->in[0], p->bytes, MPI_BYTE, world);
}

static void gather(struct pattern* p) {
  MPI_Gather(p->out[0], p->bytes, MPI_BYTE, p->in[0], p->bytes, MPI_BYTE, 0, world);
}

static void barrier(struct pattern* p) {
  (void)p;
  MPI_Barrier(world);
}

static void work(struct pattern* p) {
  compute(20000 + 5000 * ((p->rank + p->turn) % p->ranks));
  allreduce(p);
}

static const struct {
  const char* name;
  void (*once)(struct pattern*);
} patterns[] = {{"ring", ring},
                {"halo", halo},
                {"pingpong", pingpong},
                {"all-to-one", all_to_one},
                {"one-to-all", one_to_all},
                {"halves", halves},
                {"pipeline", pipeline},
                {"allreduce", allreduce},
                {"bcast", bcast},
                {"alltoall", alltoall},
                {"allgather", allgather},
                {"gather", gather},
                {"barrier", barrier},
                {"work", work}};

int main(int argc, char** argv) {
  struct pattern p;
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &p.rank);
  MPI_Comm_size(world, &p.ranks);
  const char* name = argc > 1 ? argv[1] : "";
  const int times = argc > 3 ? atoi(argv[3]) : 0;
  const int untouched = argc > 4 && strcmp(argv[4], "untouched") == 0;
  p.bytes = argc > 2 ? atoi(argv[2]) : 0;
  void (*once)(struct pattern*) = NULL;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; ++i)
    if (strcmp(name, patterns[i].name) == 0) once = patterns[i].once;
  if (!once || p.bytes < 8 || times < 1 || p.ranks > 1024) {
    fprintf(
        stderr,
        "patterns: expected NAME BYTES TIMES [untouched], at least 8 bytes, at most 1024 ranks\n");
    MPI_Abort(world, 2);
  }
  for (int i = 0; i < 2; ++i) {
    p.out[i] = calloc((size_t)p.bytes, (size_t)p.ranks);
    p.in[i] = calloc((size_t)p.bytes, (size_t)p.ranks);
  }
  const double start = MPI_Wtime();
  if (p.rank == 0) compute(2000000);
  for (p.turn = 0; p.turn < times; ++p.turn) {
    if (!untouched) write_lines(&p);
    once(&p);
  }
  const double taken = MPI_Wtime() - start;
  double most = 0;
  MPI_Reduce(&taken, &most, 1, MPI_DOUBLE, MPI_MAX, 0, world);
  if (p.rank == 0) printf("%.6f\n", most);
  MPI_Finalize();
  return 0;
}
