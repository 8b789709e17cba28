// life - Conway's game of life on a torus.
//
// The rows are distributed in blocks. In each generation a rank exchanges its
// edge rows with the ranks above and below (by default in the thesis's order:
// send, send, receive, receive), then computes its own cells. The start is a
// thresholded random matrix; a barrier stands at the beginning and the live
// cells are counted on the root (MPI_Reduce) at the end.
// Thesis: sections 2.1.4, 4.3.4 and 5.4.5.
#include <algorithm>
#include <numeric>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

using Cell = std::uint8_t;  // but for the board at play: see --cell-bytes

constexpr double kStepsPerCell = 2;  // one to add up its row, one to decide
constexpr int kUpwards = 1;          // tags: a top row, which travels upwards
constexpr int kDownwards = 2;

enum Exchange { kBlocking, kNonblocking, kSendrecv };
enum CellBytes { kOne, kEight };

struct Arguments {
  int rows = 160;
  int cols = 160;
  int iters = 10;
  int percent = 30;
  std::int64_t seed = 1;
  int exchange = kBlocking;
  int cell_bytes = kOne;
};

// A block of rows between two halo rows.
template <class Cell>
struct Board {
  int rows = 0;
  int cols = 0;
  std::vector<Cell> cells;

  Board(int rows, int cols)
      : rows(rows), cols(cols), cells(static_cast<std::size_t>(rows + 2) * cols) {}
  // Row -1 is the halo above, row `rows` the one below.
  Cell* row(int i) { return cells.data() + static_cast<std::size_t>(i + 1) * cols; }
};

template <class Cell>
void exchange_halos(Board<Cell>* board, int active, int how) {
  const Phase phase("exchange");
  const int cols = board->cols;
  Cell* top = board->row(0);
  Cell* bottom = board->row(board->rows - 1);
  Cell* above = board->row(-1);
  Cell* below = board->row(board->rows);
  if (active == 1) {
    std::copy(bottom, bottom + cols, above);
    std::copy(top, top + cols, below);
    return;
  }
  const int rank = world_rank();
  const int up = (rank + active - 1) % active;
  const int down = (rank + 1) % active;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = mpi_type<Cell>();
  if (how == kBlocking) {
    // As in the thesis; relies on the library to buffer two rows.
    MPI_Send(top, cols, type, up, kUpwards, comm);
    MPI_Send(bottom, cols, type, down, kDownwards, comm);
    MPI_Recv(below, cols, type, down, kUpwards, comm, MPI_STATUS_IGNORE);
    MPI_Recv(above, cols, type, up, kDownwards, comm, MPI_STATUS_IGNORE);
  } else if (how == kNonblocking) {
    MPI_Request requests[4];
    MPI_Irecv(below, cols, type, down, kUpwards, comm, &requests[0]);
    MPI_Irecv(above, cols, type, up, kDownwards, comm, &requests[1]);
    MPI_Isend(top, cols, type, up, kUpwards, comm, &requests[2]);
    MPI_Isend(bottom, cols, type, down, kDownwards, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Sendrecv(top, cols, type, up, kUpwards, below, cols, type, down, kUpwards, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(bottom, cols, type, down, kDownwards, above, cols, type, up, kDownwards, comm,
                 MPI_STATUS_IGNORE);
  }
}

template <class Cell>
void compute_generation(Board<Cell>* board) {
  const Phase phase("compute");
  Board<Cell> next(board->rows, board->cols);
  const int cols = board->cols;
  for (int i = 0; i < board->rows; ++i) {
    const Cell* rows[3] = {board->row(i - 1), board->row(i), board->row(i + 1)};
    for (int col = 0; col < cols; ++col) {
      const int left = (col + cols - 1) % cols;
      const int right = (col + 1) % cols;
      auto neighbours = -static_cast<int>(rows[1][col]);
      for (const Cell* row : rows)
        neighbours += static_cast<int>(row[left] + row[col] + row[right]);
      next.row(i)[col] = neighbours == 3 || (neighbours == 2 && rows[1][col] != 0) ? 1 : 0;
    }
  }
  board->cells.swap(next.cells);
  FORETRACE_COMPUTE(kStepsPerCell * board->rows * board->cols);
}

std::vector<Cell> first_generation(const Arguments& arguments, int first, int rows) {
  const auto values = random_rows(arguments.seed, first, rows, arguments.cols);
  std::vector<Cell> cells(values.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = values[i] < kRandomLimit / 100 * arguments.percent ? 1 : 0;
  }
  return cells;
}

// Cell by cell on the whole torus.
std::vector<Cell> last_generation(const Arguments& arguments) {
  const int rows = arguments.rows;
  const int cols = arguments.cols;
  std::vector<Cell> cells = first_generation(arguments, 0, rows);
  for (int iteration = 0; iteration < arguments.iters; ++iteration) {
    const std::vector<Cell> old = cells;
    const auto at = [&](int row, int col) {
      return old[static_cast<std::size_t>((row + rows) % rows) * cols + (col + cols) % cols];
    };
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const int neighbours = at(row - 1, col - 1) + at(row - 1, col) + at(row - 1, col + 1) +
                               at(row, col - 1) + at(row, col + 1) + at(row + 1, col - 1) +
                               at(row + 1, col) + at(row + 1, col + 1);
        cells[static_cast<std::size_t>(row) * cols + col] =
            neighbours == 3 || (neighbours == 2 && at(row, col) != 0) ? 1 : 0;
      }
    }
  }
  return cells;
}

