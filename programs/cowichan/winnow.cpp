// winnow - weighted point selection.
//
// From an integer matrix (the Mandelbrot set, scattered by rows) and a mask (a
// value of at least --threshold), sorts the selected cells by falling weight
// and keeps the place of every n-th. Each rank lists its own cells; three
// reductions give least, greatest and number; equal slices of the range of
// weights go to one rank each (MPI_Alltoall of the counts, MPI_Alltoallv of
// the cells); each rank sorts its slice. The central ranks select most cells,
// and the slice of the set itself, all on rank 0, is by far the largest: the
// program shows two imbalances. Thesis: sections 2.1.13, 4.3.13 and 5.4.6.
#include <cmath>
#include <limits>
#include <tuple>

#include "common/distribution.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsToScan = 1;      // per cell of the matrix
constexpr double kStepsToSelect = 5;    // per selected cell
constexpr double kStepsPerPivot = 3;    // per rank
constexpr double kStepsToClassify = 3;  // per selected cell
constexpr double kStepsPerBuffer = 2;   // per rank
constexpr double kStepsToSort = 4;      // times n log n
constexpr double kStepsToPack = 2;      // per cell kept

struct Arguments {
  int rows = 160;
  int cols = 160;
  int threshold = 8;
  int points = 200;
};

struct Cell {
  std::int32_t value;
  std::int32_t row;
  std::int32_t col;
};

bool comes_before(const Cell& a, const Cell& b) {
  return std::tuple(-a.value, a.row, a.col) < std::tuple(-b.value, b.row, b.col);
}

std::vector<Cell> select(const DistributedMatrix<std::int32_t>& matrix, int threshold) {
  const Phase phase("select");
  std::vector<Cell> cells;
  for (int i = 0; i < matrix.local_rows(); ++i) {
    const auto row = matrix.row(i);
    for (int col = 0; col < matrix.cols(); ++col) {
      if (row[col] >= threshold) cells.push_back({row[col], matrix.first_row() + i, col});
    }
  }
  FORETRACE_COMPUTE(kStepsToScan * static_cast<double>(matrix.local().size()) +
                    kStepsToSelect * static_cast<double>(cells.size()));
  return cells;
}

struct Summary {
  std::int32_t low = std::numeric_limits<std::int32_t>::max();
  std::int32_t high = std::numeric_limits<std::int32_t>::min();
  std::int32_t total = 0;
};

