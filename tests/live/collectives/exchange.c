/* Collectives that move data, at random: all functions, forms, roots, counts, displacements and
   datatypes, in place or not, on several communicators. */
#include "collectives.h"

static int seed;   /* argument of the program */
static int number; /* of the call */

/* Displacements in elements for pieces of these counts, in random order with random gaps.
   Returns the elements from the first to past the last. */
static int lay_out(int n, const int* counts, int* displacements) {
  int order[MOST], at = 0;
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) {
    const int j = (int)random_below((unsigned)i + 1), other = order[i];
    order[i] = order[j];
    order[j] = other;
  }
  for (int i = 0; i < n; ++i) {
    if (n > 1) at += (int)random_below(3); /* MPICH ignores a single member's */
    displacements[order[i]] = at;
    at += counts[order[i]];
  }
  return at;
}

static int units(void) {
  return random_below(4) == 0 ? 0 : (int)random_below(random_below(8) == 0 ? 400 : 5);
}

static void bcast(enum form form, MPI_Comm comm, int n, int me) {
  const int root = (int)random_below((unsigned)n), amount = units() * UNIT;
  const struct layout* layout[MOST];
  for (int i = 0; i < n; ++i) layout[i] = any_layout();
  const struct layout* mine = layout[me];
  const int count = amount / mine->n;
  struct job* job = new_job("bcast", form, 0, (long)count * mine->extent);
  if (me == root) fill(job->initial, mine, count, number, root, 0);
  fill(job->expected, mine, count, number, root, 0);
  ready(job);
  CALL(job, Bcast, bcast, job->receive, count, mine->type, root, comm);
  add_job(job, 2);
}

/* Gather and gatherv (various = 1). */
static void gather(enum form form, MPI_Comm comm, int n, int me, int various) {
  const int root = (int)random_below((unsigned)n), in_place = (int)random_below(2);
  int amounts[MOST];
  for (int i = 0; i < n; ++i) amounts[i] = various || i == 0 ? units() * UNIT : amounts[0];
  const struct layout *from = any_layout(), *into = any_layout();
  const int count = amounts[me] / from->n;
  int counts[MOST], places[MOST], end = n * amounts[0] / into->n;
  for (int i = 0; i < n; ++i) counts[i] = amounts[i] / into->n, places[i] = i * counts[i];
  if (various) end = lay_out(n, counts, places);
  struct job* job = new_job(various ? "gatherv" : "gather", form, (long)count * from->extent,
                            me == root ? (long)end * into->extent : 0);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  fill(job->send, from, count, number, me, 0);
  for (int i = 0; i < n && me == root; ++i)
    fill(job->expected + places[i] * into->extent, into, counts[i], number, i, 0);
  const int here = in_place && me == root;
  if (here) fill(job->initial + places[me] * into->extent, into, counts[me], number, me, 0);
  ready(job);
  const void* send = here ? MPI_IN_PLACE : job->send;
  if (various)
    CALL(job, Gatherv, gatherv, send, count, from->type, job->receive, job->counts[0],
         job->counts[1], into->type, root, comm);
  else
    CALL(job, Gather, gather, send, count, from->type, job->receive, counts[0], into->type, root,
         comm);
  add_job(job, 2);
}

