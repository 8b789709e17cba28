// cholesky - factors a symmetric positive definite matrix, A = L L^T.
//
// The columns are wrapped: rank r has columns r, p+r, 2p+r, ... Both versions
// pass over the columns; "normalising" divides a column by the root of its
// diagonal, "updating" subtracts a multiple of one column from a later one.
//   fan-out: the owner normalises the column and sends it to all ranks with
//            later columns; whoever receives it updates its own ones.
//   fan-in:  every rank adds up what its own columns take from the column and
//            sends the sum to the owner, who subtracts all and normalises.
// The matrix is made from an L of small whole numbers, so that all arithmetic
// is exact and the order of the sums does not matter. Paper: Demaine 1996.
#include <cmath>

#include "common/distribution.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/random.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

enum Algorithm { kFanIn, kFanOut };

constexpr double kStepsToUpdate = 2;     // per element
constexpr double kStepsToNormalise = 1;  // per element

struct Arguments {
  int size = 64;
  int algorithm = kFanOut;
  std::int64_t seed = 1;
};

// Column j from the diagonal down: size - j elements.
using Column = std::vector<double>;

// The factor that the matrix is made from: u_i v_j below the diagonal, d_j on
// it. Its product with its transpose has a closed form, so that making the input
// takes no time beside factoring it.
class KnownFactor {
 public:
  explicit KnownFactor(const Arguments& arguments)
      : u_(arguments.size), v_(arguments.size), d_(arguments.size), v_squares_(arguments.size) {
    Random random(arguments.seed);
    double squares = 0;
    for (int j = 0; j < arguments.size; ++j) {
      u_[j] = random.next_below(7) - 3;
      v_[j] = random.next_below(7) - 3;
      d_[j] = 1 + random.next_below(8);
      v_squares_[j] = squares;
      squares += v_[j] * v_[j];
    }
  }

  int size() const { return static_cast<int>(u_.size()); }

  Column column(int j) const {
    Column column(size() - j);
    for (int i = j; i < size(); ++i) column[i - j] = i == j ? d_[j] : u_[i] * v_[j];
    return column;
  }

  // Column j of the matrix.
  Column matrix_column(int j) const {
    Column column(size() - j);
    for (int i = j; i < size(); ++i) {
      column[i - j] = u_[i] * u_[j] * v_squares_[j] + d_[j] * (i == j ? d_[j] : u_[i] * v_[j]);
    }
    return column;
  }

 private:
  std::vector<double> u_;
  std::vector<double> v_;
  std::vector<double> d_;
  std::vector<double> v_squares_;  // the sum of the squares of v before j
};

void normalise(Column* column) {
  const double root = std::sqrt((*column)[0]);
  for (double& element : *column) element /= root;
}

// Adds to `sum` what column k of the factor contributes to column j of the matrix.
void add_update(const Column& factor_column, int k, int j, Column* sum) {
  const double* from = factor_column.data() + (j - k);
  for (std::size_t i = 0; i < sum->size(); ++i) (*sum)[i] += from[i] * from[0];
}

void subtract(const Column& sum, Column* column) {
  for (std::size_t i = 0; i < sum.size(); ++i) (*column)[i] -= sum[i];
}

class Factorisation {
 public:
  explicit Factorisation(const Arguments& arguments)
      : size_(arguments.size), rank_(world_rank()), ranks_(world_size()), columns_(size_) {
    const KnownFactor factor(arguments);
    for (int j = rank_; j < size_; j += ranks_) columns_[j] = factor.matrix_column(j);
  }

