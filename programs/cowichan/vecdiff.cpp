// vecdiff - the greatest difference between two vectors.
//
// The root makes both vectors, pads them with equal zeros to a multiple of the
// rank count and scatters them in equal parts (MPI_Scatter). Each rank finds
// the greatest difference between its own elements; one MPI_Allreduce gives
// the overall one to all. Computation against one reduction: the smallest of
// the programs. Thesis: sections 2.1.14 and 4.3.14.
#include <cmath>

#include "common/matrices.hpp"
#include "common/mpi.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

struct Arguments {
  int size = 10000;
  std::int64_t seed = 1;
};

// The root's `whole` in equal parts.
std::vector<double> scatter(std::vector<double> whole, int part) {
  if (world_rank() == kRoot) whole.resize(static_cast<std::size_t>(part) * world_size());
  std::vector<double> mine(part);
  MPI_Scatter(whole.data(), part, MPI_DOUBLE, mine.data(), part, MPI_DOUBLE, kRoot, MPI_COMM_WORLD);
  return mine;
}

double local_difference(const std::vector<double>& a, const std::vector<double>& b) {
  const Phase phase("compute");
  double greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, std::fabs(a[i] - b[i]));
  FORETRACE_COMPUTE(a.size());
  return greatest;
}

double difference_sequentially(const Arguments& arguments) {
  Random a(arguments.seed);
  Random b(arguments.seed + 1);
  double greatest = 0;
  for (int i = 0; i < arguments.size; ++i) {
    greatest = std::max(greatest, std::fabs(a.next_unit() - b.next_unit()));
  }
  return greatest;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("vecdiff", "greatest difference between two vectors");
  options.add_integer("size", &arguments.size, 1, 100000000, "elements of each vector");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const int part = (arguments.size + world_size() - 1) / world_size();
  std::vector<double> a;
  std::vector<double> b;
  {
    const Phase phase("scatter");
    if (world_rank() == kRoot) {
      a = random_real_rows(arguments.seed, 0, arguments.size, 1);
      b = random_real_rows(arguments.seed + 1, 0, arguments.size, 1);
    }
    a = scatter(std::move(a), part);
    b = scatter(std::move(b), part);
  }
  const double mine = local_difference(a, b);
  double greatest = 0;
  {
    const Phase phase("reduce");
    MPI_Allreduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("vecdiff", Digest().add(greatest),
               fact("size", arguments.size) + " " + fact("difference", greatest));
  if (options.check()) {
    return check_equal("vecdiff", "difference",
                       std::vector<double>{difference_sequentially(arguments)}, {greatest});
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
