// elastic - the travelling salesman by an elastic net.
//
// A closed loop of 2.5 nodes per city is pulled towards the cities and by its
// own tension. Every rank knows all cities (MPI_Allgatherv) and has a block of
// the loop. An iteration exchanges the end nodes with both neighbours (send,
// send, receive, receive), then for each city adds up its pull on the whole
// loop (one MPI_Allreduce a city), then moves the nodes. The pulls are added
// as fixed-point integers, so that the sum is the same in any order.
// Thesis: sections 2.1.7, 4.3.7 and 5.4.2.
#include <cmath>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/points.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

// Per node and city. The model of section 4.3.7 has d steps here. Table 5.2 predicts
// 41.32 s of computation on two processors together, for 128 cities (320 nodes), 50
// iterations and a step of 0.5 us: 41.32 s / (50 * 128 * 320 * 0.5 us) = 40.4 steps.
constexpr double kStepsPerPull = 39;
constexpr double kStepsPerWeight = 1;  // per node and city, after the sum is known

constexpr double kPullRate = 0.2;
constexpr double kTension = 2.0;
constexpr double kFirstRange = 0.2;
constexpr double kRangeDecay = 0.99;
constexpr double kFixedPoint = 0x1p40;

constexpr int kLeftwards = 1;  // tags
constexpr int kRightwards = 2;

struct Arguments {
  int size = 32;
  int iters = 10;
  std::int64_t seed = 1;
};

std::vector<Point> replicate_cities(const Arguments& arguments) {
  const Phase phase("replicate");
  DistributedMatrix<double> cities(arguments.size, 2);
  cities.local() = random_points(arguments.seed, cities.first_row(), cities.local_rows());
  return as_points(cities.all_gather());
}

int net_size(const Arguments& arguments) {
  return arguments.size * 5 / 2;
}

// Node `index` of the first loop: a circle around the middle.
Point start_node(int index, int nodes) {
  const double angle = 2 * M_PI * index / nodes;
  return {0.5 + 0.25 * std::cos(angle), 0.5 + 0.25 * std::sin(angle)};
}

// A city's pull on a node in fixed point.
std::int64_t pull(Point city, Point node, double range) {
  const double apart = distance(city, node);
  return std::llround(kFixedPoint * std::exp(-apart * apart / (2 * range * range)));
}

void add_force(Point* force, Point city, Point node, std::int64_t pull, std::int64_t sum) {
  const double weight = sum > 0 ? static_cast<double>(pull) / static_cast<double>(sum) : 0;
  force->x += weight * (city.x - node.x);
  force->y += weight * (city.y - node.y);
}

Point moved(Point before, Point node, Point after, Point force, double range) {
  const double tension = kTension * range;
  return {node.x + kPullRate * force.x + kPullRate * tension * (before.x - 2 * node.x + after.x),
          node.y + kPullRate * force.y + kPullRate * tension * (before.y - 2 * node.y + after.y)};
}

// The nodes that come before the first and after the last one of this rank.
void exchange_ends(const std::vector<Point>& nodes, int active, Point* before, Point* after) {
  const Phase phase("exchange");
  Point first = nodes.front();
  Point last = nodes.back();
  if (active == 1) {
    *before = last;
    *after = first;
    return;
  }
  const int left = (world_rank() + active - 1) % active;
  const int right = (world_rank() + 1) % active;
  const ContiguousType point(2, MPI_DOUBLE);
  MPI_Send(&first, 1, point.get(), left, kLeftwards, MPI_COMM_WORLD);
  MPI_Send(&last, 1, point.get(), right, kRightwards, MPI_COMM_WORLD);
  MPI_Recv(after, 1, point.get(), right, kLeftwards, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(before, 1, point.get(), left, kRightwards, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

std::vector<Point> city_forces(const std::vector<Point>& cities, const std::vector<Point>& nodes,
                               double range) {
  const Phase phase("compute");
  std::vector<Point> forces(nodes.size());
  std::vector<std::int64_t> pulls(nodes.size());
  for (const Point city : cities) {
    std::int64_t mine = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      pulls[i] = pull(city, nodes[i], range);
      mine += pulls[i];
    }
    FORETRACE_COMPUTE(kStepsPerPull * static_cast<double>(nodes.size()));
    std::int64_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      add_force(&forces[i], city, nodes[i], pulls[i], sum);
    }
    FORETRACE_COMPUTE(kStepsPerWeight * static_cast<double>(nodes.size()));
  }
  return forces;
}

// One iteration on the local part of the loop.
void iterate(const std::vector<Point>& cities, double range, int active,
             std::vector<Point>* nodes) {
  Point before;
  Point after;
  if (!nodes->empty()) exchange_ends(*nodes, active, &before, &after);
  FORETRACE_COMPUTE(nodes->size());
  const std::vector<Point> forces = city_forces(cities, *nodes, range);
  const Phase phase("move");
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    const Point old = (*nodes)[i];
    const Point next = i + 1 < nodes->size() ? (*nodes)[i + 1] : after;
    (*nodes)[i] = moved(before, old, next, forces[i], range);
    before = old;
  }
  FORETRACE_COMPUTE(nodes->size());
}

