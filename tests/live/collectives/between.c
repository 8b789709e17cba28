/* live: ranks 2 3 4 7 8 */
/* Collectives of inter-communicators, in all forms that there are. */
#include "collectives.h"

static MPI_Comm between;
static int here, there, me, side; /* members of the two groups, rank and which group */
static int seed;                  /* argument of the program */
static int number;

static const struct layout *from, *into;

/* What a member of a group has for another: ranks of the second group count from 100. */
static int name_of(int of_side, int rank) {
  return of_side * 100 + rank;
}

/* Which rank is the root, in both groups' words. */
struct root {
  int side, rank, argument, is_root, is_far;
};
static struct root any_root(void) {
  struct root root;
  root.side = (int)random_below(2);
  root.rank = (int)random_below((unsigned)(root.side == side ? here : there));
  root.is_root = root.side == side && root.rank == me;
  root.is_far = root.side != side;
  root.argument = root.is_far ? root.rank : root.is_root ? MPI_ROOT : MPI_PROC_NULL;
  return root;
}

static int any_count(void) {
  return (int)random_below(4) * UNIT;
}

static void bcast(enum form form) {
  const struct root root = any_root();
  const int amount = any_count(), count = amount / into->n;
  struct job* job = new_job("bcast", form, 0, (long)count * into->extent);
  if (root.is_root) fill(job->initial, into, count, number, name_of(root.side, root.rank), 0);
  if (root.is_root || root.is_far)
    fill(job->expected, into, count, number, name_of(root.side, root.rank), 0);
  ready(job);
  CALL(job, Bcast, bcast, job->receive, count, into->type, root.argument, between);
  add_job(job, 2);
}

static void gather(enum form form, int various) {
  const struct root root = any_root();
  const int sources = root.side == 0 ? (side == 0 ? there : here) : (side == 0 ? here : there);
  const int same = any_count(), far = 1 - root.side;
  int amounts[MOST], counts[MOST], places[MOST], end = 0;
  for (int i = 0; i < sources; ++i) {
    amounts[i] = various ? any_count() : same;
    counts[i] = amounts[i] / into->n;
    places[i] = end;
    end += counts[i] + various;
  }
  const int count = root.is_far ? amounts[me] / from->n : 0;
  struct job* job = new_job(various ? "gatherv" : "gather", form, (long)count * from->extent,
                            root.is_root ? (long)end * into->extent : 0);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  if (root.is_far) fill(job->send, from, count, number, name_of(far, me), 0);
  for (int i = 0; i < sources && root.is_root; ++i)
    fill(job->expected + places[i] * into->extent, into, counts[i], number, name_of(far, i), 0);
  ready(job);
  if (various)
    CALL(job, Gatherv, gatherv, job->send, count, from->type, job->receive,
         root.is_root ? job->counts[0] : NULL, root.is_root ? job->counts[1] : NULL, into->type,
         root.argument, between);
  else
    CALL(job, Gather, gather, job->send, count, from->type, job->receive, same / into->n,
         into->type, root.argument, between);
  add_job(job, 2);
}