static void scatter(enum form form, MPI_Comm comm, int n, int me, int various) {
  const int root = (int)random_below((unsigned)n), in_place = (int)random_below(2);
  int amounts[MOST];
  for (int i = 0; i < n; ++i) amounts[i] = various || i == 0 ? units() * UNIT : amounts[0];
  const struct layout *from = any_layout(), *into = any_layout();
  const int count = amounts[me] / into->n, here = in_place && me == root;
  int counts[MOST], places[MOST], end = n * amounts[0] / from->n;
  for (int i = 0; i < n; ++i) counts[i] = amounts[i] / from->n, places[i] = i * counts[i];
  if (various) end = lay_out(n, counts, places);
  struct job* job = new_job(various ? "scatterv" : "scatter", form,
                            me == root ? (long)end * from->extent : 0, (long)count * into->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  for (int i = 0; i < n && me == root; ++i)
    fill(job->send + places[i] * from->extent, from, counts[i], number, root, i);
  if (!here) fill(job->expected, into, count, number, root, me);
  ready(job);
  void* receive = here ? MPI_IN_PLACE : job->receive;
  if (various)
    CALL(job, Scatterv, scatterv, job->send, job->counts[0], job->counts[1], from->type, receive,
         count, into->type, root, comm);
  else
    CALL(job, Scatter, scatter, job->send, counts[0], from->type, receive, count, into->type, root,
         comm);
  add_job(job, 2);
}

static void allgather(enum form form, MPI_Comm comm, int n, int me, int various) {
  const int in_place = (int)random_below(2);
  int amounts[MOST];
  for (int i = 0; i < n; ++i) amounts[i] = various || i == 0 ? units() * UNIT : amounts[0];
  const struct layout *from = any_layout(), *into = any_layout();
  const int count = amounts[me] / from->n;
  int counts[MOST], places[MOST], end = n * amounts[0] / into->n;
  for (int i = 0; i < n; ++i) counts[i] = amounts[i] / into->n, places[i] = i * counts[i];
  if (various) end = lay_out(n, counts, places);
  struct job* job = new_job(various ? "allgatherv" : "allgather", form, (long)count * from->extent,
                            (long)end * into->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  fill(job->send, from, count, number, me, 0);
  for (int i = 0; i < n; ++i)
    fill(job->expected + places[i] * into->extent, into, counts[i], number, i, 0);
  if (in_place) fill(job->initial + places[me] * into->extent, into, counts[me], number, me, 0);
  ready(job);
  const void* send = in_place ? MPI_IN_PLACE : job->send;
  if (various)
    CALL(job, Allgatherv, allgatherv, send, count, from->type, job->receive, job->counts[0],
         job->counts[1], into->type, comm);
  else
    CALL(job, Allgather, allgather, send, count, from->type, job->receive, counts[0], into->type,
         comm);
  add_job(job, 2);
}

/* Alltoall, alltoallv (various = 1) and alltoallw (2). */
static void alltoall(enum form form, MPI_Comm comm, int n, int me, int various) {
  const int same = units() * UNIT;
  int in_place = random_below(3) == 0;
  /* In place, both get messages mixed up where counts differ. */
  if (various && form != BLOCKING && real_mpi()) in_place = 0;
  int amounts[MOST][MOST]; /* ints that go from .. to .. */
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) amounts[i][j] = various ? units() * UNIT : same;
  for (int i = 0; i < n && in_place; ++i) /* what goes out is what comes in */
    for (int j = 0; j < i; ++j) amounts[i][j] = amounts[j][i];
  const struct layout *from[MOST], *into[MOST];
  const struct layout *all_from = any_layout(), *all_into = any_layout();
  int out[MOST] = {0}, in[MOST] = {0}, out_places[MOST], in_places[MOST], out_end = 0, in_end = 0;
  for (int i = 0; i < n; ++i) {
    from[i] = various == 2 ? any_layout() : all_from;
    into[i] = various == 2 ? any_layout() : all_into;
  }
  for (int i = 0; i < n; ++i) {
    out[i] = amounts[me][i] / from[i]->n;
    in[i] = amounts[i][me] / into[i]->n;
    out_places[i] = i * out[i];
    in_places[i] = i * in[i];
    out_end += out[i];
    in_end += in[i];
  }
  int out_ints[MOST], in_ints[MOST]; /* displacements in ints */
  if (various == 2) {
    for (int i = 0; i < n; ++i) out[i] *= from[i]->extent, in[i] *= into[i]->extent;
    out_end = lay_out(n, out, out_ints);
    in_end = lay_out(n, in, in_ints);
    for (int i = 0; i < n; ++i) out[i] /= from[i]->extent, in[i] /= into[i]->extent;
  } else {
    if (various) out_end = lay_out(n, out, out_places), in_end = lay_out(n, in, in_places);
    out_end *= all_from->extent;
    in_end *= all_into->extent;
    for (int i = 0; i < n; ++i)
      out_ints[i] = out_places[i] * all_from->extent, in_ints[i] = in_places[i] * all_into->extent;
  }
  static const char* const names[] = {"alltoall", "alltoallv", "alltoallw"};
  struct job* job = new_job(names[various], form, out_end, in_end);
  for (int i = 0; i < n; ++i) {
    const int unit = various == 2 ? (int)sizeof(int) : 1;
    job->counts[0][i] = out[i];
    job->counts[1][i] = various == 2 ? out_ints[i] * unit : out_places[i];
    job->counts[2][i] = in[i];
    job->counts[3][i] = various == 2 ? in_ints[i] * unit : in_places[i];
    job->types[0][i] = from[i]->type;
    job->types[1][i] = into[i]->type;
    fill(job->send + out_ints[i], from[i], out[i], number, me, i);
    fill(job->expected + in_ints[i], into[i], in[i], number, i, me);
    if (in_place) fill(job->initial + in_ints[i], into[i], in[i], number, me, i);
  }
  ready(job);
  const void* send = in_place ? MPI_IN_PLACE : job->send;
  if (various == 2 && in_place && real_mpi()) MPI_Barrier(comm);
  if (various == 0)
    CALL(job, Alltoall, alltoall, send, out[0], all_from->type, job->receive, in[0], all_into->type,
         comm);
  else if (various == 1)
    CALL(job, Alltoallv, alltoallv, send, job->counts[0], job->counts[1], all_from->type,
         job->receive, job->counts[2], job->counts[3], all_into->type, comm);
  else
    CALL(job, Alltoallw, alltoallw, send, job->counts[0], job->counts[1], job->types[0],
         job->receive, job->counts[2], job->counts[3], job->types[1], comm);
  add_job(job, 2);
}

static void barrier(enum form form, MPI_Comm comm) {
  struct job* job = new_job("barrier", form, 0, 0);
  CALL(job, Barrier, barrier, comm);
  add_job(job, 2);
}

static void try_all(MPI_Comm comm, int calls) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < calls; ++i, ++number) {
    const enum form form = any_form();
    const unsigned which = random_below(11);
    if (which == 0) barrier(form, comm);
    if (which == 1) bcast(form, comm, n, me);
    if (which == 2 || which == 3) gather(form, comm, n, me, which == 3);
    if (which == 4 || which == 5) scatter(form, comm, n, me, which == 5);
    if (which == 6 || which == 7) allgather(form, comm, n, me, which == 7);
    if (which >= 8) alltoall(form, comm, n, me, (int)which - 8);
  }
  end_all();
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  seed = argc > 1 ? atoi(argv[1]) : 0;
  make_layouts();
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
  random_state = seed + 11;
  try_all(MPI_COMM_WORLD, 150);
  random_state = seed + 12 + (unsigned)check_rank % 2;
  try_all(part, 100);
  try_all(MPI_COMM_SELF, 30);
  MPI_Comm_free(&part);
  free_layouts();
  return check_end();
}
