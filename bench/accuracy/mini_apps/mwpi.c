/* Monte Carlo pi with a master that deals out work to whoever is free.
 * Every task has its own random stream, so the result does not depend on who
 * does what.  Tasks differ in length.
 * usage: mwpi [tasks [samples_per_task]]                                     */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_READY = 1, TAG_RESULT, TAG_TASK, TAG_STOP };

typedef struct {
  int64_t id, samples;
} task_t;
typedef struct {
  int64_t id, hits, samples;
} result_t;

static uint64_t next(uint64_t* s) {
  uint64_t x = *s;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *s = x;
}
static int64_t throw_darts(int64_t id, int64_t samples) {
  uint64_t s = 0x2545f4914f6cdd1dull ^ ((uint64_t)(id + 1) * 0x9e3779b97f4a7c15ull);
  int64_t hits = 0;
  for (int i = 0; i < 16; i++) next(&s);
  for (int64_t i = 0; i < samples; i++) {
    double x = (next(&s) >> 11) * 0x1p-53, y = (next(&s) >> 11) * 0x1p-53;
    hits += x * x + y * y < 1.0;
  }
  return hits;
}
static int64_t task_len(int64_t id, int64_t base) {
  return base / 2 + base * (id % 5) / 4;
}

static int master(int workers, int64_t tasks, int64_t base, int* per_worker) {
  int64_t next_id = 0, hits = 0, samples = 0, done = 0, want = 0, idsum = 0;
  int active = workers;
  while (active > 0) {
    result_t r;
    MPI_Status st;
    MPI_Recv(&r, 3, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    if (st.MPI_TAG == TAG_RESULT) {
      hits += r.hits;
      samples += r.samples;
      idsum += r.id;
      done++;
      per_worker[st.MPI_SOURCE]++;
    }
    if (next_id < tasks) {
      task_t t = {next_id, task_len(next_id, base)};
      want += t.samples;
      next_id++;
      MPI_Send(&t, 2, MPI_INT64_T, st.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
    } else {
      MPI_Send(NULL, 0, MPI_INT64_T, st.MPI_SOURCE, TAG_STOP, MPI_COMM_WORLD);
      active--;
    }
  }
  double pi = 4.0 * hits / samples, sigma = 1.6422 / sqrt((double)samples);
  int bad = done != tasks || samples != want || idsum != tasks * (tasks - 1) / 2 ||
            fabs(pi - M_PI) > 5 * sigma;
  printf("mwpi tasks=%lld samples=%lld hits=%lld pi=%.6f (+-%.6f) %s", (long long)tasks,
         (long long)samples, (long long)hits, pi, sigma, bad ? "WRONG" : "ok");
  return bad;
}

static int worker(void) {
  int n = 0;
  result_t r = {-1, 0, 0};
  MPI_Send(&r, 3, MPI_INT64_T, 0, TAG_READY, MPI_COMM_WORLD);
  for (;;) {
    task_t t;
    MPI_Status st;
    MPI_Recv(&t, 2, MPI_INT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    if (st.MPI_TAG == TAG_STOP) return n;
    r.id = t.id;
    r.samples = t.samples;
    r.hits = throw_darts(t.id, t.samples);
    MPI_Send(&r, 3, MPI_INT64_T, 0, TAG_RESULT, MPI_COMM_WORLD);
    n++;
  }
}

int main(int argc, char** argv) {
  int rank, size, bad = 0, mine = 0;
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int64_t par[2] = {8000, 2000};
  if (rank == 0) {
    if (argc > 1) par[0] = atoll(argv[1]);
    if (argc > 2) par[1] = atoll(argv[2]);
  }
  MPI_Bcast(par, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (size < 2) {
    fprintf(stderr, "mwpi needs at least 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int *seen = calloc(size, sizeof(int)), *said = calloc(size, sizeof(int));
  if (rank == 0)
    bad = master(size - 1, par[0], par[1], seen);
  else
    mine = worker();
  MPI_Gather(&mine, 1, MPI_INT, said, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int r = 0; r < size; r++) bad |= seen[r] != said[r];
    printf("  time %.3f s\n", MPI_Wtime() - t0);
  }
  MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(seen);
  free(said);
  MPI_Finalize();
  return bad;
}
