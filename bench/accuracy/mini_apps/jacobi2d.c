/* 2-D Laplace equation on the unit square, 5-point Jacobi, 2-D block
 * decomposition, blocking halo exchange, convergence test every CHECK sweeps.
 * The start is (exact harmonic solution) + (lowest eigenmode), so the error
 * after k sweeps is known in closed form.
 * usage: jacobi2d [n [sweeps [check]]]                                       */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int n = 160, sweeps = 12000, check = 10;

static void split(int total, int parts, int me, int* start, int* len) {
  int q = total / parts, r = total % parts;
  *len = q + (me < r);
  *start = me * q + (me < r ? me : r);
}

#define U(a, i, j) ((a)[(size_t)(i)*ld + (j)])

int main(int argc, char** argv) {
  int rank, size, dims[2] = {0, 0}, per[2] = {0, 0}, co[2];
  int up, down, left, right, i0, j0, ni, nj, it, i, j;
  MPI_Comm cart;
  MPI_Datatype col;

  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) sweeps = atoi(argv[2]);
  if (argc > 3) check = atoi(argv[3]);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 1, &cart);
  MPI_Comm_rank(cart, &rank);
  MPI_Cart_coords(cart, rank, 2, co);
  MPI_Cart_shift(cart, 0, 1, &up, &down);
  MPI_Cart_shift(cart, 1, 1, &left, &right);
  if (dims[0] > n || dims[1] > n) {
    if (rank == 0) fprintf(stderr, "grid too small for %d ranks\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  split(n, dims[0], co[0], &i0, &ni);
  split(n, dims[1], co[1], &j0, &nj);

  int ld = nj + 2;
  double h = 1.0 / (n + 1);
  double* u = malloc(sizeof(double) * (ni + 2) * ld);
  double* v = malloc(sizeof(double) * (ni + 2) * ld);
  for (i = 0; i < ni + 2; i++)
    for (j = 0; j < ld; j++) {
      double x = (i0 + i) * h, y = (j0 + j) * h;
      U(u, i, j) = x * x - y * y + sin(M_PI * x) * sin(M_PI * y);
      U(v, i, j) = U(u, i, j);
    }
  MPI_Type_vector(ni, 1, ld, MPI_DOUBLE, &col);
  MPI_Type_commit(&col);

  double diff = 0, gdiff = 0;
  for (it = 1; it <= sweeps; it++) {
    MPI_Sendrecv(&U(u, 1, 1), nj, MPI_DOUBLE, up, 10, &U(u, ni + 1, 1), nj, MPI_DOUBLE, down, 10,
                 cart, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&U(u, ni, 1), nj, MPI_DOUBLE, down, 11, &U(u, 0, 1), nj, MPI_DOUBLE, up, 11, cart,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&U(u, 1, 1), 1, col, left, 12, &U(u, 1, nj + 1), 1, col, right, 12, cart,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&U(u, 1, nj), 1, col, right, 13, &U(u, 1, 0), 1, col, left, 13, cart,
                 MPI_STATUS_IGNORE);
    for (i = 1; i <= ni; i++)
      for (j = 1; j <= nj; j++)
        U(v, i, j) = 0.25 * (U(u, i - 1, j) + U(u, i + 1, j) + U(u, i, j - 1) + U(u, i, j + 1));
    if (it % check == 0) {
      diff = 0;
      for (i = 1; i <= ni; i++)
        for (j = 1; j <= nj; j++) {
          double d = U(v, i, j) - U(u, i, j);
          diff += d * d;
        }
      MPI_Allreduce(&diff, &gdiff, 1, MPI_DOUBLE, MPI_SUM, cart);
      if (sqrt(gdiff) * h < 1e-13) {
        it++;
        double* t = u;
        u = v;
        v = t;
        break;
      }
    }
    double* t = u;
    u = v;
    v = t;
  }
  it--;

  /* compare with the closed form */
  double amp = pow(cos(M_PI * h), it), err = 0, gerr;
  for (i = 1; i <= ni; i++)
    for (j = 1; j <= nj; j++) {
      double x = (i0 + i) * h, y = (j0 + j) * h;
      double e = x * x - y * y + amp * sin(M_PI * x) * sin(M_PI * y);
      double d = fabs(U(u, i, j) - e);
      if (d > err) err = d;
    }
  MPI_Allreduce(&err, &gerr, 1, MPI_DOUBLE, MPI_MAX, cart);
  int bad = !(gerr < 1e-9);
  if (rank == 0)
    printf("jacobi2d n=%d grid=%dx%d sweeps=%d update=%.3e maxerr=%.2e %s  time %.3f s\n", n,
           dims[0], dims[1], it, sqrt(gdiff) * h, gerr, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  free(u);
  free(v);
  MPI_Type_free(&col);
  MPI_Comm_free(&cart);
  MPI_Finalize();
  return bad;
}
