// k-means clustering (Lloyd) of synthetic points; the points are distributed,
// the centres replicated; sums and counts are combined with MPI_Allreduce.
// Several random starts, the best is kept.
// usage: kmeans [points [clusters [starts]]]
#include <mpi.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

constexpr int DIM = 6;

struct Rng {  // splitmix64
  uint64_t s;
  explicit Rng(uint64_t seed) : s(seed) {}
  double uniform() {
    uint64_t z = (s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double normal() {
    double s12 = 0;
    for (int i = 0; i < 4; i++) s12 += uniform();
    return (s12 - 2.0) * std::sqrt(3.0);
  }
};

struct KMeans {
  int k;
  std::vector<double> centre, acc;  // acc: sums, counts, inertia
  explicit KMeans(int k_) : k(k_), centre(k_ * DIM), acc(k_ * (DIM + 1) + 1) {}

  // returns inertia of the assignment to the current centres
  double step(const std::vector<double>& pts, std::vector<int>& label, long& total, long& moved) {
    std::fill(acc.begin(), acc.end(), 0.0);
    double *sum = acc.data(), *cnt = sum + k * DIM, *inertia = cnt + k;
    long n = (long)label.size(), changed = 0;
    for (long i = 0; i < n; i++) {
      const double* p = &pts[i * DIM];
      double best = std::numeric_limits<double>::max();
      int bc = 0;
      for (int c = 0; c < k; c++) {
        double d = 0;
        for (int j = 0; j < DIM; j++) {
          double t = p[j] - centre[c * DIM + j];
          d += t * t;
        }
        if (d < best) {
          best = d;
          bc = c;
        }
      }
      if (label[i] != bc) {
        label[i] = bc;
        changed++;
      }
      for (int j = 0; j < DIM; j++) sum[bc * DIM + j] += p[j];
      cnt[bc] += 1;
      *inertia += best;
    }
    MPI_Allreduce(MPI_IN_PLACE, acc.data(), (int)acc.size(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&changed, &moved, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    double tot = 0;
    for (int c = 0; c < k; c++) {
      tot += cnt[c];
      if (cnt[c] > 0)
        for (int j = 0; j < DIM; j++) centre[c * DIM + j] = sum[c * DIM + j] / cnt[c];
    }
    total = (long)(tot + 0.5);
    return *inertia;
  }
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double t0 = MPI_Wtime();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long n = argc > 1 ? std::atol(argv[1]) : 2000;
  int k = argc > 2 ? std::atoi(argv[2]) : 16;
  int starts = argc > 3 ? std::atoi(argv[3]) : 80;
  if (n < k) n = k;
  long lo = n * rank / size, hi = n * (rank + 1) / size;

  // true centres: corners of a box, far apart compared with the spread
  std::vector<double> truth(k * DIM);
  Rng tr(4711);
  for (auto& t : truth) t = 6.0 * std::floor(tr.uniform() * 4);
  std::vector<double> pts((hi - lo) * DIM);
  std::vector<int> label(hi - lo, -1);
  for (long i = lo; i < hi; i++) {
    Rng g(1000003ull * i + 17);
    for (int j = 0; j < DIM; j++)
      pts[(i - lo) * DIM + j] = truth[(i % k) * DIM + j] + 1.5 * g.normal();
  }

  KMeans km(k);
  bool bad = false;
  double best = std::numeric_limits<double>::max();
  long total = 0, moved = 0, iterations = 0;
  Rng pick(99);
  for (int st = 0; st < starts; st++) {
    // k of the points are the start; rank 0 may not own them, so regenerate
    if (rank == 0)
      for (int c = 0; c < k; c++) {
        long i = std::min(n - 1, (long)(pick.uniform() * n));
        Rng g(1000003ull * i + 17);
        for (int j = 0; j < DIM; j++)
          km.centre[c * DIM + j] = truth[(i % k) * DIM + j] + 1.5 * g.normal();
      }
    MPI_Bcast(km.centre.data(), k * DIM, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::fill(label.begin(), label.end(), -1);
    double prev = std::numeric_limits<double>::max(), inertia = 0;
    for (int it = 0; it < 100; it++) {
      inertia = km.step(pts, label, total, moved);
      iterations++;
      if (inertia > prev * (1 + 1e-12) || total != n) bad = true;
      prev = inertia;
      if (moved == 0) break;
    }
    best = std::min(best, inertia);
  }
  // the within-cluster variance of the generator is 1.5^2 per dimension
  double per = best / n / DIM;
  if (!(per > 1.5 && per < 6.0)) bad = true;
  if (rank == 0)
    std::printf("kmeans n=%ld k=%d starts=%d iterations=%ld best inertia=%.6f %s  time %.3f s\n", n,
                k, starts, iterations, per, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  MPI_Finalize();
  return bad;
}
