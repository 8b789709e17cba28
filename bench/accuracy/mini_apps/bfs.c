/* Level-synchronous breadth-first search on a distributed random graph
 * (vertices dealt cyclically), one Alltoall + Alltoallv per level.
 * usage: bfs [log2_vertices [edges_per_vertex [roots]]]                      */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int P, me;
static uint64_t rs;
static uint32_t rnd(void) {
  rs = rs * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(rs >> 33);
}

typedef struct {
  int *cnt, *dsp, *buf, total;
} bins_t;

/* send pairs/ints binned by destination; returns received ints */
static int* ship(bins_t* b, int* nrecv) {
  static int *rc, *rd;
  if (!rc) {
    rc = malloc(sizeof(int) * P);
    rd = malloc(sizeof(int) * P);
  }
  int n = 0;
  MPI_Alltoall(b->cnt, 1, MPI_INT, rc, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < P; r++) {
    rd[r] = n;
    n += rc[r];
  }
  int* in = malloc(sizeof(int) * (n + 1));
  MPI_Alltoallv(b->buf, b->cnt, b->dsp, MPI_INT, in, rc, rd, MPI_INT, MPI_COMM_WORLD);
  *nrecv = n;
  return in;
}
static void offsets(bins_t* b) /* dsp from cnt; cnt is then reused as cursor */
{
  b->total = 0;
  for (int r = 0; r < P; r++) {
    b->dsp[r] = b->total;
    b->total += b->cnt[r];
    b->cnt[r] = 0;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  int lg = argc > 1 ? atoi(argv[1]) : 13, deg = argc > 2 ? atoi(argv[2]) : 8;
  int roots = argc > 3 ? atoi(argv[3]) : 80;
  int n = 1 << lg, nl = n / P + (me < n % P), i;
  bins_t b = {calloc(P, sizeof(int)), calloc(P, sizeof(int)), NULL, 0};

  /* every rank makes the edges of its own vertices, both directions shipped */
  int ne = nl * deg, *eu = malloc(sizeof(int) * (ne + 1)), *ev = malloc(sizeof(int) * (ne + 1));
  for (i = 0; i < ne; i++) {
    int u = (i / deg) * P + me;
    rs = (uint64_t)u * 2862933555777941757ull + (uint64_t)(i % deg) * 3037000493ull + 1;
    rnd();
    rnd();
    uint32_t a = rnd() % n, c = rnd() % n;
    eu[i] = u;
    ev[i] = (int)(a & c); /* skewed: hubs at few-bit ids */
    b.cnt[eu[i] % P] += 2;
    b.cnt[ev[i] % P] += 2;
  }
  offsets(&b);
  b.buf = malloc(sizeof(int) * (b.total + 1));
  for (i = 0; i < ne; i++) {
    int a = eu[i] % P, c = ev[i] % P;
    int* q = b.buf + b.dsp[a] + b.cnt[a];
    q[0] = eu[i];
    q[1] = ev[i];
    b.cnt[a] += 2;
    q = b.buf + b.dsp[c] + b.cnt[c];
    q[0] = ev[i];
    q[1] = eu[i];
    b.cnt[c] += 2;
  }
  int nin, *in = ship(&b, &nin);
  int *row = calloc(nl + 2, sizeof(int)), *adj = malloc(sizeof(int) * (nin / 2 + 1));
  for (i = 0; i < nin; i += 2) row[in[i] / P + 2]++;
  for (i = 2; i < nl + 2; i++) row[i] += row[i - 1];
  for (i = 0; i < nin; i += 2) adj[row[in[i] / P + 1]++] = in[i + 1];
  free(in);
  free(eu);
  free(ev);
  free(b.buf);
  b.buf = malloc(sizeof(int) * (row[nl] + 1));

  int *level = malloc(sizeof(int) * (nl + 1)), *fr = malloc(sizeof(int) * (nl + 1));
  int *mark = malloc(sizeof(int) * n), bad = 0, deepest = 0;
  int *all = malloc(sizeof(int) * n), *rc = malloc(sizeof(int) * P), *rd = malloc(sizeof(int) * P);
  long long reached = 0, hash = 0;
  for (int q = 0; q < roots; q++) {
    int root = (int)((q * 2654435761u + 12345u) % (unsigned)n), nf = 0, depth = 0;
    memset(level, -1, sizeof(int) * (nl + 1));
    memset(mark, 0, sizeof(int) * n);
    if (root % P == me) {
      level[root / P] = 0;
      fr[nf++] = root / P;
    }
    for (;;) {
      int gf;
      MPI_Allreduce(&nf, &gf, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (!gf) break;
      reached += nf;
      memset(b.cnt, 0, sizeof(int) * P);
      for (i = 0; i < nf; i++)
        for (int k = row[fr[i]]; k < row[fr[i] + 1]; k++)
          if (mark[adj[k]] == 0) {
            mark[adj[k]] = 1;
            b.cnt[adj[k] % P]++;
          }
      offsets(&b);
      for (i = 0; i < nf; i++)
        for (int k = row[fr[i]]; k < row[fr[i] + 1]; k++) {
          int v = adj[k], r = v % P;
          if (mark[v] == 1) {
            mark[v] = 2;
            b.buf[b.dsp[r] + b.cnt[r]++] = v;
          }
        }
      in = ship(&b, &nin);
      for (nf = 0, depth++, i = 0; i < nin; i++)
        if (level[in[i] / P] < 0) {
          level[in[i] / P] = depth;
          fr[nf++] = in[i] / P;
        }
      free(in);
    }
    if (depth > deepest) deepest = depth;
    /* verify: all levels everywhere, neighbours differ by at most one,
     * every reached vertex but the root has a neighbour one level up */
    for (int r = 0, o = 0; r < P; r++) {
      rc[r] = n / P + (r < n % P);
      rd[r] = o;
      o += rc[r];
    }
    MPI_Allgatherv(level, nl, MPI_INT, all, rc, rd, MPI_INT, MPI_COMM_WORLD);
    for (i = 0; i < nl; i++) {
      int up = level[i] <= 0;
      for (int k = row[i]; k < row[i + 1]; k++) {
        int lv = all[rd[adj[k] % P] + adj[k] / P];
        if ((lv < 0) != (level[i] < 0) || abs(lv - level[i]) > 1) bad = 1;
        if (lv == level[i] - 1) up = 1;
      }
      if (!up || (level[i] == 0 && i * P + me != root)) bad = 1;
      hash += (long long)(level[i] + 2) * (i * P + me + 1) % 1000003;
    }
  }
  long long loc[3] = {reached, hash, bad}, glo[3];
  MPI_Allreduce(loc, glo, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  bad = glo[2] != 0 || glo[0] < (long long)n * roots / 2;
  if (me == 0)
    printf("bfs vertices=%d roots=%d reached=%lld deepest=%d checksum=%lld %s  time %.3f s\n", n,
           roots, glo[0], deepest, glo[1], bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Finalize();
  return bad;
}
