// mandel - the Mandelbrot set as a matrix of iteration counts.
//
// Every rank computes an equal block of rows; no rank needs another one's
// data, but the rows through the set's body take far longer than those at the
// edges: with 8 ranks, ranks 3 and 4 work longest and the others wait. The
// predicted time line starts with a barrier, then come the arguments'
// broadcast, the computation, and the gather of the matrix to the root.
// Thesis: sections 2.1.1, 4.3.1 and 5.4.1.
//
// --schedule farm: a manager (rank 0) hands the next row to whichever worker
// has done its last one, and draws each row as it comes (Karrels and Lusk,
// section 3.3 and figure 3).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerIteration = 8;

enum Schedule { kBlocks, kFarm };

struct Arguments {
  int rows = 160;
  int cols = 160;
  int iters = kMandelIterations;
  int schedule = kBlocks;
};

using Row = std::vector<std::int32_t>;

void compute_row(const Arguments& arguments, int row, std::span<std::int32_t> values) {
  const std::int64_t done = mandelbrot_row(row, arguments.rows, arguments.iters, values);
  FORETRACE_COMPUTE(kStepsPerIteration * static_cast<double>(done));
}

void compute(const Arguments& arguments, DistributedMatrix<std::int32_t>* set) {
  const Phase phase("compute");
  for (int i = 0; i < set->local_rows(); ++i)
    compute_row(arguments, set->first_row() + i, set->row(i));
}

// Blocks of rows. Returns all of them on the root.
Row compute_blocks(const Arguments& arguments) {
  DistributedMatrix<std::int32_t> set(arguments.rows, arguments.cols);
  compute(arguments, &set);
  const Phase phase("gather");
  return set.gather();
}

constexpr int kOrderTag = 1;   // manager to worker: a row's number, or kNoMore
constexpr int kResultTag = 2;  // worker to manager: the row's number, then its values
constexpr std::int32_t kNoMore = -1;

// Hands out the rows in order, and collects them as they come.
Row manage(const Arguments& arguments, const std::string& picture) {
  const Phase phase("manage");
  Row all(static_cast<std::size_t>(arguments.rows) * arguments.cols);
  std::optional<ImageFile> image;
  if (!picture.empty()) image.emplace(picture, arguments.rows, arguments.cols);
  int next = 0;
  const auto order = [&](int worker) {
    const std::int32_t row = next < arguments.rows ? next++ : kNoMore;
    MPI_Send(&row, 1, MPI_INT32_T, worker, kOrderTag, MPI_COMM_WORLD);
    return row != kNoMore;
  };
  int busy = 0;
  for (int worker = 1; worker < world_size(); ++worker) busy += order(worker) ? 1 : 0;
  Row result(arguments.cols + 1);
  std::vector<std::uint8_t> pixels(arguments.cols);  // on a scale on which no row is black
  while (busy > 0) {
    MPI_Status status;
    MPI_Recv(result.data(), arguments.cols + 1, MPI_INT32_T, MPI_ANY_SOURCE, kResultTag,
             MPI_COMM_WORLD, &status);
    if (!order(status.MPI_SOURCE)) --busy;
    std::copy(result.begin() + 1, result.end(),
              all.begin() + static_cast<std::ptrdiff_t>(result[0]) * arguments.cols);
    if (!image) continue;
    for (int col = 0; col < arguments.cols; ++col)
      pixels[col] = static_cast<std::uint8_t>(255 * std::log1p(result[col + 1]) /
                                              std::log1p(arguments.iters));
    image->set_row(result[0], pixels.data());
    image->show();
  }
  return all;
}

void work(const Arguments& arguments) {
  const Phase phase("work");
  Row result(arguments.cols + 1);
  while (true) {
    MPI_Recv(result.data(), 1, MPI_INT32_T, kRoot, kOrderTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (result[0] == kNoMore) return;
    compute_row(arguments, result[0], std::span(result).subspan(1));
    MPI_Send(result.data(), arguments.cols + 1, MPI_INT32_T, kRoot, kResultTag, MPI_COMM_WORLD);
  }
}

// Returns all rows on the root.
Row compute_all(const Arguments& arguments, const std::string& picture) {
  if (arguments.schedule == kBlocks || world_size() == 1) return compute_blocks(arguments);
  if (world_rank() == kRoot) return manage(arguments, picture);
  work(arguments);
  return {};
}

int output(const Options& options, const Arguments& arguments, const Row& all) {
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
  options.add_choice("schedule", &arguments.schedule, {"blocks", "farm"},
                     "blocks of rows, or rows handed out by rank 0 to whoever asks");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const Row all = compute_all(arguments, options.image());
  return world_rank() == kRoot ? output(options, arguments, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
