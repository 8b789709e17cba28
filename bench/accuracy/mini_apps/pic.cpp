// 1-D electrostatic particle-in-cell: cold plasma oscillation with a thermal
// spread.  Cells and the particles in them are distributed; after each push
// the particles that left are sent to the neighbours, the receiver finding out
// by MPI_Probe how many come.  E comes from a prefix sum of the charge.
// usage: pic [cells [particles_per_cell [steps]]]
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Particle {
  double x, v;
};

class Plasma {
  int rank, size, left, right;
  int ncell, lo, hi;  // cells [lo, hi)
  double weight, dt;
  std::vector<Particle> part, toLeft, toRight;
  std::vector<double> rho, field;  // one ghost cell on the right / field at faces
  MPI_Datatype ptype;

  void receive(int from, int tag) {
    MPI_Status st;
    int n;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, ptype, &n);
    size_t old = part.size();
    part.resize(old + n);
    MPI_Recv(part.data() + old, n, ptype, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }

 public:
  long migrated = 0;
  Plasma(int ncell_, int ppc, double dt_) : ncell(ncell_), dt(dt_) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    lo = (int)((long)ncell * rank / size);
    hi = (int)((long)ncell * (rank + 1) / size);
    weight = 1.0 / ppc;
    rho.resize(hi - lo + 1);
    field.resize(hi - lo + 1);
    MPI_Type_contiguous(2, MPI_DOUBLE, &ptype);
    MPI_Type_commit(&ptype);
    const double k = 2 * M_PI / ncell;
    for (int c = lo; c < hi; c++)
      for (int p = 0; p < ppc; p++) {
        double x = c + (p + 0.5) / ppc;
        double th = ((p * 37 + c * 11) % 101 / 101.0 - 0.5) * 0.6;
        part.push_back({x, th + 2.0 * std::sin(k * x)});
      }
  }
  ~Plasma() { MPI_Type_free(&ptype); }

  void deposit()  // cloud in cell, nodes at integers
  {
    std::fill(rho.begin(), rho.end(), 0.0);
    for (const auto& p : part) {
      int c = (int)p.x;
      double f = p.x - c;
      rho[c - lo] += weight * (1 - f);
      rho[c - lo + 1] += weight * f;
    }
    double in;
    MPI_Sendrecv(&rho.back(), 1, MPI_DOUBLE, right, 1, &in, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    rho[0] += in;
  }
  double solve()  // dE/dx = 1 - rho, omega_p^2 = 0.01
  {
    double sum = 0, before = 0, loc = 0, mean;
    int n = hi - lo;
    for (int i = 0; i < n; i++) sum += 0.01 * (1.0 - rho[i]);
    MPI_Exscan(&sum, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before = 0;
    for (int i = 0; i < n; i++) {
      double q = 0.01 * (1.0 - rho[i]);
      field[i] = before + 0.5 * q;
      before += q;
      loc += field[i];
    }
    MPI_Allreduce(&loc, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double e = 0;
    for (int i = 0; i < n; i++) {
      field[i] -= mean / ncell;
      e += field[i] * field[i];
    }
    MPI_Sendrecv(&field[0], 1, MPI_DOUBLE, left, 2, &field[n], 1, MPI_DOUBLE, right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0.5 * e / 0.01;
  }
  double push() {
    double ke = 0;
    for (auto& p : part) {
      int c = (int)p.x - lo;
      double f = p.x - (int)p.x, v0 = p.v;
      p.v -= dt * (field[c] * (1 - f) + field[c + 1] * f);
      ke += 0.5 * weight * v0 * p.v;  // time-centred
      p.x += dt * p.v;
    }
    return ke;
  }
  void migrate() {
    toLeft.clear();
    toRight.clear();
    for (size_t i = 0; i < part.size();) {
      Particle p = part[i];
      if (p.x >= lo && p.x < hi) {
        i++;
        continue;
      }
      bool goLeft = p.x < lo;
      if (p.x < 0) p.x += ncell;
      if (p.x >= ncell) p.x -= ncell;
      (goLeft ? toLeft : toRight).push_back(p);
      part[i] = part.back();
      part.pop_back();
    }
    migrated += toLeft.size() + toRight.size();
    MPI_Request rq[2];
    MPI_Isend(toLeft.data(), (int)toLeft.size(), ptype, left, 10, MPI_COMM_WORLD, &rq[0]);
    MPI_Isend(toRight.data(), (int)toRight.size(), ptype, right, 11, MPI_COMM_WORLD, &rq[1]);
    receive(right, 10);
    receive(left, 11);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
  }
  long count() const { return (long)part.size(); }
  double momentum() const {
    double s = 0;
    for (auto& p : part) s += p.v;
    return s * weight;
  }
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double t0 = MPI_Wtime();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int cells = argc > 1 ? std::atoi(argv[1]) : 512, ppc = argc > 2 ? std::atoi(argv[2]) : 20;
  int steps = argc > 3 ? std::atoi(argv[3]) : 4000;
  if (cells < 4 * size) cells = 4 * size;
  {
    Plasma pl(cells, ppc, 0.2);
    double efirst = 0, worst = 0;
    for (int s = 0; s < steps; s++) {
      pl.deposit();
      double fe = pl.solve(), ke = pl.push(), loc[2] = {fe, ke}, e[2];
      pl.migrate();
      if (s % 10 == 0) {
        MPI_Allreduce(loc, e, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (s == 0) efirst = e[0] + e[1];
        worst = std::max(worst, std::fabs((e[0] + e[1]) / efirst - 1));
      }
    }
    long loc[2] = {pl.count(), pl.migrated}, tot[2];
    MPI_Allreduce(loc, tot, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int bad = tot[0] != (long)cells * ppc || !(worst < 0.03);
    if (rank == 0)
      std::printf(
          "pic cells=%d particles=%ld steps=%d migrated=%ld energy drift=%.2e %s  time %.3f s\n",
          cells, tot[0], steps, tot[1], worst, bad ? "WRONG" : "ok", MPI_Wtime() - t0);
    if (bad) {
      MPI_Finalize();
      return 1;
    }
  }
  MPI_Finalize();
  return 0;
}
