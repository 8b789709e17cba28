// randmat - a matrix of pseudo random integers.
//
// The elements are, row by row, the successive numbers of one linear
// congruential sequence, so each depends on the one before. Every rank has a
// block of rows and first jumps to its own place in the sequence in O(log n)
// steps; the matrix is then the same at any number of ranks.
// Thesis: sections 2.1.2 and 4.3.2.
#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerJumpRound = 8;
constexpr double kStepsPerElement = 10;

struct Arguments {
  int rows = 160;
  int cols = 160;
  std::int64_t seed = 1;
};

void compute(const Arguments& arguments, DistributedMatrix<std::int32_t>* matrix) {
  Random random(arguments.seed);
  {
    const Phase phase("jump");
    const auto first = static_cast<std::uint64_t>(matrix->first_row()) * matrix->cols();
    random.skip(first);
    FORETRACE_COMPUTE(kStepsPerJumpRound * Random::skip_rounds(first));
  }
  const Phase phase("compute");
  for (std::int32_t& element : matrix->local()) element = random.next_below(kRandomLimit);
  FORETRACE_COMPUTE(kStepsPerElement * static_cast<double>(matrix->local().size()));
}

int output(const Options& options, const Arguments& arguments,
           const std::vector<std::int32_t>& all) {
  const Phase phase("output");
  print_result("randmat", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("seed", static_cast<double>(arguments.seed)));
  int status = 0;
  if (!options.image().empty()) {
    status |=
        write_image("randmat", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    // Number by number, without the jump.
    Random random(arguments.seed);
    std::vector<std::int32_t> expected(all.size());
    for (std::int32_t& element : expected) element = random.next_below(kRandomLimit);
    status |= check_equal("randmat", "matrix", expected, all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("randmat", "random matrix");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the matrix");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the matrix");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  DistributedMatrix<std::int32_t> matrix(arguments.rows, arguments.cols);
  compute(arguments, &matrix);
  std::vector<std::int32_t> all;
  {
    const Phase phase("gather");
    all = matrix.gather();
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