std::vector<double> as_coordinates(const std::vector<Point>& points) {
  std::vector<double> coordinates;
  for (const Point point : points) {
    coordinates.push_back(point.x);
    coordinates.push_back(point.y);
  }
  return coordinates;
}

std::vector<double> net_sequentially(const Arguments& arguments) {
  const auto cities = as_points(random_points(arguments.seed, 0, arguments.size));
  const int size = net_size(arguments);
  std::vector<Point> nodes(size);
  for (int i = 0; i < size; ++i) nodes[i] = start_node(i, size);
  double range = kFirstRange;
  for (int iteration = 0; iteration < arguments.iters; ++iteration, range *= kRangeDecay) {
    std::vector<Point> forces(size);
    for (const Point city : cities) {
      std::int64_t sum = 0;
      for (const Point node : nodes) sum += pull(city, node, range);
      for (int i = 0; i < size; ++i) {
        add_force(&forces[i], city, nodes[i], pull(city, nodes[i], range), sum);
      }
    }
    const std::vector<Point> old = nodes;
    for (int i = 0; i < size; ++i) {
      nodes[i] = moved(old[(i + size - 1) % size], old[i], old[(i + 1) % size], forces[i], range);
    }
  }
  return as_coordinates(nodes);
}

int output(const Options& options, const Arguments& arguments, const std::vector<Point>& cities,
           const std::vector<double>& all) {
  const Phase phase("output");
  const std::vector<Point> net = as_points(all);
  double length = 0;
  for (std::size_t i = 0; i < net.size(); ++i)
    length += distance(net[i], net[(i + 1) % net.size()]);
  print_result("elastic", Digest().add_all(all),
               fact("size", arguments.size) + " " + fact("iters", arguments.iters) + " " +
                   fact("length", length));
  int status = 0;
  if (!options.image().empty()) {
    Image image{256, 256, std::vector<std::uint8_t>(256 * 256)};
    plot(&image, net, 128, true);
    plot(&image, cities, 255, false);
    status |= write_image("elastic", options.image(), image);
  }
  if (options.check()) {
    status |= check_equal("elastic", "net", net_sequentially(arguments), all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("elastic", "travelling salesman by an elastic net");
  options.add_integer("size", &arguments.size, 1, 100000, "number of cities");
  options.add_integer("iters", &arguments.iters, 0, 1000000, "iterations");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const std::vector<Point> cities = replicate_cities(arguments);
  DistributedMatrix<double> net(net_size(arguments), 2);
  std::vector<Point> nodes(net.local_rows());
  {
    const Phase phase("start");
    for (int i = 0; i < net.local_rows(); ++i) {
      nodes[i] = start_node(net.first_row() + i, net_size(arguments));
    }
    FORETRACE_COMPUTE(arguments.size + net.local_rows());
  }
  const int active = active_ranks(net_size(arguments), world_size());
  double range = kFirstRange;
  for (int iteration = 0; iteration < arguments.iters; ++iteration, range *= kRangeDecay) {
    iterate(cities, range, active, &nodes);
  }
  net.local() = as_coordinates(nodes);
  std::vector<double> all;
  {
    const Phase phase("gather");
    all = net.gather();
  }
  return world_rank() == kRoot ? output(options, arguments, cities, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
