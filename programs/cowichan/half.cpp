// half - two-dimensional shuffle of a matrix.
//
// Along the columns and along the rows, the even places come first and the odd
// ones follow; of the Mandelbrot set this makes four small copies. The rows
// are distributed in blocks. Shuffling within a row is local; moving the rows
// is one MPI_Alltoallv of whole rows (a derived datatype), in which about half
// of the matrix travels. The root makes the input and scatters it, as the
// thesis's programs read their files. Thesis: sections 2.1.3 and 4.3.3.
#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsToPlace = 2;    // per element, finding where rows go
constexpr double kStepsToShuffle = 3;  // per element, moving it within its row

struct Arguments {
  int rows = 160;
  int cols = 160;
  int iters = 1;
};

// Where place `from` of `size` goes, and the other way round.
int shuffled(int from, int size) {
  return from % 2 == 0 ? from / 2 : (size + 1) / 2 + from / 2;
}
int unshuffled(int to, int size) {
  const int evens = (size + 1) / 2;
  return to < evens ? 2 * to : 2 * (to - evens) + 1;
}

void shuffle(DistributedMatrix<std::int32_t>* matrix) {
  const Distribution& rows = matrix->distribution();
  const int size = world_size();
  const int total = rows.total();
  const int cols = matrix->cols();
  const auto elements = static_cast<double>(matrix->local().size());

  // The local rows by their new places, which is also by destination.
  std::vector<int> order;
  std::vector<int> send_counts(size);
  std::vector<int> receive_counts(size);
  {
    const Phase phase("plan");
    for (int parity = 0; parity < 2; ++parity) {
      for (int row = matrix->first_row(); row < matrix->end_row(); ++row) {
        if (row % 2 == parity) order.push_back(row);
      }
    }
    for (const int row : order) ++send_counts[rows.owner(shuffled(row, total))];
    for (int row = matrix->first_row(); row < matrix->end_row(); ++row) {
      ++receive_counts[rows.owner(unshuffled(row, total))];
    }
    FORETRACE_COMPUTE(kStepsToPlace * elements);
  }
  std::vector<std::int32_t> outgoing(matrix->local().size());
  {
    const Phase phase("compute");
    std::int32_t* next = outgoing.data();
    for (const int row : order) {
      const auto old = matrix->row(row - matrix->first_row());
      for (int col = 0; col < cols; ++col) *next++ = old[unshuffled(col, cols)];
    }
    FORETRACE_COMPUTE(kStepsToShuffle * elements);
  }
  const Distribution sends(send_counts);
  const Distribution receives(receive_counts);
  std::vector<std::int32_t> incoming(matrix->local().size());
  {
    const Phase phase("exchange");
    const ContiguousType row_type(cols, MPI_INT);
    MPI_Alltoallv(outgoing.data(), sends.counts(), sends.displs(), row_type.get(), incoming.data(),
                  receives.counts(), receives.displs(), row_type.get(), MPI_COMM_WORLD);
  }
  // Rows from one source arrive by their new places.
  std::vector<int> next(size);
  for (int rank = 0; rank < size; ++rank) next[rank] = receives.first(rank);
  for (int i = 0; i < matrix->local_rows(); ++i) {
    const int source = rows.owner(unshuffled(matrix->first_row() + i, total));
    const auto start = incoming.begin() + static_cast<std::ptrdiff_t>(next[source]++) * cols;
    std::copy(start, start + cols, matrix->row(i).begin());
  }
}

std::vector<std::int32_t> shuffled_sequentially(std::vector<std::int32_t> matrix,
                                                const Arguments& arguments) {
  for (int iteration = 0; iteration < arguments.iters; ++iteration) {
    const std::vector<std::int32_t> old = matrix;
    for (int row = 0; row < arguments.rows; ++row) {
      for (int col = 0; col < arguments.cols; ++col) {
        const std::size_t to =
            static_cast<std::size_t>(shuffled(row, arguments.rows)) * arguments.cols +
            shuffled(col, arguments.cols);
        matrix[to] = old[static_cast<std::size_t>(row) * arguments.cols + col];
      }
    }
  }
  return matrix;
}

int output(const Options& options, const Arguments& arguments,
           const std::vector<std::int32_t>& input, const std::vector<std::int32_t>& all) {
  const Phase phase("output");
  print_result("half", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("iters", arguments.iters));
  int status = 0;
  if (!options.image().empty()) {
    status |= write_image("half", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    status |= check_equal("half", "matrix", shuffled_sequentially(input, arguments), all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("half", "two-dimensional shuffle of the Mandelbrot set");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the matrix");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the matrix");
  options.add_integer("iters", &arguments.iters, 1, 1000, "number of shuffles");
  options.add_image();
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const bool root = world_rank() == kRoot;
  DistributedMatrix<std::int32_t> matrix(arguments.rows, arguments.cols);
  std::vector<std::int32_t> input;
  {
    const Phase phase("scatter");
    if (root) input = mandelbrot_matrix(arguments.rows, arguments.cols, kMandelIterations);
    matrix.scatter(input);
  }
  for (int iteration = 0; iteration < arguments.iters; ++iteration) shuffle(&matrix);
  std::vector<std::int32_t> all;
  {
    const Phase phase("gather");
    all = matrix.gather();
  }
  return root ? output(options, arguments, input, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
