/* Parallel sample sort of 64-bit keys with regular sampling.
 * usage: ssort [keys_in_total [rounds]]                                      */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERSAMPLE 32

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static int cmp(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}
/* merge runs [d[r], d[r+1]) of src pairwise until one is left */
static uint64_t* merge_runs(uint64_t* src, uint64_t* tmp, int* d, int runs) {
  while (runs > 1) {
    int out = 0, r;
    for (r = 0; r < runs; r += 2) {
      int i = d[r], ie = d[r + 1], j = ie, je = r + 2 <= runs ? d[r + 2] : ie, k = i;
      while (i < ie && j < je) tmp[k++] = src[j] < src[i] ? src[j++] : src[i++];
      while (i < ie) tmp[k++] = src[i++];
      while (j < je) tmp[k++] = src[j++];
      d[out++] = d[r];
      d[out] = je;
    }
    runs = out;
    uint64_t* t = src;
    src = tmp;
    tmp = t;
  }
  return src;
}

int main(int argc, char** argv) {
  int rank, P, bad = 0;
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  long total = argc > 1 ? atol(argv[1]) : 10000;
  int rounds = argc > 2 ? atoi(argv[2]) : 200;
  long lo = total * rank / P, hi = total * (rank + 1) / P;
  int nloc = (int)(hi - lo), i, r;

  uint64_t* key = malloc(sizeof *key * (nloc + 1));
  uint64_t* samp = malloc(sizeof *samp * OVERSAMPLE);
  uint64_t *all = malloc(sizeof *all * OVERSAMPLE * P), *spl = malloc(sizeof *spl * P);
  int *sc = malloc(sizeof(int) * P), *rc = malloc(sizeof(int) * P);
  int *sd = malloc(sizeof(int) * (P + 1)), *rd = malloc(sizeof(int) * (P + 1));
  double imbalance = 0;

  for (int round = 0; round < rounds; round++) {
    uint64_t sum[2] = {0, 0}, xs[2] = {0, 0}, got[2], want[2];
    for (i = 0; i < nloc; i++) {
      uint64_t k = mix((uint64_t)(lo + i) * 31 + round);
      if (round & 1) k = (k >> 32) * (k & 0xffffffff); /* skewed keys */
      key[i] = k;
      sum[0] += k;
      sum[1] += mix(k);
    }
    qsort(key, nloc, sizeof *key, cmp);
    for (i = 0; i < OVERSAMPLE; i++) samp[i] = nloc ? key[(long)i * nloc / OVERSAMPLE] : 0;
    MPI_Gather(samp, OVERSAMPLE, MPI_UINT64_T, all, OVERSAMPLE, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      qsort(all, OVERSAMPLE * P, sizeof *all, cmp);
      for (r = 1; r < P; r++) spl[r - 1] = all[r * OVERSAMPLE];
    }
    MPI_Bcast(spl, P - 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);

    for (i = 0, r = 0; r < P; r++) {
      sd[r] = i;
      if (r == P - 1)
        i = nloc;
      else {
        int a = i, b = nloc; /* first key >= spl[r] */
        while (a < b) {
          int m = (a + b) / 2;
          if (key[m] < spl[r])
            a = m + 1;
          else
            b = m;
        }
        i = a;
      }
      sc[r] = i - sd[r];
    }
    int expect;
    MPI_Reduce_scatter_block(sc, &expect, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(sc, 1, MPI_INT, rc, 1, MPI_INT, MPI_COMM_WORLD);
    for (rd[0] = 0, r = 0; r < P; r++) rd[r + 1] = rd[r] + rc[r];
    int nrecv = rd[P];
    if (nrecv != expect) bad = 1;
    uint64_t *in = malloc(sizeof *in * (nrecv + 1)), *tmp = malloc(sizeof *tmp * (nrecv + 1));
    MPI_Alltoallv(key, sc, sd, MPI_UINT64_T, in, rc, rd, MPI_UINT64_T, MPI_COMM_WORLD);
    uint64_t* out = merge_runs(in, tmp, rd, P);

    /* checks: sorted here, sorted across the boundary, same multiset */
    for (i = 1; i < nrecv; i++)
      if (out[i - 1] > out[i]) bad = 1;
    uint64_t mymax = nrecv ? out[nrecv - 1] : 0, before = 0;
    MPI_Exscan(&mymax, &before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0 && nrecv && before > out[0]) bad = 1;
    for (i = 0; i < nrecv; i++) {
      xs[0] += out[i];
      xs[1] += mix(out[i]);
    }
    MPI_Reduce(sum, want, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(xs, got, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && (got[0] != want[0] || got[1] != want[1])) bad = 1;
    int mx;
    MPI_Reduce(&nrecv, &mx, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      double im = (double)mx * P / total;
      if (im > imbalance) imbalance = im;
      if (round == rounds - 1)
        printf("ssort keys=%ld rounds=%d checksum=%016llx imbalance=%.3f", total, rounds,
               (unsigned long long)got[1], imbalance);
    }
    free(in);
    free(tmp);
  }
  int anybad;
  MPI_Allreduce(&bad, &anybad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  if (rank == 0) printf(" %s  time %.3f s\n", anybad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Finalize();
  return anybad;
}
