// model_halo - a grid of ranks; each step every rank exchanges its border with
// its four neighbours, computes, and joins an allreduce.
#include <array>
#include <cmath>

#include "model_main.hpp"

namespace {

using namespace foretrace;

struct Halo {
  int columns = 1;
  int rows = 1;
  int steps = 10;
  Bytes border;
  Time compute;
};

// The nearest to a square that has `ranks` ranks.
Halo grid(int ranks) {
  Halo halo;
  halo.columns = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % halo.columns != 0) --halo.columns;
  halo.rows = ranks / halo.columns;
  return halo;
}

// left, right, up, down; kProcNull beyond the edges.
std::array<int, 4> neighbours(const Halo& halo, int rank) {
  const int x = rank % halo.columns;
  const int y = rank / halo.columns;
  return {x > 0 ? rank - 1 : sim::kProcNull, x + 1 < halo.columns ? rank + 1 : sim::kProcNull,
          y > 0 ? rank - halo.columns : sim::kProcNull,
          y + 1 < halo.rows ? rank + halo.columns : sim::kProcNull};
}

sim::RankTask step_by_step(sim::ModelRank& rank, const Halo& halo) {
  const std::array<int, 4> to = neighbours(halo, rank.rank());
  std::array<sim::ModelRequest, 8> requests;
  for (int step = 0; step < halo.steps; ++step) {
    std::size_t posted = 0;
    for (const int neighbour : to) requests[posted++] = co_await rank.irecv(neighbour, halo.border);
    for (const int neighbour : to) requests[posted++] = co_await rank.isend(neighbour, halo.border);
    rank.compute(halo.compute);
    co_await rank.wait_all(requests);
    co_await rank.allreduce(Bytes(8));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return models::run_main([&] {
    models::Options options("model_halo: halo exchange on a grid, an allreduce in each step");
    int steps = 10;
    int bytes = 8192;
    int compute = 50'000;
    options.add("steps", &steps, "steps");
    options.add("bytes", &bytes, "bytes to each neighbour");
    options.add("compute", &compute, "computation of a step, ns");
    if (!options.parse(argc, argv)) return;
    Halo halo = grid(options.ranks);
    halo.steps = steps;
    halo.border = Bytes(static_cast<std::uint64_t>(bytes));
    halo.compute = Time::ns(compute);
    sim::ModelProgram program(options.ranks,
                              [&](sim::ModelRank& rank) { return step_by_step(rank, halo); });
    models::simulate_and_print(program, options);
  });
}
