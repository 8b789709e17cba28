// mandel - the Mandelbrot set as a matrix of iteration counts.
//
// Every rank computes an equal block of rows; no rank needs another one's
// data, but the rows through the set's body take far longer than those at the
// edges: with 8 ranks, ranks 3 and 4 work longest and the others wait. The
// predicted time line starts with a barrier, then come the arguments'
// broadcast, the computation, and the gather of the matrix to the root.
// Thesis: sections 2.1.1, 4.3.1 and 5.4.1.
#include <numeric>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerIteration = 8;

struct Arguments {
  int rows = 160;
  int cols = 160;
  int iters = kMandelIterations;
};

void compute(const Arguments& arguments, DistributedMatrix<std::int32_t>* set) {
  const Phase phase("compute");
  for (int i = 0; i < set->local_rows(); ++i) {
    const std::int64_t done =
        mandelbrot_row(set->first_row() + i, arguments.rows, arguments.iters, set->row(i));
    FORETRACE_COMPUTE(kStepsPerIteration * static_cast<double>(done));
  }
}

int output(const Options& options, const Arguments& arguments,
           const std::vector<std::int32_t>& all) {
  const Phase phase("output");
  const std::int64_t total = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  print_result("mandel", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("iterations", static_cast<double>(total)));
  int status = 0;
  if (!options.image().empty()) {
    status |= write_image("mandel", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    status |= check_equal("mandel", "matrix",
                          mandelbrot_matrix(arguments.rows, arguments.cols, arguments.iters), all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("mandel", "Mandelbrot set");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the matrix");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the matrix");
  options.add_integer("iters", &arguments.iters, 1, 1000000, "most iterations at a point");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  DistributedMatrix<std::int32_t> set(arguments.rows, arguments.cols);
  compute(arguments, &set);
  std::vector<std::int32_t> all;
  {
    const Phase phase("gather");
    all = set.gather();
  }
  return world_rank() == kRoot ? output(options, arguments, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
