// What entities count and draw: averages over time, histograms, random numbers.
// foretrace_entity.hpp, which entities include, has it.
//
// Sums are exact, and the same seed gives the same numbers everywhere. Knows nothing of entities.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace foretrace::entity {

using Ps = std::int64_t;  // picoseconds

// A number that changes at times, and its average over time. The sum is exact.
class TimeAverage {
 public:
  void set(Ps now, std::int64_t value) {
    sum_ += static_cast<__int128>(value_) * (now - since_);
    since_ = now;
    value_ = value;
    if (value > most_) most_ = value;
  }
  void add(Ps now, std::int64_t change) { set(now, value_ + change); }
  std::int64_t value() const { return value_; }
  std::int64_t most() const { return most_; }
  // Value times picoseconds from 0 to `now`.
  __int128 integral(Ps now) const { return sum_ + static_cast<__int128>(value_) * (now - since_); }
  double average(Ps now) const {
    return now > 0 ? static_cast<double>(integral(now)) / static_cast<double>(now) : 0;
  }

 private:
  __int128 sum_ = 0;
  Ps since_ = 0;
  std::int64_t value_ = 0;
  std::int64_t most_ = 0;
};

// Counts, sums and powers of two of whole numbers >= 0.
class Histogram {
 public:
  void add(std::int64_t value) {
    ++count_;
    sum_ += value;
    if (value > most_) most_ = value;
    ++bins_[64 - std::countl_zero(static_cast<std::uint64_t>(value))];
  }
  std::uint64_t count() const { return count_; }
  __int128 sum() const { return sum_; }
  double mean() const {
    return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
  }
  std::int64_t most() const { return most_; }
  // Bin 0 has the zeros, bin b those from 2^(b-1) to 2^b - 1.
  const std::uint64_t* bins() const { return bins_; }

 private:
  std::uint64_t count_ = 0;
  __int128 sum_ = 0;
  std::int64_t most_ = 0;
  std::uint64_t bins_[65] = {};
};

// xoshiro256** (Blackman, Vigna 2018), seeded by splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      std::uint64_t z = (seed += 0x9e3779b97f4a7c15U);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // 0 <= x < 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // 0 .. bound - 1.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }
  bool chance(double probability) { return uniform() < probability; }
  Ps exponential(double mean_ps) {
    return static_cast<Ps>(std::llround(-mean_ps * std::log1p(-uniform())));
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace foretrace::entity
