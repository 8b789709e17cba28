// Rows of a time line in another order than that of the ranks, or of several ranks each: their
// tiles are made of those of the ranks. A row shows the mean of its ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foretrace::pyramid {

class Arrangement {
 public:
  // JSON {"sizes": [ranks of each row], "ranks": [those of the first row, of the second ...]}, the
  // ranks of a row ascending. Throws Error.
  static Arrangement parse(const std::string& text, std::uint64_t ranks);

  std::uint64_t rows() const { return first_.size() - 1; }
  std::span<const std::uint32_t> ranks(std::uint64_t row) const {
    return std::span(ranks_).subspan(first_[row], first_[row + 1] - first_[row]);
  }

 private:
  std::vector<std::uint64_t> first_{0};  // of each row, and the end
  std::vector<std::uint32_t> ranks_;
};

}  // namespace foretrace::pyramid
