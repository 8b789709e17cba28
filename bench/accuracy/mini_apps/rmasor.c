/* Red-black SOR for the Poisson equation, row slabs, one-sided halo: each rank
 * puts its border rows into the neighbour's ghost rows between two fences.
 * usage: rmasor [n [maxsweeps]]                                              */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK 10

static int n = 280, rows, ld, up, down;
static double* u;
static MPI_Win win;
static int up_rows; /* rows owned by the upper neighbour */

static void halo(void) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (up != MPI_PROC_NULL) /* my first row -> its bottom ghost */
    MPI_Put(u + ld, ld, MPI_DOUBLE, up, (MPI_Aint)(up_rows + 1) * ld, ld, MPI_DOUBLE, win);
  if (down != MPI_PROC_NULL) /* my last row -> its top ghost */
    MPI_Put(u + (size_t)rows * ld, ld, MPI_DOUBLE, down, 0, ld, MPI_DOUBLE, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
}

static double sweep(int colour, int first, double omega, double h2f) {
  double res = 0;
  for (int i = 1; i <= rows; i++) {
    double* p = u + (size_t)i * ld;
    for (int j = 1 + (first + i + colour) % 2; j <= n; j += 2) {
      double r = 0.25 * (p[j - 1] + p[j + 1] + p[j - ld] + p[j + ld] - h2f) - p[j];
      p[j] += omega * r;
      res += r * r;
    }
  }
  return res;
}

int main(int argc, char** argv) {
  int rank, size, it, maxit = 2000;
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) maxit = atoi(argv[2]);
  if (n < size) n = size;
  ld = n + 2;
  int first = (int)((long)n * rank / size); /* global index of row 1 is first+1 */
  rows = (int)((long)n * (rank + 1) / size) - first;
  up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&rows, 1, MPI_INT, down, 0, &up_rows, 1, MPI_INT, up, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_allocate((MPI_Aint)(rows + 2) * ld * sizeof(double), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &u, &win);

  /* laplace(u) = 6, exact u = x^2 + 2 y^2, Dirichlet borders */
  double h = 1.0 / (n + 1), h2f = 6.0 * h * h;
  for (int i = 0; i <= rows + 1; i++)
    for (int j = 0; j < ld; j++) {
      int gi = first + i;
      double x = gi * h, y = j * h;
      int border = gi == 0 || gi == n + 1 || j == 0 || j == n + 1;
      u[(size_t)i * ld + j] = border ? x * x + 2 * y * y : 0.0;
    }
  MPI_Barrier(MPI_COMM_WORLD);

  double omega = 2.0 / (1.0 + sin(M_PI * h)), res = 0, r0 = -1;
  for (it = 1; it <= maxit; it++) {
    double loc = 0;
    for (int colour = 0; colour < 2; colour++) {
      halo();
      loc += sweep(colour, first, omega, h2f);
    }
    if (it % CHECK == 0) {
      MPI_Allreduce(&loc, &res, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      res = sqrt(res);
      if (r0 < 0) r0 = res;
      if (res < 1e-9 * r0) break;
    }
  }
  double e = 0, ge, s = 0, gs;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= n; j++) {
      double x = (first + i) * h, y = j * h;
      e = fmax(e, fabs(u[(size_t)i * ld + j] - x * x - 2 * y * y));
      s += u[(size_t)i * ld + j];
    }
  MPI_Allreduce(&e, &ge, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce(&s, &gs, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  int bad = !(ge < 1e-5);
  if (rank == 0)
    printf("rmasor n=%d sweeps=%d residual=%.2e mean=%.9f maxerr=%.2e %s  time %.3f s\n", n, it,
           res / r0, gs / n / n, ge, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Win_free(&win);
  MPI_Finalize();
  return bad;
}
