// thresh - histogram thresholding of an image.
//
// Keeps the brightest `percent` per cent of the pixels of a random matrix, by
// rows in blocks. A global reduction finds the largest value; each rank makes
// the histogram of its rows; a second reduction adds the histograms up; every
// rank then finds the threshold for itself and makes its part of the mask.
// Thesis: sections 2.1.5, 4.3.5 and 5.4.4.
#include <numeric>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

struct Arguments {
  int rows = 160;
  int cols = 160;
  int percent = 20;
  std::int64_t seed = 1;
};

std::int32_t global_maximum(const std::vector<std::int32_t>& values) {
  const Phase phase("maximum");
  std::int32_t mine = 0;
  for (const std::int32_t value : values) mine = std::max(mine, value);
  FORETRACE_COMPUTE(values.size());
  std::int32_t maximum = 0;
  MPI_Allreduce(&mine, &maximum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return maximum;
}

std::vector<std::int64_t> global_histogram(const std::vector<std::int32_t>& values,
                                           std::int32_t maximum) {
  const Phase phase("histogram");
  std::vector<std::int64_t> mine(maximum + 1);
  for (const std::int32_t value : values) ++mine[value];
  FORETRACE_COMPUTE(values.size());
  std::vector<std::int64_t> histogram(mine.size());
  MPI_Allreduce(mine.data(), histogram.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  return histogram;
}

// The smallest value such that at most `wanted` pixels have it or more.
std::int32_t find_threshold(const std::vector<std::int64_t>& histogram, std::int64_t wanted) {
  const Phase phase("threshold");
  auto threshold = static_cast<std::int32_t>(histogram.size());
  std::int64_t kept = 0;
  while (threshold > 0 && kept + histogram[threshold - 1] <= wanted) kept += histogram[--threshold];
  FORETRACE_COMPUTE(histogram.size() - threshold + 1);
  return threshold;
}

std::vector<std::uint8_t> mask_sequentially(const Arguments& arguments, std::int64_t wanted) {
  // By sorting, without a histogram.
  const auto values = random_rows(arguments.seed, 0, arguments.rows, arguments.cols);
  std::vector<std::int32_t> sorted = values;
  std::sort(sorted.rbegin(), sorted.rend());
  // Values equal to the first one that does not fit are dropped as a whole.
  const bool all_fit = wanted >= static_cast<std::int64_t>(sorted.size());
  const std::int32_t first_dropped = all_fit ? -1 : sorted[wanted];
  std::vector<std::uint8_t> mask(values.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = values[i] > first_dropped ? 1 : 0;
  return mask;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("thresh", "histogram thresholding of a random matrix");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the image");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the image");
  options.add_integer("percent", &arguments.percent, 0, 100, "pixels to keep, per cent");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  DistributedMatrix<std::int32_t> input(arguments.rows, arguments.cols);
  input.local() =
      random_rows(arguments.seed, input.first_row(), input.local_rows(), arguments.cols);
  const std::int64_t wanted =
      std::int64_t{arguments.rows} * arguments.cols * arguments.percent / 100;

  const std::int32_t maximum = global_maximum(input.local());
  const std::int32_t threshold = find_threshold(global_histogram(input.local(), maximum), wanted);
  DistributedMatrix<std::uint8_t> mask(arguments.rows, arguments.cols);
  {
    const Phase phase("mask");
    for (std::size_t i = 0; i < mask.local().size(); ++i) {
      mask.local()[i] = input.local()[i] >= threshold ? 1 : 0;
    }
    FORETRACE_COMPUTE(mask.local().size());
  }
  std::vector<std::uint8_t> all;
  {
    const Phase phase("gather");
    all = mask.gather();
  }
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  const auto kept = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  print_result("thresh", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("threshold", threshold) + " " + fact("kept", static_cast<double>(kept)));
  int status = 0;
  if (!options.image().empty()) {
    status |= write_image("thresh", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    status |= check_equal("thresh", "mask", mask_sequentially(arguments, wanted), all);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
