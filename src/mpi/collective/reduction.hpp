// Reductions over the contributions of members, in the order of their places, the same on every
// rank. Sums of floating-point numbers depend on what is added first; so that programs take the
// course that they take elsewhere, it is what Open MPI and MPICH do in MPI_Allreduce.
#pragma once

#include <functional>

#include "base/time.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/collective/member_buffers.hpp"

namespace foretrace::mpi {

// Of a, b, c, ...: what is combined first.
enum class Grouping {
  // Recursive doubling: pairs from the left until a power of two is left, then neighbours, then
  // theirs. Of 4: (a b)(c d); of 6: ((a b)(c d))(e f); of 5: ((a b) c)(d e).
  tree,
  in_row,  // ((a b) c) d: Open MPI's MPI_Scan
};

struct Reduction {
  MPI_Count count = 0;
  Datatype* type = nullptr;
  Op* op = nullptr;
  Grouping grouping = Grouping::tree;

  std::uint64_t bytes() const { return packed_bytes(count, *type); }

  // The packed contribution of the i-th operand.
  using Operand = std::function<ByteSpan(int)>;
  // Reduces operands 0 to n - 1 (n > 0), to packed bytes or to the elements of a
  // buffer. An operand of another length than bytes() is an error.
  Outcome to_bytes(const Operand& operand, int n, std::byte* out) const;
  Outcome to_buffer(const Operand& operand, int n, void* buffer) const;
  // Of a function of the program's by which this was done, in the mean of its calls; takes it away.
  static Time take_each();
  // The rank has the result of `n` operands, and MPI would have called such a function on each
  // level of a tree.
  static void take_time_of_tree(Time each, int n);

 private:
  Outcome check(const Operand& operand, int n) const;
  void fold_dense(const Operand& operand, int n, std::byte* out) const;
  void fold_piece(const Operand& operand, int n, std::uint64_t first, MPI_Count elements,
                  std::byte* out) const;
  void fold_apart(const Operand& operand, int n,
                  const std::function<void(const void*)>& take) const;
};

// The reduction of what all members contributed, computed once for all of them;
// on inter-communicators of what the other group contributed.
class CommonReduction {
 public:
  CommonReduction(const Comm& comm, const Reduction& reduction, Gathered& gathered);

  const Outcome& outcome() const { return outcome_; }
  // Packed.
  ByteSpan result() const { return result_; }
  // Reduction::take_each() where it was done.
  Time each() const { return each_; }

 private:
  Time each_;
  Outcome outcome_;
  ByteSpan result_;
};

}  // namespace foretrace::mpi
