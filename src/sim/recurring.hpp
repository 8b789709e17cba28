// Recurring: values most of which are like others before. Each is kept once, or seldom more
// often, and known by its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/chunked.hpp"

namespace foretrace::sim {

// `T` has a hash(), of which the upper bits are good.
template <class T>
class Recurring {
 public:
  std::uint32_t number_of(const T& value) {
    if (known_.empty()) known_.assign(std::size_t{1} << kBits, kNone);
    // One of the same hash takes the place of another.
    std::uint32_t& known = known_[value.hash() >> (64 - kBits)];
    if (known == kNone || values_[known] != value) {
      known = static_cast<std::uint32_t>(values_.size());
      values_.push_back(value);
    }
    return known;
  }
  const T& operator[](std::uint32_t number) const { return values_[number]; }
  std::size_t size() const { return values_.size(); }

 private:
  static constexpr int kBits = 12;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Chunked<T> values_;
  std::vector<std::uint32_t> known_;  // by hash: the latest
};

}  // namespace foretrace::sim
