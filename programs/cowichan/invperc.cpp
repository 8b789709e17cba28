// invperc - invasion percolation: a fluid invades porous rock.
//
// The input is a random matrix of resistances, by rows in blocks. From a filled
// cell in the middle, each iteration fills the empty neighbour of least
// resistance (ties: the first in row order). The queue of neighbours is
// distributed: each rank keeps those on its own rows, sorted; all find the
// global head with one small MPI_Allreduce an iteration. Hardly any speed-up
// is expected: only the queues get shorter. Thesis: sections 2.1.8 and 4.3.8.
#include <limits>
#include <set>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

struct Arguments {
  int rows = 64;
  int cols = 64;
  int percent = 10;
  std::int64_t seed = 1;
};

// A cell and its resistance as one number, least resistance first, then row order.
// Signed: MPI_MIN of MPICH 4.0.2 takes unsigned 64-bit numbers for signed ones.
using Key = std::int64_t;
constexpr Key kNone = std::numeric_limits<Key>::max();
constexpr int kIndexBits = 20;
constexpr Key kIndexMask = (Key{1} << kIndexBits) - 1;

Key make_key(std::int32_t value, int row, int col) {
  return static_cast<Key>(value) << (2 * kIndexBits) | static_cast<Key>(row) << kIndexBits |
         static_cast<Key>(col);
}
int row_of(Key key) {
  return static_cast<int>(key >> kIndexBits & kIndexMask);
}
int col_of(Key key) {
  return static_cast<int>(key & kIndexMask);
}

// Calls visit(row, col) for the neighbours of `key`'s cell within the matrix.
template <typename Visit>
void for_each_neighbour(Key key, int rows, int cols, Visit visit) {
  const int row = row_of(key);
  const int col = col_of(key);
  if (row > 0) visit(row - 1, col);
  if (col > 0) visit(row, col - 1);
  if (col + 1 < cols) visit(row, col + 1);
  if (row + 1 < rows) visit(row + 1, col);
}

// The local part of the distributed queue.
class Queue {
 public:
  Key head() const { return keys_.empty() ? kNone : keys_.back(); }
  void pop() { keys_.pop_back(); }

  // Linear insertion from the head, as in the thesis. Returns the steps taken.
  int insert(Key key) {
    auto place = keys_.end();
    while (place != keys_.begin() && *(place - 1) < key) --place;
    const int steps = static_cast<int>(keys_.end() - place) + 1;
    keys_.insert(place, key);
    return steps;
  }

 private:
  std::vector<Key> keys_;  // the head is the last one
};

std::int64_t cells_to_fill(const Arguments& arguments) {
  const std::int64_t cells = std::int64_t{arguments.rows} * arguments.cols;
  return std::max<std::int64_t>(1, cells * arguments.percent / 100);
}

void percolate(const Arguments& arguments, const DistributedMatrix<std::int32_t>& rock,
               DistributedMatrix<std::uint8_t>* filled) {
  const Phase phase("percolate");
  std::vector<std::uint8_t> queued(rock.local().size());
  Queue queue;
  Key next = make_key(0, arguments.rows / 2, arguments.cols / 2);
  for (std::int64_t done = 0; done < cells_to_fill(arguments); ++done) {
    if (done > 0) {
      const Key mine = queue.head();
      MPI_Allreduce(&mine, &next, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    }
    if (rock.has_row(row_of(next))) {
      const int i = row_of(next) - rock.first_row();
      if (done > 0) queue.pop();
      filled->row(i)[col_of(next)] = 1;
      queued[static_cast<std::size_t>(i) * rock.cols() + col_of(next)] = 1;
    }
    int steps = 0;
    for_each_neighbour(next, arguments.rows, arguments.cols, [&](int row, int col) {
      if (!rock.has_row(row)) return;
      const int i = row - rock.first_row();
      std::uint8_t& seen = queued[static_cast<std::size_t>(i) * rock.cols() + col];
      if (seen != 0) return;
      seen = 1;
      steps += queue.insert(make_key(rock.row(i)[col], row, col));
    });
    FORETRACE_COMPUTE(steps);
  }
}

std::vector<std::uint8_t> percolate_sequentially(const Arguments& arguments) {
  const auto rock = random_rows(arguments.seed, 0, arguments.rows, arguments.cols);
  std::vector<std::uint8_t> filled(rock.size());
  std::set<Key> queue = {make_key(0, arguments.rows / 2, arguments.cols / 2)};
  for (std::int64_t done = 0; done < cells_to_fill(arguments); ++done) {
    const Key next = *queue.begin();
    queue.erase(queue.begin());
    filled[static_cast<std::size_t>(row_of(next)) * arguments.cols + col_of(next)] = 1;
    for_each_neighbour(next, arguments.rows, arguments.cols, [&](int row, int col) {
      const std::size_t at = static_cast<std::size_t>(row) * arguments.cols + col;
      if (filled[at] == 0) queue.insert(make_key(rock[at], row, col));
    });
  }
  return filled;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("invperc", "invasion percolation");
  options.add_integer("rows", &arguments.rows, 1, 20000, "rows of the matrix");
  options.add_integer("cols", &arguments.cols, 1, 20000, "columns of the matrix");
  options.add_integer("percent", &arguments.percent, 0, 100, "cells to fill, per cent");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  DistributedMatrix<std::int32_t> rock(arguments.rows, arguments.cols);
  rock.local() = random_rows(arguments.seed, rock.first_row(), rock.local_rows(), arguments.cols);
  DistributedMatrix<std::uint8_t> filled(arguments.rows, arguments.cols);
  percolate(arguments, rock, &filled);
  std::vector<std::uint8_t> all;
  {
    const Phase phase("gather");
    all = filled.gather();
  }
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("invperc", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("filled", static_cast<double>(cells_to_fill(arguments))));
  int status = 0;
  if (!options.image().empty()) {
    status |=
        write_image("invperc", options.image(), image_of(all, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    status |= check_equal("invperc", "cells", percolate_sequentially(arguments), all);
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
