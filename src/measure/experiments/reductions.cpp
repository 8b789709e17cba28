#include "measure/experiments/reductions.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "measure/experiments/clock.hpp"

namespace foretrace::measure {
namespace {

using machine::Combining;
using machine::Operand;

// About so many bytes: what fits the caches, nearest first, and what a long message has.
constexpr std::uint64_t kSizes[] = {1 << 10, 1 << 15, 1 << 20};
constexpr double kReductionBlock = 2e-4;  // seconds

MPI_Op op_of(Combining what) {
  switch (what) {
    case Combining::sum:
      return MPI_SUM;
    case Combining::prod:
      return MPI_PROD;
    case Combining::minmax:
      return MPI_MAX;
    case Combining::logical:
      return MPI_LAND;
    case Combining::bit:
      return MPI_BAND;
    default:
      return MPI_MAXLOC;
  }
}

MPI_Datatype pair_of(Operand value) {
  switch (value) {
    case Operand::double_:
      return MPI_DOUBLE_INT;
    case Operand::float_:
      return MPI_FLOAT_INT;
    case Operand::long_double:
      return MPI_LONG_DOUBLE_INT;
    case Operand::int16:
      return MPI_SHORT_INT;
    case Operand::int32:
      return MPI_2INT;
    default:
      return MPI_LONG_INT;
  }
}

MPI_Datatype type_of(Operand of) {
  switch (of) {
    case Operand::double_:
      return MPI_DOUBLE;
    case Operand::float_:
      return MPI_FLOAT;
    case Operand::long_double:
      return MPI_LONG_DOUBLE;
    case Operand::complex_double:
      return MPI_C_DOUBLE_COMPLEX;
    case Operand::complex_float:
      return MPI_C_FLOAT_COMPLEX;
    case Operand::int8:
      return MPI_INT8_T;
    case Operand::int16:
      return MPI_INT16_T;
    case Operand::int32:
      return MPI_INT32_T;
    default:
      return MPI_INT64_T;
  }
}

class Combiner {
 public:
  // Zeros: whatever is done with them, and however often, they stay numbers of the usual kind.
  Combiner(Combining what, Operand of)
      : op_(op_of(what)), type_(what == Combining::minmaxloc ? pair_of(of) : type_of(of)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_size(type_, &size_);
    MPI_Type_get_extent(type_, &lower, &extent);
    const std::uint64_t room =
        count_of(*std::ranges::max_element(kSizes)) * static_cast<std::uint64_t>(extent);
    in_.resize(room);
    inout_.resize(room);
  }

  std::uint64_t bytes_of(std::uint64_t about) const {
    return count_of(about) * static_cast<std::uint64_t>(size_);
  }
  void run(std::uint64_t about, std::int64_t times) {
    const int count = static_cast<int>(count_of(about));
    for (std::int64_t i = 0; i < times; ++i)
      MPI_Reduce_local(in_.data(), inout_.data(), count, type_, op_);
  }

 private:
  std::uint64_t count_of(std::uint64_t about) const {
    return about / static_cast<std::uint64_t>(size_);
  }

  MPI_Op op_;
  MPI_Datatype type_;
  int size_ = 1;
  std::vector<std::byte> in_;
  std::vector<std::byte> inout_;
};

double seconds_of(Combiner& combiner, std::uint64_t about, std::int64_t times) {
  const auto begin = now_ns();
  combiner.run(about, times);
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

// How many calls take about a block; they run in on the way.
std::int64_t calls_in_block(Combiner& combiner, std::uint64_t about) {
  for (std::int64_t times = 1;; times *= 4) {
    const double seconds = seconds_of(combiner, about, times);
    if (seconds > kReductionBlock / 4)
      return std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(times) * kReductionBlock / seconds));
  }
}

}  // namespace

std::vector<ReductionBlock> time_reductions(int blocks) {
  std::vector<ReductionBlock> result;
  machine::for_each_reduction([&](Combining what, Operand of) {
    Combiner combiner(what, of);
    for (const std::uint64_t about : kSizes) {
      const std::int64_t times = calls_in_block(combiner, about);
      for (int i = 0; i < blocks; ++i) {
        const long before = context_switches();
        const double seconds = seconds_of(combiner, about, times);
        result.push_back({machine::reduction_of(what, of),
                          combiner.bytes_of(about),
                          {seconds / static_cast<double>(times), context_switches() == before}});
      }
    }
  });
  return result;
}

}  // namespace foretrace::measure