  void fan_out() {
    const Phase phase("fan-out");
    for (int j = 0; j < size_; ++j) {
      Column current(size_ - j);
      if (owner(j) == rank_) {
        normalise_own(j);
        current = columns_[j];
        // The owners of later columns, the nearest one first.
        for (int k = j + 1; k < std::min(j + ranks_, size_); ++k) {
          MPI_Send(current.data(), size_ - j, MPI_DOUBLE, owner(k), j, MPI_COMM_WORLD);
        }
      } else if (first_own_after(j) < size_) {
        MPI_Recv(current.data(), size_ - j, MPI_DOUBLE, owner(j), j, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
      double steps = 0;
      for (int k = first_own_after(j); k < size_; k += ranks_) {
        Column sum(size_ - k);
        add_update(current, j, k, &sum);
        subtract(sum, &columns_[k]);
        steps += kStepsToUpdate * (size_ - k);
      }
      FORETRACE_COMPUTE(steps);
    }
  }

  void fan_in() {
    const Phase phase("fan-in");
    for (int j = 0; j < size_; ++j) {
      Column sum(size_ - j);
      double steps = 0;
      for (int k = rank_; k < j; k += ranks_) {
        add_update(columns_[k], k, j, &sum);
        steps += kStepsToUpdate * (size_ - j);
      }
      FORETRACE_COMPUTE(steps);
      if (owner(j) != rank_) {
        // A rank has something to contribute once it has a column before j.
        if (rank_ < j) {
          MPI_Send(sum.data(), size_ - j, MPI_DOUBLE, owner(j), j, MPI_COMM_WORLD);
        }
        continue;
      }
      subtract(sum, &columns_[j]);
      for (int source = 0; source < std::min(ranks_, j); ++source) {
        if (source == rank_) continue;
        MPI_Recv(sum.data(), size_ - j, MPI_DOUBLE, source, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        subtract(sum, &columns_[j]);
        FORETRACE_COMPUTE(size_ - j);
      }
      normalise_own(j);
    }
  }

  // The factor on the root, column after column.
  std::vector<double> gather() const {
    const Phase phase("gather");
    std::vector<int> counts(ranks_);
    for (int j = 0; j < size_; ++j) counts[owner(j)] += size_ - j;
    const Distribution parts(counts);
    std::vector<double> mine;
    for (int j = rank_; j < size_; j += ranks_) {
      mine.insert(mine.end(), columns_[j].begin(), columns_[j].end());
    }
    std::vector<double> wrapped(rank_ == kRoot ? parts.total() : 0);
    MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, wrapped.data(),
                parts.counts(), parts.displs(), MPI_DOUBLE, kRoot, MPI_COMM_WORLD);
    std::vector<double> all;
    std::vector<int> next(parts.displs(), parts.displs() + ranks_);
    for (int j = 0; j < size_ && rank_ == kRoot; ++j) {
      const auto start = wrapped.begin() + next[owner(j)];
      all.insert(all.end(), start, start + (size_ - j));
      next[owner(j)] += size_ - j;
    }
    return all;
  }

 private:
  int owner(int j) const { return j % ranks_; }

  // The first column after j on this rank.
  int first_own_after(int j) const { return j + 1 + (rank_ - (j + 1) % ranks_ + ranks_) % ranks_; }

  void normalise_own(int j) {
    normalise(&columns_[j]);
    FORETRACE_COMPUTE(kStepsToNormalise * (size_ - j) + 1);
  }

  int size_;
  int rank_;
  int ranks_;
  std::vector<Column> columns_;  // empty where another rank is the owner
};

std::vector<double> factor_sequentially(const Arguments& arguments) {
  const KnownFactor known(arguments);
  std::vector<Column> columns;
  std::vector<double> all;
  for (int j = 0; j < arguments.size; ++j) {
    columns.push_back(known.matrix_column(j));
    for (int k = 0; k < j; ++k) {
      Column sum(columns[j].size());
      add_update(columns[k], k, j, &sum);
      subtract(sum, &columns[j]);
    }
    normalise(&columns[j]);
    all.insert(all.end(), columns[j].begin(), columns[j].end());
  }
  return all;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("cholesky", "Cholesky factorisation with wrapped columns");
  options.add_integer("size", &arguments.size, 1, 10000, "rows and columns of the matrix");
  options.add_choice("algorithm", &arguments.algorithm, {"fan-in", "fan-out"}, "parallel version");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  Factorisation factorisation(arguments);
  if (arguments.algorithm == kFanIn) {
    factorisation.fan_in();
  } else {
    factorisation.fan_out();
  }
  const std::vector<double> all = factorisation.gather();
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("cholesky", Digest().add_all(all),
               fact("size", arguments.size) + " " + fact("last", all.back()));
  if (options.check()) {
    const KnownFactor factor(arguments);
    std::vector<double> known;
    for (int j = 0; j < factor.size(); ++j) {
      const Column column = factor.column(j);
      known.insert(known.end(), column.begin(), column.end());
    }
    return check_equal("cholesky", "factor", factor_sequentially(arguments), all) |
           check_equal("cholesky", "known factor", known, all);
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
