// The estimate of another clock's offset, from exchanges made of known clocks.
#include "base/clock_offset.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace foretrace {
namespace {

// The other clock is `offset` ahead; the ways there and back take that long.
Exchange exchange(std::int64_t sent, std::int64_t offset, std::int64_t there, std::int64_t back) {
  return {sent, sent + there + offset, sent + there + back};
}

TEST(ClockOffset, OneExchangeIsOffByHalfItsRoundTrip) {
  const ClockOffset estimate = estimate_offset(std::vector{exchange(1000, 500, 40, 40)});
  EXPECT_EQ(estimate.offset, 500);
  EXPECT_EQ(estimate.error, 40);
  EXPECT_EQ(estimate.at, 1040);
  // All of the delay on one way: the truth is at the end of the interval.
  const ClockOffset lopsided = estimate_offset(std::vector{exchange(1000, 500, 80, 0)});
  EXPECT_EQ(lopsided.offset - lopsided.error, 500);
}

TEST(ClockOffset, ExchangesTogetherSayMore) {
  // Each way was short once: [450, 600] and [400, 520] leave [450, 520].
  const ClockOffset estimate =
      estimate_offset(std::vector{Exchange{100, 700, 250}, Exchange{1000, 1520, 1120}});
  EXPECT_EQ(estimate.offset, 485);
  EXPECT_EQ(estimate.error, 35);
  EXPECT_EQ(estimate.at, 1060) << "the middle of the shorter round trip";
}

TEST(ClockOffset, OddIntervalsAreCovered) {
  // [10, 13]: 11 +- 2.
  const ClockOffset estimate = estimate_offset(std::vector{Exchange{0, 13, 3}});
  EXPECT_EQ(estimate.offset, 11);
  EXPECT_EQ(estimate.error, 2);
}

TEST(ClockOffset, TheShortestRoundTripDecidesAContradiction) {
  // The clock was set forward by 1000 between the two.
  const ClockOffset estimate =
      estimate_offset(std::vector{exchange(0, 0, 30, 30), exchange(100, 1000, 20, 20)});
  EXPECT_EQ(estimate.offset, 1000);
  EXPECT_EQ(estimate.error, 20);
}

// Whatever the delays are, the truth is within the error.
TEST(ClockOffset, TheErrorIsABound) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> delay(200, 90'000);
  std::uniform_int_distribution<std::int64_t> offsets(-4'000'000'000'000, 4'000'000'000'000);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t offset = offsets(random);
    std::vector<Exchange> exchanges;
    for (int i = 0; i < 20; ++i)
      exchanges.push_back(
          exchange(5'000'000'000 + i * 100'000, offset, delay(random), delay(random)));
    const ClockOffset estimate = estimate_offset(exchanges);
    EXPECT_LE(std::abs(estimate.offset - offset), estimate.error);
    EXPECT_LT(estimate.error, 90'000);
  }
}

}  // namespace
}  // namespace foretrace
