/* 1-D wave equation on a ring, second order; the halo is in flight while the
 * interior is updated, with MPI_Testall between the tiles to make progress.
 * Two halo points a side are exchanged every second step (the ghost point is
 * updated redundantly in the odd step).
 * usage: wave1d [points [steps]]                                             */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE 2048
#define G 2 /* ghost width = steps per exchange */

static double r2;

static void update(double* restrict nw, const double* cu, const double* restrict ol, int a, int b) {
  for (int i = a; i < b; i++) nw[i] = 2 * cu[i] - ol[i] + r2 * (cu[i - 1] - 2 * cu[i] + cu[i + 1]);
}

int main(int argc, char** argv) {
  int rank, size, i, s;
  long tests = 0, early = 0;
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long n = argc > 1 ? atol(argv[1]) : 30000;
  int steps = argc > 2 ? atoi(argv[2]) : 14000;
  steps += steps & 1;
  if (n < 8L * size) n = 8L * size;
  long lo = n * rank / size;
  int nl = (int)(n * (rank + 1) / size - lo);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;

  const double cfl = 0.6, k = 2 * M_PI * 3 / n;
  const double om = 2 * asin(cfl * sin(k / 2)); /* discrete dispersion, per step */
  r2 = cfl * cfl;
  double *ol = malloc(sizeof(double) * (nl + 2 * G)), *cu = malloc(sizeof(double) * (nl + 2 * G)),
         *nw = malloc(sizeof(double) * (nl + 2 * G)), *t;
  for (i = 0; i < nl + 2 * G; i++) { /* travelling wave */
    double ph = k * (lo + i - G);
    ol[i] = sin(ph + om);
    cu[i] = sin(ph);
  }
  double energy = 0, e0 = 0, worst = 0;
  for (s = 0; s < steps; s += 2) {
    MPI_Request rq[8];
    int flag = 0, a, e = nl + G;
    MPI_Irecv(cu, G, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &rq[0]);
    MPI_Irecv(cu + e, G, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &rq[1]);
    MPI_Irecv(ol, G, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &rq[2]);
    MPI_Irecv(ol + e, G, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &rq[3]);
    MPI_Isend(cu + nl, G, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &rq[4]);
    MPI_Isend(cu + G, G, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &rq[5]);
    MPI_Isend(ol + nl, G, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &rq[6]);
    MPI_Isend(ol + G, G, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &rq[7]);
    for (a = G + 1; a < e - 1; a += TILE) {
      update(nw, cu, ol, a, a + TILE < e - 1 ? a + TILE : e - 1);
      if (!flag) {
        MPI_Testall(8, rq, &flag, MPI_STATUSES_IGNORE);
        tests++;
      }
    }
    if (flag)
      early++;
    else
      MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
    update(nw, cu, ol, 1, G + 1); /* edges and inner ghosts */
    update(nw, cu, ol, e - 1, e + 1);
    t = ol;
    ol = cu;
    cu = nw;
    nw = t;
    update(nw, cu, ol, G, e); /* second step needs no messages */
    t = ol;
    ol = cu;
    cu = nw;
    nw = t;
    if (s % 1000 == 0) {
      double loc = 0;
      for (i = G; i < e; i++) loc += cu[i] * cu[i];
      MPI_Allreduce(&loc, &energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (s == 0) e0 = energy;
      worst = fmax(worst, fabs(energy / e0 - 1));
    }
  }
  double err = 0, gerr;
  for (i = G; i < nl + G; i++) err = fmax(err, fabs(cu[i] - sin(k * (lo + i - G) - om * steps)));
  MPI_Allreduce(&err, &gerr, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int bad = !(gerr < 1e-6 && worst < 1e-6);
  if (rank == 0)
    printf("wave1d n=%ld steps=%d energy drift=%.1e maxerr=%.2e %s  time %.3f s\n", n, steps, worst,
           gerr, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  free(ol);
  free(cu);
  free(nw);
  MPI_Finalize();
  return bad;
}
