// norm - scales a set of points to fill the unit square.
//
// The root makes the points and scatters them in even blocks. Each rank finds
// its own extremes; four MPI_Allreduce calls of one number (least and greatest
// x and y) make them global; each rank then scales its own points, and the
// root gathers them. Thesis: sections 2.1.12 and 4.3.12.
#include <limits>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/points.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsToScale = 8;

struct Arguments {
  int size = 10000;
  std::int64_t seed = 1;
};

struct Extremes {
  Point low = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Point high = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
};

Extremes local_extremes(const std::vector<double>& coordinates) {
  Extremes extremes;
  for (std::size_t i = 0; i < coordinates.size(); i += 2) {
    extremes.low.x = std::min(extremes.low.x, coordinates[i]);
    extremes.low.y = std::min(extremes.low.y, coordinates[i + 1]);
    extremes.high.x = std::max(extremes.high.x, coordinates[i]);
    extremes.high.y = std::max(extremes.high.y, coordinates[i + 1]);
  }
  return extremes;
}

double reduced(double mine, MPI_Op operation) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
  return result;
}

Extremes global_extremes(const std::vector<double>& coordinates) {
  const Phase phase("reduce");
  const Extremes mine = local_extremes(coordinates);
  FORETRACE_COMPUTE(coordinates.size() / 2);
  Extremes all;
  all.low.x = reduced(mine.low.x, MPI_MIN);
  all.high.x = reduced(mine.high.x, MPI_MAX);
  all.low.y = reduced(mine.low.y, MPI_MIN);
  all.high.y = reduced(mine.high.y, MPI_MAX);
  return all;
}

double scaled(double value, double low, double high) {
  return high > low ? (value - low) / (high - low) : 0;
}

void normalise(const Extremes& extremes, std::vector<double>* coordinates) {
  for (std::size_t i = 0; i < coordinates->size(); i += 2) {
    double& x = (*coordinates)[i];
    double& y = (*coordinates)[i + 1];
    x = scaled(x, extremes.low.x, extremes.high.x);
    y = scaled(y, extremes.low.y, extremes.high.y);
  }
}

// Points of a slanted band, far from the unit square.
std::vector<double> make_points(const Arguments& arguments) {
  std::vector<double> coordinates = random_points(arguments.seed, 0, arguments.size);
  for (std::size_t i = 0; i < coordinates.size(); i += 2) {
    coordinates[i] = 40 + 30 * coordinates[i];
    coordinates[i + 1] = 7 * coordinates[i + 1] - 0.5 * coordinates[i];
  }
  return coordinates;
}

int output(const Options& options, const Arguments& arguments, std::vector<double> input,
           const std::vector<double>& all) {
  const Phase phase("output");
  print_result("norm", Digest().add_all(all),
               fact("size", arguments.size) + " " + fact("x", all[0]) + " " + fact("y", all[1]));
  int status = 0;
  if (!options.image().empty()) {
    Image image{256, 256, std::vector<std::uint8_t>(256 * 256)};
    plot(&image, as_points(all), 255, false);
    status |= write_image("norm", options.image(), image);
  }
  if (options.check()) {
    normalise(local_extremes(input), &input);
    status |= check_equal("norm", "points", input, all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("norm", "points scaled to the unit square");
  options.add_integer("size", &arguments.size, 1, 10000000, "number of points");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const bool root = world_rank() == kRoot;
  DistributedMatrix<double> points(arguments.size, 2);
  std::vector<double> input;
  {
    const Phase phase("scatter");
    if (root) input = make_points(arguments);
    points.scatter(input);
  }
  const Extremes extremes = global_extremes(points.local());
  {
    const Phase phase("compute");
    normalise(extremes, &points.local());
    FORETRACE_COMPUTE(kStepsToScale * points.local_rows());
  }
  std::vector<double> all;
  {
    const Phase phase("gather");
    all = points.gather();
  }
  return root ? output(options, arguments, std::move(input), all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
