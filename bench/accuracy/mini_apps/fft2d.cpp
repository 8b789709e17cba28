// Spectral solver for the periodic 2-D heat equation: every step does a
// distributed 2-D FFT (row FFTs, MPI_Alltoall transpose, row FFTs), damps the
// modes, and transforms back.  Rows are dealt in blocks of ceil(n/P); short
// blocks are padded so that the plain MPI_Alltoall can be used.
// usage: fft2d [log2n [steps]]
#include <mpi.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

using cplx = std::complex<double>;

struct FFT1D {
  int n;
  std::vector<cplx> tw;
  std::vector<int> rev;
  explicit FFT1D(int n_) : n(n_), tw(n_ / 2), rev(n_) {
    for (int i = 0; i < n / 2; i++) tw[i] = std::polar(1.0, -2.0 * M_PI * i / n);
    int lg = 0;
    while ((1 << lg) < n) lg++;
    for (int i = 0; i < n; i++) {
      int r = 0;
      for (int b = 0; b < lg; b++)
        if (i >> b & 1) r |= 1 << (lg - 1 - b);
      rev[i] = r;
    }
  }
  void run(cplx* a, bool inverse) const {
    for (int i = 0; i < n; i++)
      if (i < rev[i]) std::swap(a[i], a[rev[i]]);
    for (int len = 2; len <= n; len <<= 1) {
      int half = len / 2, step = n / len;
      for (int s = 0; s < n; s += len)
        for (int k = 0; k < half; k++) {
          double wr = tw[k * step].real(), wi = tw[k * step].imag();
          if (inverse) wi = -wi;
          cplx t = a[s + k + half], u = a[s + k];
          cplx v(t.real() * wr - t.imag() * wi, t.real() * wi + t.imag() * wr);
          a[s + k] = u + v;
          a[s + k + half] = u - v;
        }
    }
    if (inverse)
      for (int i = 0; i < n; i++) a[i] *= 1.0 / n;
  }
};

class DistTranspose {
  int n, P, nb, rows;
  std::vector<cplx> snd, rcv;

 public:
  DistTranspose(int n_, int P_, int nb_, int rows_)
      : n(n_), P(P_), nb(nb_), rows(rows_), snd((size_t)nb_ * nb_ * P_), rcv(snd.size()) {}
  void operator()(std::vector<cplx>& a) {
    for (int p = 0; p < P; p++)
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < nb && p * nb + j < n; j++)
          snd[((size_t)p * nb + j) * nb + i] = a[(size_t)i * n + p * nb + j];
    MPI_Alltoall(snd.data(), nb * nb, MPI_CXX_DOUBLE_COMPLEX, rcv.data(), nb * nb,
                 MPI_CXX_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    for (int p = 0; p < P; p++)
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < nb && p * nb + j < n; j++)
          a[(size_t)i * n + p * nb + j] = rcv[((size_t)p * nb + i) * nb + j];
  }
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  int rank, P;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  int lg = argc > 1 ? std::atoi(argv[1]) : 7;
  int steps = argc > 2 ? std::atoi(argv[2]) : 150;
  int n = 1 << lg, nb = (n + P - 1) / P;
  int first = std::min(n, rank * nb), rows = std::min(n, first + nb) - first;

  std::vector<cplx> a((size_t)rows * n);
  auto exact = [&](int i, int j, double t) {
    double x = 2 * M_PI * i / n, y = 2 * M_PI * j / n;
    return std::sin(x) * std::cos(2 * y) * std::exp(-5 * t) +
           0.5 * std::cos(3 * x + 4 * y) * std::exp(-25 * t) + 0.25;
  };
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++) a[(size_t)i * n + j] = exact(first + i, j, 0);

  FFT1D fft(n);
  DistTranspose transpose(n, P, nb, rows);
  const double dt = 0.001;
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < rows; i++) fft.run(&a[(size_t)i * n], false);
    transpose(a);
    for (int i = 0; i < rows; i++) {
      fft.run(&a[(size_t)i * n], false);
      int ky = first + i <= n / 2 ? first + i : first + i - n;
      for (int j = 0; j < n; j++) {
        int kx = j <= n / 2 ? j : j - n;
        a[(size_t)i * n + j] *= std::exp(-dt * (double(kx) * kx + double(ky) * ky));
      }
      fft.run(&a[(size_t)i * n], true);
    }
    transpose(a);
    for (int i = 0; i < rows; i++) fft.run(&a[(size_t)i * n], true);
  }

  double loc[2] = {0, 0}, err = 0, sum = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++) {
      cplx v = a[(size_t)i * n + j];
      loc[0] = std::max(loc[0], std::abs(v - exact(first + i, j, steps * dt)));
      loc[1] += v.real();
    }
  MPI_Reduce(&loc[0], &err, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&loc[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  int bad = 0;
  if (rank == 0) {
    bad = !(err < 1e-11 * n && std::fabs(sum / n / n - 0.25) < 1e-11);
    std::printf("fft2d n=%d steps=%d mean=%.12f maxerr=%.2e %s  time %.3f s\n", n, steps,
                sum / n / n, err, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
  }
  MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return bad;
}
