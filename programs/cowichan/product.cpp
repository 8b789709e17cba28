// product - a real matrix times a real vector.
//
// The rows of the matrix and both vectors are distributed in blocks. Every
// rank first obtains a copy of the whole vector (MPI_Allgatherv), then
// computes its part of the result by itself. The thesis ran it with 2.5 times
// as many rows as the other programs. Thesis: sections 2.1.9 and 4.3.9.
#include <span>

#include "common/distribution.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerElement = 2;

struct Arguments {
  int size = 256;
  std::int64_t seed = 1;
};

double row_times_vector(std::span<const double> row, const std::vector<double>& vector) {
  double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * vector[j];
  return sum;
}

std::vector<double> product_sequentially(const Arguments& arguments) {
  const int size = arguments.size;
  const auto matrix = random_real_rows(arguments.seed, 0, size, size);
  const auto vector = random_real_rows(arguments.seed + 1, 0, size, 1);
  std::vector<double> result(size);
  for (int i = 0; i < size; ++i) {
    result[i] = row_times_vector(
        std::span(matrix).subspan(static_cast<std::size_t>(i) * size, size), vector);
  }
  return result;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("product", "matrix times vector");
  options.add_integer("size", &arguments.size, 1, 20000, "rows and columns of the matrix");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const int size = arguments.size;
  DistributedMatrix<double> matrix(size, size);
  matrix.local() = random_real_rows(arguments.seed, matrix.first_row(), matrix.local_rows(), size);
  DistributedVector<double> vector(size);
  vector.local() = random_real_rows(arguments.seed + 1, vector.first_row(), vector.local_rows(), 1);

  std::vector<double> whole;
  {
    const Phase phase("replicate");
    whole = vector.all_gather();
  }
  DistributedVector<double> result(size);
  {
    const Phase phase("compute");
    for (int i = 0; i < result.local_rows(); ++i)
      result[i] = row_times_vector(matrix.row(i), whole);
    FORETRACE_COMPUTE(kStepsPerElement * static_cast<double>(matrix.local().size()));
  }
  std::vector<double> all;
  {
    const Phase phase("gather");
    all = result.gather();
  }
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("product", Digest().add_all(all),
               fact("size", size) + " " + fact("first", all.front()));
  if (options.check()) {
    return check_equal("product", "vector", product_sequentially(arguments), all);
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
