// distribution.hpp - vectors and matrices spread over the ranks of
// MPI_COMM_WORLD in blocks of whole rows (thesis, section 2.2.1).
//
// Distribution holds how many items each rank has and where they start: the
// counts and displs that MPI's "v" collectives want. DistributedMatrix and
// DistributedVector keep the local part and move it between the ranks.
#ifndef PROGRAMS_COMMON_DISTRIBUTION_HPP
#define PROGRAMS_COMMON_DISTRIBUTION_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/mpi.hpp"

namespace programs {

class Distribution {
 public:
  // `items` spread evenly: the first items % ranks ranks get one more.
  Distribution(int items, int ranks) : counts_(ranks), displs_(ranks) {
    for (int rank = 0, next = 0; rank < ranks; ++rank) {
      counts_[rank] = items / ranks + (rank < items % ranks ? 1 : 0);
      displs_[rank] = next;
      next += counts_[rank];
    }
  }

  // Any counts; the items follow each other in rank order.
  explicit Distribution(std::vector<int> counts)
      : counts_(std::move(counts)), displs_(counts_.size()) {
    for (std::size_t rank = 1; rank < counts_.size(); ++rank) {
      displs_[rank] = displs_[rank - 1] + counts_[rank - 1];
    }
  }

  int count(int rank) const { return counts_[rank]; }
  int first(int rank) const { return displs_[rank]; }
  int end(int rank) const { return displs_[rank] + counts_[rank]; }
  int total() const { return displs_.back() + counts_.back(); }

  // The rank that has `item`.
  int owner(int item) const {
    const auto after = std::upper_bound(displs_.begin(), displs_.end(), item);
    return static_cast<int>(after - displs_.begin()) - 1;
  }

  // The same distribution counted in elements, `width` to an item.
  Distribution times(int width) const {
    std::vector<int> counts = counts_;
    for (int& count : counts) count *= width;
    return Distribution(std::move(counts));
  }

  const int* counts() const { return counts_.data(); }
  const int* displs() const { return displs_.data(); }

 private:
  std::vector<int> counts_;
  std::vector<int> displs_;
};

// How many ranks have items: the others stay out of neighbour exchanges.
inline int active_ranks(int items, int ranks) {
  return std::min(items, ranks);
}

template <typename T>
class DistributedMatrix {
 public:
  DistributedMatrix(int rows, int cols)
      : rows_(rows, world_size()),
        cols_(cols),
        rank_(world_rank()),
        local_(static_cast<std::size_t>(rows_.count(rank_)) * cols) {}

  int cols() const { return cols_; }
  int local_rows() const { return rows_.count(rank_); }
  int first_row() const { return rows_.first(rank_); }
  int end_row() const { return rows_.end(rank_); }
  bool has_row(int row) const { return row >= first_row() && row < end_row(); }
  const Distribution& distribution() const { return rows_; }

  // The local part, and its row `i`, counted from first_row().
  std::vector<T>& local() { return local_; }
  const std::vector<T>& local() const { return local_; }
  std::span<T> row(int i) { return {local_.data() + offset(i), static_cast<std::size_t>(cols_)}; }
  std::span<const T> row(int i) const {
    return {local_.data() + offset(i), static_cast<std::size_t>(cols_)};
  }

  // The whole matrix on the root, an empty vector elsewhere.
  std::vector<T> gather() const {
    const Distribution elements = rows_.times(cols_);
    std::vector<T> all(rank_ == kRoot ? elements.total() : 0);
    MPI_Gatherv(local_.data(), elements.count(rank_), mpi_type<T>(), all.data(), elements.counts(),
                elements.displs(), mpi_type<T>(), kRoot, MPI_COMM_WORLD);
    return all;
  }

  // The whole matrix on every rank.
  std::vector<T> all_gather() const {
    const Distribution elements = rows_.times(cols_);
    std::vector<T> all(elements.total());
    MPI_Allgatherv(local_.data(), elements.count(rank_), mpi_type<T>(), all.data(),
                   elements.counts(), elements.displs(), mpi_type<T>(), MPI_COMM_WORLD);
    return all;
  }

  // Takes the local part of the root's whole matrix.
  void scatter(const std::vector<T>& all) {
    const Distribution elements = rows_.times(cols_);
    MPI_Scatterv(all.data(), elements.counts(), elements.displs(), mpi_type<T>(), local_.data(),
                 elements.count(rank_), mpi_type<T>(), kRoot, MPI_COMM_WORLD);
  }

 private:
  std::size_t offset(int i) const { return static_cast<std::size_t>(i) * cols_; }

  Distribution rows_;
  int cols_;
  int rank_;
  std::vector<T> local_;
};

// A distributed matrix of one column.
template <typename T>
class DistributedVector : public DistributedMatrix<T> {
 public:
  explicit DistributedVector(int size) : DistributedMatrix<T>(size, 1) {}

  // Element `i` of the local part, counted from first_row().
  T& operator[](int i) { return this->local()[i]; }
  const T& operator[](int i) const { return this->local()[i]; }
};

}  // namespace programs

#endif  // PROGRAMS_COMMON_DISTRIBUTION_HPP
