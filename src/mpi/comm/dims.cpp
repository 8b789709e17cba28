// MPI_Dims_create. The standard asks for dimensions "as close to each other as
// possible", which the two MPIs read in their own ways: so each library does what
// programs get from its MPI.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {
namespace {

#ifndef OPEN_MPI

// All ways to write n as a product of `count` factors, not increasing. Kept is the
// one with the least distance between the first and the last, and of those the one
// whose small factors are larger.
class Balanced {
 public:
  Balanced(int n, int count) : factors_(static_cast<std::size_t>(count)) {
    for (int d = 1; static_cast<long long>(d) * d <= n; ++d) {
      if (n % d != 0) continue;
      divisors_.push_back(d);
      if (d != n / d) divisors_.push_back(n / d);
    }
    std::sort(divisors_.begin(), divisors_.end());
    // From the last, smallest factor on.
    place(factors_.size(), 1, n);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  // Chooses factor number `left` - 1 for a rest of `n`; none may be under `least`.
  void place(std::size_t left, int least, int n) {
    if (left == 1) {
      factors_[0] = n;
      const int spread = n - factors_.back();
      if (best_.empty() || spread < spread_ || (spread == spread_ && is_rounder())) {
        best_ = factors_;
        spread_ = spread;
      }
      return;
    }
    for (auto d = std::lower_bound(divisors_.begin(), divisors_.end(), least); d != divisors_.end();
         ++d) {
      if (!fits(*d, left, n)) break;
      if (n % *d != 0) continue;
      factors_[left - 1] = *d;
      place(left - 1, *d, n / *d);
    }
  }
  // Whether d^left <= n: the factors before are no smaller.
  static bool fits(int d, std::size_t left, int n) {
    long long power = 1;
    for (std::size_t i = 0; i < left; ++i) {
      power *= d;
      if (power > n) return false;
    }
    return true;
  }
  bool is_rounder() const {
    return std::lexicographical_compare(best_.rbegin(), best_.rend(), factors_.rbegin(),
                                        factors_.rend());
  }

  std::vector<int> divisors_, factors_, best_;
  int spread_ = 0;
};

std::vector<int> balance(int n, int count) {
  return Balanced(n, count).best();
}

#else

// Prime factors, the largest first, each to the dimension that is smallest so far.
std::vector<int> balance(int n, int count) {
  std::vector<int> primes;
  for (int p = 2; static_cast<long long>(p) * p <= n; ++p) {
    for (; n % p == 0; n /= p) primes.push_back(p);
  }
  if (n > 1) primes.push_back(n);
  std::vector<int> dims(static_cast<std::size_t>(count), 1);
  for (auto p = primes.rbegin(); p != primes.rend(); ++p) {
    *std::min_element(dims.begin(), dims.end()) *= *p;
  }
  std::sort(dims.begin(), dims.end(), std::greater<>());
  return dims;
}

#endif

}  // namespace

namespace impl {

int Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) return raise(world_comm, MPI_ERR_ARG, std::to_string(nnodes) + " nodes");
  if (ndims < 0) return raise(world_comm, MPI_ERR_DIMS, std::to_string(ndims) + " dimensions");
  int free = 0;
  long long given = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0) {
      return raise(world_comm, MPI_ERR_DIMS,
                   "dimension " + std::to_string(i) + " is " + std::to_string(dims[i]));
    }
    if (dims[i] == 0) {
      ++free;
    } else if ((given *= dims[i]) > nnodes) {
      break;
    }
  }
  if (given > nnodes || nnodes % given != 0) {
    return raise(world_comm, MPI_ERR_DIMS,
                 "the dimensions that are given do not divide " + std::to_string(nnodes));
  }
  if (free == 0) return MPI_SUCCESS;
  const std::vector<int> made = balance(static_cast<int>(nnodes / given), free);
  auto next = made.begin();
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = *next++;
  }
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