int output(const Options& options, const Arguments& arguments, std::int64_t alive,
           const std::vector<Cell>& all) {
  const Phase phase("output");
  print_result("life", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("iters", arguments.iters) + " " +
                   fact("alive", static_cast<double>(alive)));
  int status = 0;
  if (!options.image().empty()) {
    status |= write_image("life", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) status |= check_equal("life", "cells", last_generation(arguments), all);
  return status;
}

// The rank's rows after all generations.
template <class BoardCell>
void play(const Arguments& arguments, DistributedMatrix<Cell>* matrix) {
  Board<BoardCell> board(matrix->local_rows(), arguments.cols);
  std::copy(matrix->local().begin(), matrix->local().end(), board.row(0));
  const int active = active_ranks(arguments.rows, world_size());
  for (int iteration = 0; iteration < arguments.iters; ++iteration) {
    exchange_halos(&board, active, arguments.exchange);
    compute_generation(&board);
  }
  std::transform(board.row(0), board.row(board.rows), matrix->local().begin(),
                 [](BoardCell cell) { return static_cast<Cell>(cell); });
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("life", "game of life");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the board");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the board");
  options.add_integer("iters", &arguments.iters, 0, 1000000, "generations");
  options.add_integer("percent", &arguments.percent, 0, 100, "live cells at the start, per cent");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_choice("exchange", &arguments.exchange, {"blocking", "nonblocking", "sendrecv"},
                     "how edge rows are exchanged");
  options.add_choice(
      "cell-bytes", &arguments.cell_bytes, {"1", "8"},
      "size of a cell at play, and so of the edge rows that travel; the thesis has 8");
  options.add_image();

  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  DistributedMatrix<Cell> matrix(arguments.rows, arguments.cols);
  matrix.local() = first_generation(arguments, matrix.first_row(), matrix.local_rows());
  if (matrix.local_rows() > 0) {
    if (arguments.cell_bytes == kEight)
      play<std::int64_t>(arguments, &matrix);
    else
      play<Cell>(arguments, &matrix);
  }
  std::int64_t alive = 0;
  std::vector<Cell> all;
  {
    const Phase phase("gather");
    const std::int64_t mine =
        std::accumulate(matrix.local().begin(), matrix.local().end(), std::int64_t{0});
    MPI_Reduce(&mine, &alive, 1, MPI_INT64_T, MPI_SUM, kRoot, MPI_COMM_WORLD);
    all = matrix.gather();
  }
  return world_rank() == kRoot ? output(options, arguments, alive, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
