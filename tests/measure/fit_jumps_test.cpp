// Which jumps all launches see, on times that are known.
#include "measure/fit/jumps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

// Launch `g` of five is slower by g per cent as a whole; `time` is its time of a size.
template <class Time>
std::vector<Observation> observe(std::size_t launches, const Time& time) {
  std::vector<Observation> all;
  for (std::size_t g = 0; g < launches; ++g)
    for (const std::uint64_t bytes : {51, 64, 65, 81, 92, 93, 102, 128, 129})
      all.push_back({2, bytes, g, (1 + 0.01 * static_cast<double>(g)) * time(bytes, g)});
  return all;
}

double two_steps(std::uint64_t bytes, std::size_t) {
  return (bytes > 64 ? 1.15 : 1.0) * (bytes > 92 ? 0.8 : 1.0);
}

TEST(SeenJumps, AreFoundUpAndDownWithoutAProposal) {
  EXPECT_THAT(seen_jumps(observe(5, two_steps), {}), ElementsAre(64, 92));
}

TEST(SeenJumps, ProposalsThatNoLaunchSeesAreDropped) {
  EXPECT_THAT(seen_jumps(observe(5, two_steps), {92, 128}), ElementsAre(64, 92));
}

TEST(SeenJumps, ProposalsThatNobodyMeasuredAreKept) {
  // 70 has no neighbours, 81 one that is too far away.
  EXPECT_THAT(seen_jumps(observe(5, two_steps), {70, 81}), ElementsAre(64, 70, 81, 92));
}

TEST(SeenJumps, TwoLaunchesDecideNothing) {
  EXPECT_THAT(seen_jumps(observe(2, two_steps), {128}), ElementsAre(128));
}

TEST(SeenJumps, WhatOneLaunchSeesIsNone) {
  // 30 % in one launch of five: the middle is none, and so is a step of 5 % that
  // changes its direction.
  const auto once = [](std::uint64_t bytes, std::size_t g) {
    return bytes > 64 && g == 2 ? 1.3 : 1.0;
  };
  EXPECT_THAT(seen_jumps(observe(5, once), {}), ElementsAre());
  const auto either = [](std::uint64_t bytes, std::size_t g) {
    return bytes > 64 ? (g < 3 ? 1.05 : 0.85) : 1.0;
  };
  EXPECT_THAT(seen_jumps(observe(5, either), {}), ElementsAre());
}

TEST(SeenJumps, AFewOfManyStepsAreLargeByChance) {
  // Launches that differ by 3 % at each size: of 400 steps a dozen is three standard errors
  // from none, and one of 25 % is still seen.
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.03);
  std::vector<Observation> all;
  for (std::size_t g = 0; g < 5; ++g)
    for (std::uint64_t bytes = 64; bytes < 64 + 8 * 400; bytes += 8)
      all.push_back({2, bytes, g, (bytes > 1024 ? 1.25 : 1.0) * noise(random)});
  EXPECT_THAT(seen_jumps(all, {}), ElementsAre(1024));
}

TEST(SeenJumps, OneNumberOfRanksIsEnough) {
  std::vector<Observation> all = observe(5, [](std::uint64_t, std::size_t) { return 1.0; });
  for (Observation each : observe(5, two_steps)) {
    each.ranks = 8;
    all.push_back(each);
  }
  EXPECT_THAT(seen_jumps(all, {}), ElementsAre(64, 92));
}

TEST(SeenJumps, ZerosAndGrowthAreNone) {
  EXPECT_THAT(seen_jumps(observe(5, [](std::uint64_t, std::size_t) { return 0.0; }), {}),
              ElementsAre());
  EXPECT_THAT(seen_jumps(observe(5, [](std::uint64_t bytes,
                                       std::size_t) { return static_cast<double>(bytes); }),
                         {}),
              ElementsAre());
}

}  // namespace
}  // namespace foretrace::measure
