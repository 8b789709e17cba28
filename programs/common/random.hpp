// random.hpp - the pseudo random numbers that all programs share.
//
// A linear congruential generator modulo 2^32 (thesis, section 2.1.2). The
// k-th number depends on the one before it; skip() composes the affine map
// with itself by repeated squaring, so that a rank reaches the start of its
// own part in O(log k) steps and the numbers do not depend on the rank count.
#ifndef PROGRAMS_COMMON_RANDOM_HPP
#define PROGRAMS_COMMON_RANDOM_HPP

#include <bit>
#include <cstdint>

namespace programs {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(static_cast<std::uint32_t>(seed)) {}

  // Moves on as if next() had been called `count` times.
  void skip(std::uint64_t count) {
    std::uint32_t a = kMultiplier;
    std::uint32_t b = kIncrement;
    for (; count != 0; count >>= 1) {
      if (count & 1) state_ = a * state_ + b;
      b = a * b + b;
      a = a * a;
    }
  }

  std::uint32_t next() {
    state_ = kMultiplier * state_ + kIncrement;
    return state_;
  }

  // A whole number in [0, limit). Uses the high bits: an LCG's low ones repeat early.
  std::int32_t next_below(std::int32_t limit) {
    return static_cast<std::int32_t>((std::uint64_t{next()} * static_cast<std::uint64_t>(limit)) >>
                                     32);
  }

  // A number in [0, 1).
  double next_unit() { return next() * 0x1p-32; }

  // Rounds of the loop in skip(count), for counting compute steps.
  static int skip_rounds(std::uint64_t count) { return static_cast<int>(std::bit_width(count)); }

 private:
  static constexpr std::uint32_t kMultiplier = 1664525;
  static constexpr std::uint32_t kIncrement = 1013904223;

  std::uint32_t state_;
};

}  // namespace programs

#endif  // PROGRAMS_COMMON_RANDOM_HPP
