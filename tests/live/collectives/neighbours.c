/* Neighbourhood collectives: grids (periodic or not, with dimensions of 1 and 2), graphs and
   distributed graphs with neighbours listed several times; all forms. */
#include "collectives.h"

enum { CALLS = 40 }; /* on each communicator */
static int seed;     /* argument of the program */
static int number;
/* Who sends the i-th piece that comes in, and which of its pieces it is. */
static int in, out, sources[MOST], pieces[MOST], me;

static int value_of(int sender, int piece, int i) {
  return value(number, sender, piece, i);
}
static void fill_piece(int* buffer, const struct layout* layout, int count, int sender, int piece) {
  for (int i = 0; i < count * layout->n; ++i)
    buffer[i / layout->n * layout->extent + layout->places[i % layout->n]] =
        value_of(sender, piece, i);
}
/* How many ints a piece has: both sides know. */
static int amount(int sender, int piece) {
  return (number * 7 + sender * 5 + piece * 3) % 4 * UNIT;
}

/* Allgather: pieces are all the same one, number 0. */
static void allgather(enum form form, MPI_Comm comm, int various) {
  const struct layout *from = any_layout(), *into = any_layout();
  const int same = (int)random_below(4) * UNIT;
  const int count = (various ? amount(me, 0) : same) / from->n;
  int counts[MOST], places[MOST], end = 0;
  for (int i = 0; i < in; ++i) {
    counts[i] = (sources[i] < 0 ? 0 : various ? amount(sources[i], 0) : same) / into->n;
    if (!various) counts[i] = same / into->n;
    places[i] = end;
    end += counts[i] + various;
  }
  struct job* job = new_job(various ? "neighbor_allgatherv" : "neighbor_allgather", form,
                            (long)count * from->extent, (long)end * into->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  memcpy(job->counts[1], places, sizeof places);
  fill_piece(job->send, from, count, me, 0);
  for (int i = 0; i < in; ++i)
    if (sources[i] >= 0)
      fill_piece(job->expected + places[i] * into->extent, into, counts[i], sources[i], 0);
  ready(job);
  if (various)
    CALL(job, Neighbor_allgatherv, neighbor_allgatherv, job->send, count, from->type, job->receive,
         job->counts[0], job->counts[1], into->type, comm);
  else
    CALL(job, Neighbor_allgather, neighbor_allgather, job->send, count, from->type, job->receive,
         same / into->n, into->type, comm);
  add_job(job, 2);
}

static MPI_Aint bytes_in[8 * MOST], bytes_out[8 * MOST];
static int slots;

static void alltoall(enum form form, MPI_Comm comm, int various) {
  const struct layout *from = any_layout(), *into = any_layout();
  const int same = (int)random_below(4) * UNIT;
  int out_counts[MOST], in_counts[MOST], out_places[MOST], in_places[MOST];
  int out_end = 0, in_end = 0;
  for (int i = 0; i < out; ++i) {
    out_counts[i] = (various ? amount(me, i) : same) / from->n;
    out_places[i] = out_end;
    out_end += out_counts[i] + various;
  }
  for (int i = 0; i < in; ++i) {
    in_counts[i] = (various && sources[i] >= 0 ? amount(sources[i], pieces[i]) : same) / into->n;
    in_places[i] = in_end;
    in_end += in_counts[i] + various;
  }
  static const char* const names[] = {"neighbor_alltoall", "neighbor_alltoallv",
                                      "neighbor_alltoallw"};
  struct job* job =
      new_job(names[various], form, (long)out_end * from->extent, (long)in_end * into->extent);
  /* Displacements of w are addresses; these live for the last calls. */
  slots = (slots + 1) % 8;
  MPI_Aint *in_bytes = bytes_in + slots * MOST, *out_bytes = bytes_out + slots * MOST;
  for (int i = 0; i < out; ++i) {
    job->counts[0][i] = out_counts[i];
    job->counts[1][i] = out_places[i];
    job->types[0][i] = from->type;
    out_bytes[i] = (MPI_Aint)sizeof(int) * out_places[i] * from->extent;
    fill_piece(job->send + out_places[i] * from->extent, from, out_counts[i], me, i);
  }
  for (int i = 0; i < in; ++i) {
    job->counts[2][i] = in_counts[i];
    job->counts[3][i] = in_places[i];
    job->types[1][i] = into->type;
    in_bytes[i] = (MPI_Aint)sizeof(int) * in_places[i] * into->extent;
    if (sources[i] >= 0)
      fill_piece(job->expected + in_places[i] * into->extent, into, in_counts[i], sources[i],
                 pieces[i]);
  }
  ready(job);
  if (various == 0)
    CALL(job, Neighbor_alltoall, neighbor_alltoall, job->send, same / from->n, from->type,
         job->receive, same / into->n, into->type, comm);
  else if (various == 1)
    CALL(job, Neighbor_alltoallv, neighbor_alltoallv, job->send, job->counts[0], job->counts[1],
         from->type, job->receive, job->counts[2], job->counts[3], into->type, comm);
  else
    CALL(job, Neighbor_alltoallw, neighbor_alltoallw, job->send, job->counts[0], out_bytes,
         job->types[0], job->receive, job->counts[2], in_bytes, job->types[1], comm);
  add_job(job, 2);
}

/* `several`: some rank is listed several times. */
static void try_all(MPI_Comm comm, int calls, int several) {
  (void)several;
  random_state = seed + 41;
  for (int i = 0; i < calls; ++i, ++number) {
    const enum form form = any_form();
    const int which = (int)random_below(5);
#ifdef MPICH_VERSION
    /* It sends the pieces for one rank in reverse order. */
    if (real_mpi() && (which == 2 || which == 4) && several) continue;
#endif
    if (which < 2)
      allgather(form, comm, which);
    else
      alltoall(form, comm, which - 2);
  }
  end_all();
}

static void grid(int dimensions, const int* sizes, const int* periods) {
  int ranks = 1, twice = 0;
  for (int i = 0; i < dimensions; ++i) {
    ranks *= sizes[i];
    twice |= periods[i] && sizes[i] <= 2;
  }
  if (ranks > check_size) return;
  /* Where both neighbours are the same rank, they do not do what MPI 4.0 says in 8.6. */
  if (twice && real_mpi()) return;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &comm);
  if (comm == MPI_COMM_NULL) {
    number += CALLS;
    return;
  }
  MPI_Comm_rank(comm, &me);
  in = out = 2 * dimensions;
  for (int i = 0; i < dimensions; ++i) {
    MPI_Cart_shift(comm, i, 1, &sources[2 * i], &sources[2 * i + 1]);
    /* What comes from below was sent upwards. */
    pieces[2 * i] = 2 * i + 1;
    pieces[2 * i + 1] = 2 * i;
  }
  for (int i = 0; i < in; ++i)
    if (sources[i] == MPI_PROC_NULL) sources[i] = -1;
  try_all(comm, CALLS, 0);
  MPI_Comm_free(&comm);
}

