/* SUMMA: C = A*B on a pr x pc process grid, row and column communicators.
 * usage: summa [n [panel [repeats]]]                                         */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int beg(int n, int p, int r) {
  return (int)((long)n * r / p);
}
static int own(int n, int p, int k) {
  int r = 0;
  while (beg(n, p, r + 1) <= k) r++;
  return r;
}
static double fu(int i) {
  return 1.0 + (i % 7) * 0.125;
}
static double fv(int k) {
  return ((k * 13) % 11) * 0.25 - 1.0;
}
static double fw(int k) {
  return ((k * 5) % 9) * 0.5 - 1.5;
}
static double fz(int j) {
  return 0.5 + (j % 5) * 0.25;
}

/* c[m x n] += a[m x k] * b[k x n], row-major, blocked over k */
static void gemm(int m, int n, int k, const double* a, const double* b, double* restrict c) {
  for (int i = 0; i < m; i++) {
    int l = 0;
    double* restrict ci = c + (size_t)i * n;
    for (; l + 3 < k; l += 4) {
      double a0 = a[i * k + l], a1 = a[i * k + l + 1], a2 = a[i * k + l + 2], a3 = a[i * k + l + 3];
      const double *b0 = b + (size_t)l * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
      for (int j = 0; j < n; j++) ci[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    }
    for (; l < k; l++)
      for (int j = 0; j < n; j++) ci[j] += a[i * k + l] * b[(size_t)l * n + j];
  }
}

int main(int argc, char** argv) {
  int rank, size, dims[2] = {0, 0};
  MPI_Comm rowc, colc;
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int n = argc > 1 ? atoi(argv[1]) : 200;
  int nb = argc > 2 ? atoi(argv[2]) : 8;
  int reps = argc > 3 ? atoi(argv[3]) : 80;
  MPI_Dims_create(size, 2, dims);
  int pr = dims[0], pc = dims[1], myr = rank / pc, myc = rank % pc;
  if (n < pr || n < pc || nb < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_split(MPI_COMM_WORLD, myr, myc, &rowc);
  MPI_Comm_split(MPI_COMM_WORLD, myc, myr, &colc);

  int r0 = beg(n, pr, myr), m = beg(n, pr, myr + 1) - r0; /* rows of A, C   */
  int c0 = beg(n, pc, myc), w = beg(n, pc, myc + 1) - c0; /* columns of B, C */
  double *A = malloc(sizeof(double) * m * w), *B = malloc(sizeof(double) * m * w);
  double* C = malloc(sizeof(double) * m * w);
  double *pa = malloc(sizeof(double) * m * nb), *pb = malloc(sizeof(double) * nb * w);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < w; j++) {
      A[(size_t)i * w + j] = fu(r0 + i) + fv(c0 + j);
      B[(size_t)i * w + j] = fw(r0 + i) * fz(c0 + j);
    }

  double sw = 0, svw = 0, worst = 0;
  for (int k = 0; k < n; k++) {
    sw += fw(k);
    svw += fv(k) * fw(k);
  }
  for (int rep = 0; rep < reps; rep++) {
    memset(C, 0, sizeof(double) * m * w);
    for (int k = 0; k < n;) {
      int ac = own(n, pc, k), br = own(n, pr, k), kb = nb;
      if (k + kb > beg(n, pc, ac + 1)) kb = beg(n, pc, ac + 1) - k;
      if (k + kb > beg(n, pr, br + 1)) kb = beg(n, pr, br + 1) - k;
      if (myc == ac)
        for (int i = 0; i < m; i++)
          memcpy(pa + (size_t)i * kb, A + (size_t)i * w + (k - c0), sizeof(double) * kb);
      if (myr == br) memcpy(pb, B + (size_t)(k - r0) * w, sizeof(double) * kb * w);
      MPI_Bcast(pa, m * kb, MPI_DOUBLE, ac, rowc);
      MPI_Bcast(pb, kb * w, MPI_DOUBLE, br, colc);
      gemm(m, w, kb, pa, pb, C);
      k += kb;
    }
    double d = 0, g;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < w; j++)
        d = fmax(d, fabs(C[(size_t)i * w + j] - fz(c0 + j) * (fu(r0 + i) * sw + svw)));
    MPI_Allreduce(&d, &g, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    worst = fmax(worst, g);
  }
  double tr = 0, gtr;
  for (int i = 0; i < m * w; i++) tr += C[i];
  MPI_Reduce(&tr, &gtr, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  int bad = !(worst < 1e-8 * n);
  if (rank == 0)
    printf("summa n=%d panel=%d grid=%dx%d sum=%.10e maxerr=%.2e %s  time %.3f s\n", n, nb, pr, pc,
           gtr, worst, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Comm_free(&rowc);
  MPI_Comm_free(&colc);
  MPI_Finalize();
  return bad;
}