static void scatter(enum form form, int various) {
  const struct root root = any_root();
  const int targets = root.side == 0 ? (side == 0 ? there : here) : (side == 0 ? here : there);
  const int same = any_count();
  int amounts[MOST], counts[MOST], places[MOST], end = 0;
  for (int i = 0; i < targets; ++i) {
    amounts[i] = various ? any_count() : same;
    counts[i] = amounts[i] / from->n;
    places[i] = end;
    end += counts[i] + various;
  }
  const int count = root.is_far ? amounts[me] / into->n : 0;
  struct job* job =
      new_job(various ? "scatterv" : "scatter", form, root.is_root ? (long)end * from->extent : 0,
              (long)count * into->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  const int sender = name_of(root.side, root.rank);
  for (int i = 0; i < targets && root.is_root; ++i)
    fill(job->send + places[i] * from->extent, from, counts[i], number, sender, i);
  if (root.is_far) fill(job->expected, into, count, number, sender, me);
  ready(job);
  if (various)
    CALL(job, Scatterv, scatterv, job->send, root.is_root ? job->counts[0] : NULL,
         root.is_root ? job->counts[1] : NULL, from->type, job->receive, count, into->type,
         root.argument, between);
  else
    CALL(job, Scatter, scatter, job->send, same / from->n, from->type, job->receive, count,
         into->type, root.argument, between);
  add_job(job, 2);
}

/* The amounts of the two groups differ: [0] is the first one's. */
static void allgather(enum form form, int various) {
  int amounts[2][MOST], counts[MOST], places[MOST], end = 0;
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < MOST; ++i) amounts[s][i] = various || i == 0 ? any_count() : amounts[s][0];
  const int count = amounts[side][me] / from->n;
  for (int i = 0; i < there; ++i) {
    counts[i] = amounts[1 - side][i] / into->n;
    places[i] = end;
    end += counts[i] + various;
  }
  struct job* job = new_job(various ? "allgatherv" : "allgather", form, (long)count * from->extent,
                            (long)end * into->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  fill(job->send, from, count, number, name_of(side, me), 0);
  for (int i = 0; i < there; ++i)
    fill(job->expected + places[i] * into->extent, into, counts[i], number, name_of(1 - side, i),
         0);
  ready(job);
  if (various)
    CALL(job, Allgatherv, allgatherv, job->send, count, from->type, job->receive, job->counts[0],
         job->counts[1], into->type, between);
  else
    CALL(job, Allgather, allgather, job->send, count, from->type, job->receive, counts[0],
         into->type, between);
  add_job(job, 2);
}

static void alltoall(enum form form, int various) {
  int amounts[2][MOST][MOST]; /* from a group's member to a member of the other */
  int out[MOST] = {0}, in[MOST] = {0}, out_places[MOST], in_places[MOST], out_end = 0, in_end = 0;
  for (int s = 0; s < 2; ++s) {
    const int same = any_count();
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) amounts[s][i][j] = various ? any_count() : same;
  }
  for (int i = 0; i < there; ++i) {
    out[i] = amounts[side][me][i] / from->n;
    in[i] = amounts[1 - side][i][me] / into->n;
    out_places[i] = out_end;
    in_places[i] = in_end;
    out_end += out[i] + various;
    in_end += in[i] + various;
  }
  static const char* const names[] = {"alltoall", "alltoallv", "alltoallw"};
  struct job* job =
      new_job(names[various], form, (long)out_end * from->extent, (long)in_end * into->extent);
  for (int i = 0; i < there; ++i) {
    const int out_unit = various == 2 ? from->extent * (int)sizeof(int) : 1;
    const int in_unit = various == 2 ? into->extent * (int)sizeof(int) : 1;
    job->counts[0][i] = out[i];
    job->counts[1][i] = out_places[i] * out_unit;
    job->counts[2][i] = in[i];
    job->counts[3][i] = in_places[i] * in_unit;
    job->types[0][i] = from->type;
    job->types[1][i] = into->type;
    fill(job->send + out_places[i] * from->extent, from, out[i], number, name_of(side, me),
         name_of(1 - side, i));
    fill(job->expected + in_places[i] * into->extent, into, in[i], number, name_of(1 - side, i),
         name_of(side, me));
  }
  ready(job);
  if (various == 0)
    CALL(job, Alltoall, alltoall, job->send, out[0], from->type, job->receive, in[0], into->type,
         between);
  else if (various == 1)
    CALL(job, Alltoallv, alltoallv, job->send, job->counts[0], job->counts[1], from->type,
         job->receive, job->counts[2], job->counts[3], into->type, between);
  else
    CALL(job, Alltoallw, alltoallw, job->send, job->counts[0], job->counts[1], job->types[0],
         job->receive, job->counts[2], job->counts[3], job->types[1], between);
  add_job(job, 2);
}

