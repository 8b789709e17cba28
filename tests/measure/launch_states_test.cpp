// Launches grouped by fingerprints that are made up, and what is said of them.
#include "measure/campaign/launch_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

LaunchState state(int launch, double bounce, double bandwidth = 10e9) {
  return {launch, bounce, bandwidth, false, "pine"};
}

TEST(LaunchStates, ReadFromTheFacts) {
  SampleSet set;
  set.info = {{"launch_3_bounce", "4e-08"},
              {"launch_3_bounce_after", "4.5e-08"},
              {"launch_3_bandwidth", "1e+10"},
              {"launch_3_bandwidth_after", "1e+10"},
              {"binding", "rank 0: 0"}};
  const LaunchState state = state_of(set, 3);
  EXPECT_DOUBLE_EQ(state.bounce, std::sqrt(4e-8 * 4.5e-8));
  EXPECT_DOUBLE_EQ(state.bandwidth, 1e10);
  EXPECT_FALSE(state.changed);
  EXPECT_EQ(state_of(set, 4).bounce, 0);
  set.info["launch_3_bounce_after"] = "1.8e-07";
  EXPECT_TRUE(state_of(set, 3).changed);
}

// 40 and 90 ns: 60 ns; the launch that was left out does not count.
TEST(LaunchStates, CacheLineOfTheUsedOnes) {
  SampleSet set;
  EXPECT_EQ(cache_line_of(set), 0);
  set.info = {{"launch_1_bounce", "4e-08"},
              {"launch_2_bounce", "2.5e-07"},
              {"launch_3_bounce", "9e-08"},
              {"launch_1_state", "used"},
              {"launch_2_state", "left out: cache line 250 ns"},
              {"launch_3_state", "used"}};
  EXPECT_NEAR(cache_line_of(set), 6e-8, 1e-12);
}

TEST(LaunchStates, OnesAsSeenOnAVirtualMachineAreTwo) {
  // 38 and 179 ns between the same two cores, launch by launch.
  EXPECT_THAT(chosen_group({state(1, 38e-9), state(2, 179e-9), state(3, 40e-9), state(4, 170e-9),
                            state(5, 37e-9)}),
              ElementsAre(1, 3, 5));
}

// As seen, too: 7 launches with the cores far from each other, 3 of 12 near. Of 13 these are less
// than a quarter, and two are never enough.
TEST(LaunchStates, TheFasterOneOfTwoIfItWasSeenOften) {
  std::vector<LaunchState> seen{state(1, 253e-9), state(2, 50e-9), state(3, 55e-9),
                                state(4, 57e-9)};
  for (int launch = 5; launch <= 12; ++launch) seen.push_back(state(launch, 250e-9));
  EXPECT_THAT(chosen_group(seen), ElementsAre(2, 3, 4));
  seen.push_back(state(13, 250e-9));
  EXPECT_EQ(chosen_group(seen).size(), 10u);
  EXPECT_THAT(chosen_group({state(1, 50e-9), state(2, 50e-9), state(3, 250e-9), state(4, 250e-9),
                            state(5, 250e-9)}),
              ElementsAre(3, 4, 5));
}

TEST(LaunchStates, TheFactorIsTheBorder) {
  EXPECT_TRUE(same_state(state(1, 100e-9), state(2, 199e-9)));
  EXPECT_FALSE(same_state(state(1, 100e-9), state(2, 201e-9)));
  EXPECT_TRUE(same_state(state(1, 1e-7, 10e9), state(2, 1e-7, 14.9e9)));
  EXPECT_FALSE(same_state(state(1, 1e-7, 10e9), state(2, 1e-7, 15.1e9)));
}

TEST(LaunchStates, AnyTwoOfAGroupAreAlike) {
  // 100 and 180 are, 180 and 240 are, 100 and 240 are not.
  EXPECT_THAT(chosen_group({state(1, 100e-9), state(2, 180e-9), state(3, 240e-9)}),
              ElementsAre(1, 2));
}

TEST(LaunchStates, AChangeMeanwhileBelongsToNobody) {
  LaunchState changed = state(2, 100e-9);
  changed.changed = true;
  EXPECT_THAT(chosen_group({state(1, 100e-9), changed, state(3, 100e-9)}), ElementsAre(1, 3));
}

TEST(LaunchStates, OtherSettingsAreAnotherState) {
  LaunchState other = state(2, 100e-9);
  other.surroundings = "oak";
  EXPECT_THAT(chosen_group({state(1, 100e-9), other, state(3, 100e-9)}), ElementsAre(1, 3));
}

TEST(LaunchStates, WhatIsNotKnownPartsNobody) {
  EXPECT_THAT(chosen_group({state(1, 0, 0), state(2, 100e-9), state(3, 0, 0)}),
              ElementsAre(1, 2, 3));
}

TEST(LaunchStates, OfTwoAsLargeTheFirst) {
  EXPECT_THAT(chosen_group({state(1, 38e-9), state(2, 179e-9)}), ElementsAre(1));
  EXPECT_THAT(chosen_group({}), ElementsAre());
}

TEST(LaunchStates, OnlyTheUsedCount) {
  SampleSet set;
  set.samples = {{"send", 2, 8, 1, 1e-6, true}, {"send", 2, 8, 2, 5e-6, true}};
  mark_states({state(1, 38e-9), state(2, 179e-9)}, {1}, set);
  EXPECT_EQ(set.info["launch_1_state"], "used");
  EXPECT_EQ(set.info["launch_2_state"], "left out: cache line 179 ns, copy 10 GB/s");
  EXPECT_EQ(set.info["cache_line"], "3.8e-08");
  const SampleSet used = used_samples(set);
  ASSERT_EQ(used.samples.size(), 1u);
  EXPECT_EQ(used.samples[0].launch, 1);
}

}  // namespace
}  // namespace foretrace::measure