/* A ring in which each also has a double edge to itself. */
static void graph(void) {
  const int n = check_size;
  int index[MOST], edges[4 * MOST];
  for (int i = 0; i < n; ++i) {
    edges[3 * i] = (i + 1) % n;
    edges[3 * i + 1] = i;
    edges[3 * i + 2] = (i + n - 1) % n;
    index[i] = 3 * (i + 1);
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &comm);
  me = check_rank;
  in = out = 3;
  memcpy(sources, edges + 3 * me, 3 * sizeof(int));
  /* The n-th piece for this rank in the sender's list is the n-th from it in this one's. */
  for (int i = 0; i < 3; ++i) {
    int nth = 0, piece = -1;
    for (int j = 0; j < i; ++j) nth += sources[j] == sources[i];
    while (nth >= 0) nth -= edges[3 * sources[i] + ++piece] == me;
    pieces[i] = piece;
  }
  try_all(comm, CALLS, 1);
  MPI_Comm_free(&comm);
}

/* Rank i sends to i + 1, twice to i + 2, and the even ones to 0; nobody's lists are alike. */
static int targets_of(int rank, int* targets) {
  int n = 0;
  targets[n++] = (rank + 2) % check_size;
  targets[n++] = (rank + 1) % check_size;
  if (rank % 2 == 0) targets[n++] = 0;
  targets[n++] = (rank + 2) % check_size;
  return n;
}
static void distributed_graph(int empty) {
  int targets[MOST] = {0};
  me = check_rank;
  out = empty ? 0 : targets_of(me, targets);
  in = 0;
  /* Sources in descending order: what each sends stays in its order. */
  for (int rank = check_size - 1; rank >= 0 && !empty; --rank) {
    int theirs[MOST];
    const int n = targets_of(rank, theirs);
    for (int i = 0; i < n; ++i)
      if (theirs[i] == me) {
        sources[in] = rank;
        pieces[in++] = i;
      }
  }
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, targets,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  try_all(comm, CALLS, 1);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  seed = argc > 1 ? atoi(argv[1]) : 0;
  make_layouts();
  const int all = check_size;
  grid(1, (int[]){all}, (int[]){0});
  grid(1, (int[]){all}, (int[]){1});
  grid(2, (int[]){2, 2}, (int[]){1, 0});
  grid(2, (int[]){all, 1}, (int[]){0, 1});
  grid(3, (int[]){2, 2, 2}, (int[]){1, 1, 1});
  graph();
  distributed_graph(0);
  distributed_graph(1);
  free_layouts();
  return check_end();
}