/* Sums of ints: each result is the other group's. */
static int summed(int n, int of_side, int i) {
  int sum = 0;
  for (int rank = 0; rank < n; ++rank) sum += value(number, name_of(of_side, rank), 0, i);
  return sum;
}
static void reduce(enum form form) {
  const struct root root = any_root();
  const int count = any_count();
  struct job* job = new_job("reduce", form, count, root.is_root ? count : 0);
  for (int i = 0; i < count; ++i) {
    job->send[i] = value(number, name_of(side, me), 0, i);
    if (root.is_root) job->expected[i] = summed(there, 1 - side, i);
  }
  ready(job);
  CALL(job, Reduce, reduce, job->send, job->receive, count, MPI_INT, MPI_SUM, root.argument,
       between);
  add_job(job, 1);
}
static void allreduce(enum form form) {
  const int count = any_count();
  struct job* job = new_job("allreduce", form, count, count);
  for (int i = 0; i < count; ++i) {
    job->send[i] = value(number, name_of(side, me), 0, i);
    job->expected[i] = summed(there, 1 - side, i);
  }
  ready(job);
  CALL(job, Allreduce, allreduce, job->send, job->receive, count, MPI_INT, MPI_SUM, between);
  add_job(job, 1);
}
/* Each group scatters the same total: a multiple of both sizes. */
static void reduce_scatter(enum form form, int block) {
  const int total = here * there * (int)random_below(3), mine = total / here;
  struct job* job = new_job(block ? "reduce_scatter_block" : "reduce_scatter", form, total, mine);
  for (int i = 0; i < here; ++i) job->counts[0][i] = mine;
  for (int i = 0; i < total; ++i) job->send[i] = value(number, name_of(side, me), 0, i);
  for (int i = 0; i < mine; ++i) job->expected[i] = summed(there, 1 - side, me * mine + i);
  ready(job);
  if (block)
    CALL(job, Reduce_scatter_block, reduce_scatter_block, job->send, job->receive, mine, MPI_INT,
         MPI_SUM, between);
  else
    CALL(job, Reduce_scatter, reduce_scatter, job->send, job->receive, job->counts[0], MPI_INT,
         MPI_SUM, between);
  add_job(job, 1);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  seed = argc > 1 ? atoi(argv[1]) : 0;
  make_layouts();
  MPI_Comm group;
  side = check_rank >= (check_size + 1) / 3; /* the second group is the larger one */
  if (check_size == 2) side = check_rank;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD,
                       side ? 0 : (check_size == 2 ? 1 : (check_size + 1) / 3), 5, &between);
  MPI_Comm_size(between, &here);
  MPI_Comm_remote_size(between, &there);
  MPI_Comm_rank(between, &me);
  random_state = seed + 31;
  for (number = 0; number < 200; ++number) {
    enum form form = any_form();
    from = any_layout();
    into = any_layout();
    const int which = (int)random_below(15);
#ifdef OPEN_MPI
    if (real_mpi()) form = BLOCKING; /* it has not all forms */
    if (real_mpi() && which == 5) continue;
#else
    if (real_mpi() && which == 1) form = BLOCKING;
#endif
    if (which == 0) {
      struct job* job = new_job("barrier", form, 0, 0);
      CALL(job, Barrier, barrier, between);
      add_job(job, 2);
    }
    if (which == 1) bcast(form);
    if (which == 2 || which == 3) gather(form, which == 3);
    if (which == 4 || which == 5) scatter(form, which == 5);
    if (which == 6 || which == 7) allgather(form, which == 7);
    if (which >= 8 && which <= 10) alltoall(form, which - 8);
    if (which == 11) reduce(form);
    if (which == 12) allreduce(form);
    if (which >= 13) reduce_scatter(form, which == 14);
  }
  end_all();
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
  free_layouts();
  return check_end();
}
