// outer - outer product: the distances between all pairs of points.
//
// Makes a dense, symmetric, diagonally dominant matrix of the distances and the
// vector of distances from the origin. Each rank has a block of the points,
// obtains all of them (MPI_Allgatherv) and computes both triangles of its own
// rows: twice the arithmetic, but no triangle to send. The diagonal is the
// largest distance times the number of points, from an MPI_Allreduce.
// Thesis: sections 2.1.6, 4.3.6 and 5.4.3.
#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/points.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerDistance = 50;

struct Arguments {
  int size = 128;
  std::int64_t seed = 1;
};

std::vector<Point> replicate_points(const Arguments& arguments) {
  const Phase phase("replicate");
  DistributedMatrix<double> points(arguments.size, 2);
  points.local() = random_points(arguments.seed, points.first_row(), points.local_rows());
  return as_points(points.all_gather());
}

void compute_vector(const std::vector<Point>& points, DistributedVector<double>* vector) {
  const Phase phase("vector");
  for (int i = 0; i < vector->local_rows(); ++i) {
    (*vector)[i] = distance_to_origin(points[vector->first_row() + i]);
  }
  FORETRACE_COMPUTE(kStepsPerDistance * vector->local_rows());
}

void compute_matrix(const std::vector<Point>& points, DistributedMatrix<double>* matrix) {
  double largest = 0;
  {
    const Phase phase("compute");
    for (int i = 0; i < matrix->local_rows(); ++i) {
      const auto row = matrix->row(i);
      for (int j = 0; j < matrix->cols(); ++j) {
        row[j] = distance(points[matrix->first_row() + i], points[j]);
        largest = std::max(largest, row[j]);
      }
    }
    FORETRACE_COMPUTE(kStepsPerDistance * matrix->local_rows() * matrix->cols());
  }
  const Phase phase("diagonal");
  double global = 0;
  MPI_Allreduce(&largest, &global, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < matrix->local_rows(); ++i) {
    matrix->row(i)[matrix->first_row() + i] = global * matrix->cols();
  }
  FORETRACE_COMPUTE(kStepsPerDistance * matrix->local_rows());
}

// One triangle, mirrored.
std::vector<double> matrix_sequentially(const std::vector<Point>& points) {
  const std::size_t size = points.size();
  std::vector<double> matrix(size * size);
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      matrix[i * size + j] = matrix[j * size + i] = distance(points[i], points[j]);
      largest = std::max(largest, matrix[i * size + j]);
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    matrix[i * size + i] = largest * static_cast<double>(size);
  }
  return matrix;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("outer", "distances between all pairs of points");
  options.add_integer("size", &arguments.size, 1, 20000, "number of points");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const std::vector<Point> points = replicate_points(arguments);
  DistributedVector<double> vector(arguments.size);
  compute_vector(points, &vector);
  DistributedMatrix<double> matrix(arguments.size, arguments.size);
  compute_matrix(points, &matrix);
  std::vector<double> all;
  std::vector<double> origin;
  {
    const Phase phase("gather");
    all = matrix.gather();
    origin = vector.gather();
  }
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("outer", Digest().add_all(all).add_all(origin),
               fact("size", arguments.size) + " " + fact("diagonal", all[0]));
  int status = 0;
  if (!options.image().empty()) {
    std::vector<double> shown = all;  // the diagonal would hide the distances
    for (int i = 0; i < arguments.size; ++i) {
      shown[static_cast<std::size_t>(i) * (arguments.size + 1)] = 0;
    }
    status |=
        write_image("outer", options.image(), image_of(shown, arguments.size, arguments.size));
  }
  if (options.check()) {
    const auto same = as_points(random_points(arguments.seed, 0, arguments.size));
    std::vector<double> expected(same.size());
    for (std::size_t i = 0; i < same.size(); ++i) expected[i] = distance_to_origin(same[i]);
    status |= check_equal("outer", "matrix", matrix_sequentially(same), all);
    status |= check_equal("outer", "vector", expected, origin);
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