Summary summarise(const std::vector<Cell>& cells) {
  const Phase phase("reduce");
  Summary mine;
  for (const Cell& cell : cells) {
    mine.low = std::min(mine.low, cell.value);
    mine.high = std::max(mine.high, cell.value);
  }
  mine.total = static_cast<std::int32_t>(cells.size());
  Summary all;
  MPI_Allreduce(&mine.low, &all.low, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine.high, &all.high, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&mine.total, &all.total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Sends each cell to the rank that has its slice of the weights; rank 0 has the heaviest.
std::vector<Cell> redistribute(const std::vector<Cell>& cells, const Summary& all) {
  const int size = world_size();
  std::vector<int> send_counts(size);
  std::vector<Cell> outgoing(cells.size());
  {
    const Phase phase("classify");
    const auto slice = [&](const Cell& cell) {
      const std::int64_t width = std::int64_t{all.high} - all.low + 1;
      return static_cast<int>((std::int64_t{all.high} - cell.value) * size / width);
    };
    for (const Cell& cell : cells) ++send_counts[slice(cell)];
    const Distribution starts(send_counts);
    std::vector<int> next(starts.displs(), starts.displs() + size);
    for (const Cell& cell : cells) outgoing[next[slice(cell)]++] = cell;
    FORETRACE_COMPUTE(kStepsPerPivot * size + kStepsToClassify * static_cast<double>(cells.size()));
  }
  const Phase phase("exchange");
  std::vector<int> receive_counts(size);
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const Distribution sends(send_counts);
  const Distribution receives(receive_counts);
  std::vector<Cell> incoming(receives.total());
  FORETRACE_COMPUTE(kStepsPerBuffer * size);
  const ContiguousType cell_type(3, MPI_INT);
  MPI_Alltoallv(outgoing.data(), sends.counts(), sends.displs(), cell_type.get(), incoming.data(),
                receives.counts(), receives.displs(), cell_type.get(), MPI_COMM_WORLD);
  return incoming;
}

void sort_cells(std::vector<Cell>* cells) {
  const Phase phase("sort");
  std::sort(cells->begin(), cells->end(), comes_before);
  const auto count = static_cast<double>(cells->size());
  if (count > 1) FORETRACE_COMPUTE(std::round(kStepsToSort * count * std::log(count)));
}

// How many sorted cells lie between one that is kept and the next.
int stride_of(int total, int points) {
  return std::max(1, total / points);
}

// Gathers row, column of every stride-th cell of the whole sorted sequence on the root.
std::vector<std::int32_t> keep(const std::vector<Cell>& cells, int total, int points) {
  const int size = world_size();
  const int stride = stride_of(total, points);
  std::vector<int> counts(size);
  {
    const Phase phase("count");
    const int mine = static_cast<int>(cells.size());
    MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  }
  const Distribution sorted(counts);
  // Cells kept of the sequence's first `end` ones.
  const auto kept_until = [&](int end) { return std::min(points, (end + stride - 1) / stride); };
  std::vector<std::int32_t> packed;
  std::vector<int> kept_counts(size);
  {
    const Phase phase("pack");
    for (int rank = 0; rank < size; ++rank) {
      kept_counts[rank] = kept_until(sorted.end(rank)) - kept_until(sorted.first(rank));
    }
    const int first = sorted.first(world_rank());
    for (int n = kept_until(first); n < kept_until(sorted.end(world_rank())); ++n) {
      packed.push_back(cells[n * stride - first].row);
      packed.push_back(cells[n * stride - first].col);
    }
    FORETRACE_COMPUTE(kStepsToPack * static_cast<double>(packed.size() / 2));
  }
  const Phase phase("gather");
  const Distribution words = Distribution(kept_counts).times(2);
  std::vector<std::int32_t> all(world_rank() == kRoot ? words.total() : 0);
  MPI_Gatherv(packed.data(), static_cast<int>(packed.size()), MPI_INT, all.data(), words.counts(),
              words.displs(), MPI_INT, kRoot, MPI_COMM_WORLD);
  return all;
}

std::vector<std::int32_t> winnow_sequentially(const Arguments& arguments,
                                              const std::vector<std::int32_t>& matrix) {
  std::vector<Cell> cells;
  for (int i = 0; i < static_cast<int>(matrix.size()); ++i) {
    if (matrix[i] >= arguments.threshold) {
      cells.push_back({matrix[i], i / arguments.cols, i % arguments.cols});
    }
  }
  std::sort(cells.begin(), cells.end(), comes_before);
  const int stride = stride_of(static_cast<int>(cells.size()), arguments.points);
  std::vector<std::int32_t> kept;
  for (std::size_t i = 0; i < cells.size(); i += stride) {
    if (static_cast<int>(kept.size()) == 2 * arguments.points) break;
    kept.push_back(cells[i].row);
    kept.push_back(cells[i].col);
  }
  return kept;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("winnow", "weighted point selection from the Mandelbrot set");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the matrix");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the matrix");
  options.add_integer("threshold", &arguments.threshold, 1, kMandelIterations,
                      "least value that the mask selects");
  options.add_integer("points", &arguments.points, 1, 10000000, "points to keep");
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
  std::vector<Cell> cells = select(matrix, arguments.threshold);
  const Summary all = summarise(cells);
  cells = redistribute(cells, all);
  sort_cells(&cells);
  const std::vector<std::int32_t> kept = keep(cells, all.total, arguments.points);
  if (!root) return 0;

  const Phase phase("output");
  print_result("winnow", Digest().add_all(kept),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("selected", all.total) + " " +
                   fact("points", static_cast<double>(kept.size()) / 2));
  if (options.check()) {
    return check_equal("winnow", "points", winnow_sequentially(arguments, input), kept);
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
