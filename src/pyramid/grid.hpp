// The grid of time that a pyramid's cells lie on: the run in 2^level bins of equal length.
#pragma once

#include <algorithm>
#include <cstdint>

namespace foretrace::pyramid {

// What a rank does: 0 computes, 1 + 2 k is in calls of the k-th function, 2 + 2 k waits there.
using Class = std::uint8_t;
inline constexpr std::uint32_t kMostFunctions = 127;  // further ones share the last class
inline constexpr std::uint64_t kTileBins = 256;
inline constexpr std::uint64_t kTileBlocks = 64;
inline constexpr std::uint32_t kLeastLevel = 8;
inline constexpr std::uint32_t kMostLevel = 44;

class Grid {
 public:
  Grid(std::int64_t end_ps, std::uint32_t level)
      : end_(std::max<std::int64_t>(1, end_ps)), bins_(std::uint64_t{1} << level) {}

  // Where a bin begins; ps.
  std::int64_t at(std::uint64_t bin) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(bin) * static_cast<Wide>(end_) / bins_);
  }
  // The bin that holds `ps`, which is in the run.
  std::uint64_t bin_of(std::int64_t ps) const {
    const double guess = static_cast<double>(ps) / static_cast<double>(end_);
    std::uint64_t bin =
        static_cast<std::uint64_t>(std::max(0.0, guess * static_cast<double>(bins_)));
    bin = std::min(bin, bins_ - 1);
    while (bin > 0 && at(bin) > ps) --bin;
    while (bin + 1 < bins_ && at(bin + 1) <= ps) ++bin;
    return bin;
  }
  std::uint64_t bins() const { return bins_; }

 private:
  std::int64_t end_;
  std::uint64_t bins_;
};

// Cuts spans of time, which come in order, by the bins [first, last) of a grid.
class Cutter {
 public:
  Cutter(const Grid& grid, std::uint64_t first, std::uint64_t last)
      : grid_(grid), last_(last), bin_(first), start_(grid.at(first)), next_(grid.at(first + 1)) {}

  // Calls take(bin, ps) for each part of [from, to) that lies in the bins.
  template <typename Take>
  void cut(std::int64_t from, std::int64_t to, const Take& take) {
    from = std::max(from, start_);
    if (from >= to || bin_ >= last_) return;
    if (from >= next_) seek(from);
    while (bin_ < last_ && from < to) {
      const std::int64_t until = std::min(to, next_);
      if (until > from) take(bin_, until - from);
      from = std::max(from, until);
      if (from >= next_) step();
    }
  }
  bool over() const { return bin_ >= last_; }

 private:
  void step() {
    start_ = next_;
    ++bin_;
    next_ = bin_ < last_ ? grid_.at(bin_ + 1) : start_;
  }
  void seek(std::int64_t ps) {
    bin_ = std::max(bin_, grid_.bin_of(ps));
    start_ = grid_.at(bin_);
    next_ = grid_.at(bin_ + 1);
  }

  const Grid& grid_;
  std::uint64_t last_;
  std::uint64_t bin_;
  std::int64_t start_;
  std::int64_t next_;
};

}  // namespace foretrace::pyramid
