// sor - a linear system by iterated over-relaxation.
//
// Solves the diagonally dominant system that outer makes. The rows of the
// matrix and the vectors are distributed in blocks. In an iteration each rank
// relaxes its own elements from the last iteration's vector (so the result
// does not depend on the number of ranks); then every rank gets a copy of the
// whole updated vector (MPI_Allgatherv), and the largest change decides
// (MPI_Allreduce) whether to go on. Thesis: sections 2.1.10 and 4.3.10.
#include <cmath>
#include <span>

#include "common/distribution.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/points.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerElement = 2;
constexpr double kStepsPerRow = 8;

struct Arguments {
  int size = 128;
  int iters = 100;
  double tolerance = 1e-9;
  double factor = 1.1;
  std::int64_t seed = 1;
};

// Row `i` of the matrix of distances, its diagonal large enough to dominate.
void make_row(const std::vector<Point>& points, int i, std::span<double> row) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = distance(points[i], points[j]);
  row[i] = std::sqrt(2.0) * static_cast<double>(row.size());
}

double relaxed(std::span<const double> row, int i, double right, const std::vector<double>& x,
               double factor) {
  double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * x[j];
  return x[i] + factor * (right - sum) / row[i];
}

struct Solution {
  std::vector<double> x;
  int iterations = 0;
};

Solution solve(const Arguments& arguments, const DistributedMatrix<double>& matrix,
               const DistributedVector<double>& right) {
  const Phase phase("solve");
  DistributedVector<double> x(arguments.size);
  Solution solution{x.all_gather(), 0};
  double largest_change = arguments.tolerance;
  while (solution.iterations < arguments.iters && largest_change >= arguments.tolerance) {
    double mine = 0;
    for (int i = 0; i < x.local_rows(); ++i) {
      const int global = x.first_row() + i;
      x[i] = relaxed(matrix.row(i), global, right[i], solution.x, arguments.factor);
      mine = std::max(mine, std::fabs(x[i] - solution.x[global]));
    }
    FORETRACE_COMPUTE(x.local_rows() * (kStepsPerElement * matrix.cols() + kStepsPerRow));
    solution.x = x.all_gather();
    MPI_Allreduce(&mine, &largest_change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    ++solution.iterations;
  }
  return solution;
}

std::vector<double> solve_sequentially(const Arguments& arguments,
                                       const std::vector<Point>& points) {
  const int size = arguments.size;
  std::vector<double> row(size);
  std::vector<double> x(size);
  double largest_change = arguments.tolerance;
  for (int n = 0; n < arguments.iters && largest_change >= arguments.tolerance; ++n) {
    const std::vector<double> old = x;
    largest_change = 0;
    for (int i = 0; i < size; ++i) {
      make_row(points, i, row);
      x[i] = relaxed(row, i, distance_to_origin(points[i]), old, arguments.factor);
      largest_change = std::max(largest_change, std::fabs(x[i] - old[i]));
    }
  }
  return x;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("sor", "linear system by over-relaxation");
  options.add_integer("size", &arguments.size, 1, 20000, "number of equations");
  options.add_integer("iters", &arguments.iters, 1, 1000000, "most iterations");
  options.add_real("tolerance", &arguments.tolerance, 0, 1, "stop below this change");
  options.add_real("factor", &arguments.factor, 0, 2, "relaxation factor");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  // The input: every rank makes its own rows.
  const auto points = as_points(random_points(arguments.seed, 0, arguments.size));
  DistributedMatrix<double> matrix(arguments.size, arguments.size);
  DistributedVector<double> right(arguments.size);
  for (int i = 0; i < matrix.local_rows(); ++i) {
    make_row(points, matrix.first_row() + i, matrix.row(i));
    right[i] = distance_to_origin(points[matrix.first_row() + i]);
  }
  const Solution solution = solve(arguments, matrix, right);
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("sor", Digest().add_all(solution.x),
               fact("size", arguments.size) + " " + fact("iterations", solution.iterations) + " " +
                   fact("first", solution.x.front()));
  if (options.check()) {
    return check_equal("sor", "vector", solve_sequentially(arguments, points), solution.x);
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
