// Game of Life on a torus, 2-D decomposition, eight neighbours, persistent
// requests (two sets, one for each of the two boards).
// Start: a fleet of gliders, all flying the same way, so the board after 4k
// generations is the start shifted by k in both directions.
// usage: life [rows [cols [generations]]]
#include <mpi.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Board {
  int r, c, ld;
  std::vector<uint8_t> cell;
  std::array<MPI_Request, 16> rq;
  Board(int r_, int c_) : r(r_), c(c_), ld(c_ + 2), cell((size_t)(r_ + 2) * (c_ + 2), 0) {}
  uint8_t& at(int i, int j) { return cell[(size_t)i * ld + j]; }
};

static void make_requests(Board& b, MPI_Comm cart, const int co[2], MPI_Datatype col) {
  int n = 0;
  for (int di = -1; di <= 1; di++)
    for (int dj = -1; dj <= 1; dj++) {
      if (!di && !dj) continue;
      int peer, nb[2] = {co[0] + di, co[1] + dj};
      MPI_Cart_rank(cart, nb, &peer);  // periodic: wraps
      int si = di < 0 ? 1 : di > 0 ? b.r : 1, sj = dj < 0 ? 1 : dj > 0 ? b.c : 1;
      int ri = di < 0 ? 0 : di > 0 ? b.r + 1 : 1, rj = dj < 0 ? 0 : dj > 0 ? b.c + 1 : 1;
      MPI_Datatype t = di && dj ? MPI_UINT8_T : di ? MPI_UINT8_T : col;
      int cnt = di && !dj ? b.c : 1;
      int stag = (di + 1) * 3 + dj + 1, rtag = (1 - di) * 3 + 1 - dj;
      MPI_Recv_init(&b.at(ri, rj), cnt, t, peer, rtag, cart, &b.rq[n++]);
      MPI_Send_init(&b.at(si, sj), cnt, t, peer, stag, cart, &b.rq[n++]);
    }
}

static bool start_pattern(int R, int C, long i, long j) {
  // one glider in every full 24 x 24 box, in its upper left corner
  long bi = i / 24, bj = j / 24, a = i % 24, b = j % 24;
  if (bi >= R / 24 || bj >= C / 24 || (bi * 5 + bj * 3) % 4 == 1) return false;
  return (a == 0 && b == 1) || (a == 1 && b == 2) || (a == 2 && b <= 2);
}

static int span(int n, int p, int k) {
  return (int)((long)n * k / p);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  int size, rank, dims[2] = {0, 0}, per[2] = {1, 1}, co[2];
  MPI_Comm cart;
  int R = argc > 1 ? std::atoi(argv[1]) : 120, C = argc > 2 ? std::atoi(argv[2]) : 130;
  int gens = argc > 3 ? std::atoi(argv[3]) : 10000;
  gens = (gens + 3) / 4 * 4;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 0, &cart);
  MPI_Comm_rank(cart, &rank);
  MPI_Cart_coords(cart, rank, 2, co);
  if (R < 3 * dims[0]) R = 3 * dims[0];
  if (C < 3 * dims[1]) C = 3 * dims[1];
  int i0 = span(R, dims[0], co[0]), r = span(R, dims[0], co[0] + 1) - i0;
  int j0 = span(C, dims[1], co[1]), c = span(C, dims[1], co[1] + 1) - j0;

  Board a(r, c), b(r, c);
  MPI_Datatype col;
  MPI_Type_vector(r, 1, c + 2, MPI_UINT8_T, &col);
  MPI_Type_commit(&col);
  make_requests(a, cart, co, col);
  make_requests(b, cart, co, col);
  long born = 0;
  for (int i = 1; i <= r; i++)
    for (int j = 1; j <= c; j++) born += a.at(i, j) = start_pattern(R, C, i0 + i - 1, j0 + j - 1);

  Board *now = &a, *next = &b;
  for (int g = 0; g < gens; g++) {
    MPI_Startall(16, now->rq.data());
    MPI_Waitall(16, now->rq.data(), MPI_STATUSES_IGNORE);
    for (int i = 1; i <= r; i++) {
      const uint8_t *u = &now->at(i - 1, 0), *m = &now->at(i, 0), *d = &now->at(i + 1, 0);
      uint8_t* o = &next->at(i, 0);
      for (int j = 1; j <= c; j++) {
        uint8_t s = u[j - 1] + u[j] + u[j + 1] + m[j - 1] + m[j + 1] + d[j - 1] + d[j] + d[j + 1];
        o[j] = (s == 3) | ((s == 2) & m[j]);
      }
    }
    std::swap(now, next);
  }

  long k = gens / 4, loc[3] = {born, 0, 0}, tot[3];
  for (int i = 1; i <= r; i++)
    for (int j = 1; j <= c; j++) {
      long si = ((i0 + i - 1 - k) % R + R) % R, sj = ((j0 + j - 1 - k) % C + C) % C;
      bool want = start_pattern(R, C, si, sj);
      loc[1] += now->at(i, j);
      loc[2] += want != (now->at(i, j) != 0);
    }
  MPI_Allreduce(loc, tot, 3, MPI_LONG, MPI_SUM, cart);
  int bad = tot[2] != 0 || tot[0] != tot[1];
  if (rank == 0)
    std::printf("life %dx%d on %dx%d generations=%d alive=%ld wrong cells=%ld %s  time %.3f s\n", R,
                C, dims[0], dims[1], gens, tot[1], tot[2], bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  for (auto& q : a.rq) MPI_Request_free(&q);
  for (auto& q : b.rq) MPI_Request_free(&q);
  MPI_Type_free(&col);
  MPI_Comm_free(&cart);
  MPI_Finalize();
  return bad;
}
