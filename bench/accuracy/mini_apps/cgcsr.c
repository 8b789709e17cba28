/* Conjugate gradients (Jacobi preconditioned) on a distributed CSR matrix.
 * The communication plan for the sparse matrix-vector product is built from
 * the column indices, as in any general sparse solver.
 * Several right-hand sides are solved one after the other.
 * usage: cgcsr [n [maxit [nrhs]]]                                            */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int P, me, n = 5000, maxit = 400, nrhs = 10;
static int first(int r) {
  return (int)((int64_t)n * r / P);
}
static int owner(int i) {
  int r = (int)((int64_t)i * P / n);
  while (i < first(r)) r--;
  while (i >= first(r + 1)) r++;
  return r;
}
static double weight(int a, int b) /* symmetric pseudo-random coupling */
{
  uint32_t x = (uint32_t)(a < b ? a : b) * 2654435761u ^ (uint32_t)(a < b ? b : a) * 40503u;
  x ^= x >> 13;
  x *= 0x5bd1e995u;
  x ^= x >> 15;
  return 0.5 + (x & 0xffff) / 65536.0;
}
static int cmpint(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

static int nl, *rp, *ci, nghost, nsendtot;
static double *va, *sbuf, *inv;
static int *gh, *scnt, *sdsp, *rcnt, *rdsp, *sidx;
static MPI_Request* rq;

static void exchange(double* x) /* x has nl owned + nghost entries */
{
  int k = 0, r;
  for (r = 0; r < P; r++)
    if (rcnt[r]) MPI_Irecv(x + nl + rdsp[r], rcnt[r], MPI_DOUBLE, r, 7, MPI_COMM_WORLD, &rq[k++]);
  for (int i = 0; i < nsendtot; i++) sbuf[i] = x[sidx[i]];
  for (r = 0; r < P; r++)
    if (scnt[r]) MPI_Isend(sbuf + sdsp[r], scnt[r], MPI_DOUBLE, r, 7, MPI_COMM_WORLD, &rq[k++]);
  MPI_Waitall(k, rq, MPI_STATUSES_IGNORE);
}
static void spmv(double* x, double* y) {
  exchange(x);
  for (int i = 0; i < nl; i++) {
    double s = 0;
    for (int k = rp[i]; k < rp[i + 1]; k++) s += va[k] * x[ci[k]];
    y[i] = s;
  }
}
static double dot(const double* a, const double* b) {
  double s = 0, g;
  for (int i = 0; i < nl; i++) s += a[i] * b[i];
  MPI_Allreduce(&s, &g, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return g;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) maxit = atoi(argv[2]);
  if (argc > 3) nrhs = atoi(argv[3]);
  if (n < 2000) n = 2000;

  int lo = first(me), hi = first(me + 1), i, k, r;
  nl = hi - lo;
  int side = (int)sqrt((double)n);
  int str[5] = {1, side, side + 1, 2 * side - 3, 5 * side + 7};
  rp = malloc(sizeof(int) * (nl + 1));
  ci = malloc(sizeof(int) * nl * 11);
  va = malloc(sizeof(double) * nl * 11);
  for (rp[0] = 0, i = 0, k = 0; i < nl; i++) {
    int row = lo + i, d = k++;
    double sum = 0;
    for (int s = 0; s < 10; s++) {
      int c = row + (s & 1 ? -str[s / 2] : str[s / 2]);
      if (c < 0 || c >= n) continue;
      double w = weight(row, c);
      ci[k] = c;
      va[k++] = -w;
      sum += w;
    }
    ci[d] = row;
    va[d] = sum + 2e-3;
    rp[i + 1] = k;
  }
  /* ghosts: sorted unique off-rank columns */
  gh = malloc(sizeof(int) * (k + 1));
  for (nghost = 0, i = 0; i < k; i++)
    if (ci[i] < lo || ci[i] >= hi) gh[nghost++] = ci[i];
  qsort(gh, nghost, sizeof(int), cmpint);
  int m = 0;
  for (i = 0; i < nghost; i++)
    if (!m || gh[m - 1] != gh[i]) gh[m++] = gh[i];
  nghost = m;
  scnt = calloc(P, sizeof(int));
  rcnt = calloc(P, sizeof(int));
  sdsp = calloc(P + 1, sizeof(int));
  rdsp = calloc(P + 1, sizeof(int));
  rq = malloc(sizeof(MPI_Request) * 2 * P);
  for (i = 0; i < nghost; i++) rcnt[owner(gh[i])]++;
  MPI_Alltoall(rcnt, 1, MPI_INT, scnt, 1, MPI_INT, MPI_COMM_WORLD);
  for (r = 0; r < P; r++) {
    rdsp[r + 1] = rdsp[r] + rcnt[r];
    sdsp[r + 1] = sdsp[r] + scnt[r];
  }
  nsendtot = sdsp[P];
  sidx = malloc(sizeof(int) * (nsendtot + 1));
  sbuf = malloc(sizeof(double) * (nsendtot + 1));
  MPI_Alltoallv(gh, rcnt, rdsp, MPI_INT, sidx, scnt, sdsp, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < nsendtot; i++) sidx[i] -= lo;
  for (i = 0; i < k; i++) { /* renumber columns to local */
    if (ci[i] >= lo && ci[i] < hi)
      ci[i] -= lo;
    else
      ci[i] = nl + (int)((int*)bsearch(&ci[i], gh, nghost, sizeof(int), cmpint) - gh);
  }

  size_t vb = sizeof(double) * (nl + nghost + 1);
  double *x = calloc(1, vb), *b = calloc(1, vb), *res = calloc(1, vb), *z = calloc(1, vb),
         *p = calloc(1, vb), *q = calloc(1, vb);
  inv = malloc(vb);
  for (i = 0; i < nl; i++) inv[i] = 1.0 / va[rp[i]];
  int it, total = 0;
  double worst = 0, rel = 0;
  for (int q0 = 0; q0 < nrhs; q0++) {
    double om = 0.01 * (q0 + 1); /* known solution 1 + sin(om i)/2 */
    for (i = 0; i < nl; i++) {
      p[i] = 1.0 + 0.5 * sin(om * (lo + i));
      x[i] = 0;
    }
    spmv(p, b);
    for (i = 0; i < nl; i++) {
      res[i] = b[i];
      p[i] = z[i] = inv[i] * res[i];
    }
    double rz = dot(res, z), bn = sqrt(dot(b, b)), rn = bn;
    for (it = 0; it < maxit && rn > 1e-10 * bn; it++) {
      spmv(p, q);
      double al = rz / dot(p, q);
      for (i = 0; i < nl; i++) {
        x[i] += al * p[i];
        res[i] -= al * q[i];
        z[i] = inv[i] * res[i];
      }
      double loc[2] = {0, 0}, glo[2];
      for (i = 0; i < nl; i++) {
        loc[0] += res[i] * z[i];
        loc[1] += res[i] * res[i];
      }
      MPI_Allreduce(loc, glo, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      double be = glo[0] / rz;
      rz = glo[0];
      rn = sqrt(glo[1]);
      for (i = 0; i < nl; i++) p[i] = z[i] + be * p[i];
    }
    total += it;
    rel = fmax(rel, rn / bn);
    for (i = 0; i < nl; i++) worst = fmax(worst, fabs(x[i] - 1.0 - 0.5 * sin(om * (lo + i))));
  }
  double ge;
  MPI_Allreduce(&worst, &ge, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int bad = !(ge < 1e-5);
  if (me == 0)
    printf("cgcsr n=%d iterations=%d relres=%.2e maxerr=%.2e %s  time %.3f s\n", n, total, rel, ge,
           bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Finalize();
  return bad;
}
