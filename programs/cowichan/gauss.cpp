// gauss - a linear system by Gaussian elimination with pivoting.
//
// The rows of the matrix and the right side are distributed in blocks. For each
// column every rank finds its own best pivot among the rows not used yet; an
// MPI_Allreduce with MPI_MAXLOC chooses the largest (ties: the first row), its
// owner broadcasts that row, and all ranks eliminate the column from all their
// other rows (Gauss-Jordan), so that no back substitution is left to do.
// Thesis: sections 2.1.11 and 4.3.11.
#include <climits>
#include <cmath>
#include <span>

#include "common/distribution.hpp"
#include "common/matrices.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

constexpr double kStepsPerCandidate = 2;
constexpr double kStepsPerPivot = 4;
constexpr double kStepsPerElement = 5;

struct Arguments {
  int size = 64;
  std::int64_t seed = 1;
};

// MPI_DOUBLE_INT
struct Pivot {
  double size = -1;
  int row = INT_MAX;
};

// Both work on rows of size+1 elements, the right side last.
bool better(Pivot a, Pivot b) {
  return a.size > b.size || (a.size == b.size && a.row < b.row);
}

// Takes `pivot`, which starts at `col`, out of column `col` of `row`.
void eliminate(std::span<double> row, int col, std::span<const double> pivot) {
  const double factor = row[col] / pivot[0];
  for (std::size_t j = 0; j < pivot.size(); ++j) row[col + j] -= factor * pivot[j];
  row[col] = 0;
}

class Solver {
 public:
  explicit Solver(DistributedMatrix<double>* matrix)
      : matrix_(*matrix),
        size_(matrix->cols() - 1),
        used_(matrix->local_rows()),
        solution_(size_),
        pivot_rows_(size_) {}

  // Returns false if the matrix is singular.
  bool run() {
    for (int col = 0; col < size_; ++col) {
      const Pivot pivot = choose_pivot(col);
      if (!(pivot.size > 0)) return false;
      pivot_rows_[col] = pivot.row;
      transform(col, pivot.row);
    }
    return true;
  }

  // The solution on the root: element `col` lies on the rank of its pivot row.
  std::vector<double> gather() const {
    const Phase phase("gather");
    const std::vector<double> by_row = solution_.gather();
    std::vector<double> x(by_row.size());
    for (std::size_t col = 0; col < x.size(); ++col) x[col] = by_row[pivot_rows_[col]];
    return x;
  }

 private:
  Pivot choose_pivot(int col) {
    const Phase phase("pivot");
    Pivot mine;
    int candidates = 0;
    for (int i = 0; i < matrix_.local_rows(); ++i) {
      if (used_[i] != 0) continue;
      const Pivot candidate{std::fabs(matrix_.row(i)[col]), matrix_.first_row() + i};
      if (better(candidate, mine)) mine = candidate;
      ++candidates;
    }
    FORETRACE_COMPUTE(kStepsPerCandidate * candidates + kStepsPerPivot);
    Pivot best;
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    return best;
  }

  void transform(int col, int pivot_row) {
    std::vector<double> pivot(size_ + 1 - col);
    {
      const Phase phase("broadcast");
      if (matrix_.has_row(pivot_row)) {
        const auto row = matrix_.row(pivot_row - matrix_.first_row());
        std::copy(row.begin() + col, row.end(), pivot.begin());
      }
      MPI_Bcast(pivot.data(), static_cast<int>(pivot.size()), MPI_DOUBLE,
                matrix_.distribution().owner(pivot_row), MPI_COMM_WORLD);
    }
    const Phase phase("compute");
    int rows = 0;
    for (int i = 0; i < matrix_.local_rows(); ++i) {
      if (matrix_.first_row() + i == pivot_row) {
        used_[i] = 1;
        pivots_.push_back({i, pivot[0]});
      } else {
        eliminate(matrix_.row(i), col, pivot);
        ++rows;
      }
    }
    FORETRACE_COMPUTE(kStepsPerElement * rows * static_cast<double>(pivot.size()));
    if (col + 1 == size_) {
      for (const auto& [i, divisor] : pivots_) solution_[i] = matrix_.row(i)[size_] / divisor;
    }
  }

  struct LocalPivot {
    int row;
    double value;
  };

  DistributedMatrix<double>& matrix_;
  int size_;
  std::vector<std::uint8_t> used_;
  std::vector<LocalPivot> pivots_;
  DistributedVector<double> solution_;
  std::vector<int> pivot_rows_;
};

std::vector<double> solve_sequentially(std::vector<double> matrix, int size) {
  const auto row = [&](int i) {
    return std::span(matrix).subspan(static_cast<std::size_t>(i) * (size + 1), size + 1);
  };
  std::vector<int> pivot_rows;
  for (int col = 0; col < size; ++col) {
    Pivot best;
    for (int i = 0; i < size; ++i) {
      if (std::find(pivot_rows.begin(), pivot_rows.end(), i) != pivot_rows.end()) continue;
      const Pivot candidate{std::fabs(row(i)[col]), i};
      if (better(candidate, best)) best = candidate;
    }
    pivot_rows.push_back(best.row);
    for (int i = 0; i < size; ++i) {
      if (i != best.row) eliminate(row(i), col, row(best.row).subspan(col));
    }
  }
  std::vector<double> x(size);
  for (int col = 0; col < size; ++col) {
    x[col] = row(pivot_rows[col])[size] / row(pivot_rows[col])[col];
  }
  return x;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("gauss", "linear system by Gaussian elimination");
  options.add_integer("size", &arguments.size, 1, 20000, "number of equations");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  {
    const Phase phase("arguments");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const int size = arguments.size;
  DistributedMatrix<double> matrix(size, size + 1);
  matrix.local() =
      random_real_rows(arguments.seed, matrix.first_row(), matrix.local_rows(), size + 1);
  Solver solver(&matrix);
  if (!solver.run()) {
    if (world_rank() == kRoot) std::fprintf(stderr, "gauss: the matrix is singular\n");
    return 1;
  }
  const std::vector<double> x = solver.gather();
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("gauss", Digest().add_all(x), fact("size", size) + " " + fact("first", x.front()));
  if (options.check()) {
    const auto input = random_real_rows(arguments.seed, 0, size, size + 1);
    return check_equal("gauss", "vector", solve_sequentially(input, size), x);
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
