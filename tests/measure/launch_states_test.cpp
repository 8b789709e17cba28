// Launches grouped by fingerprints that are made up, and what is said of them.
#include "measure/campaign/launch_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

LaunchState state(int launch, double bounce, double bandwidth = 10e9) {
  return {launch, bounce, bandwidth, false, false, "pine"};
}

// One whose blocks know better.
LaunchState state_of_blocks(int launch, double bounce, double bandwidth = 10e9) {
  LaunchState made = state(launch, bounce, bandwidth);
  made.blocks_know = true;
  return made;
}

// Blocks of a launch, by their cache lines in ns.
void add_blocks(int launch, std::initializer_list<double> lines, std::vector<Sample>& samples) {
  for (const double line : lines)
    samples.push_back({"send", 2, 8, launch, 1e-6, true, 1e-9 * line});
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
  mark_states({state(1, 38e-9), state(2, 179e-9)}, {{1}, {}, 38e-9}, set);
  EXPECT_EQ(set.info["launch_1_state"], "used");
  EXPECT_EQ(set.info["launch_2_state"], "left out: cache line 179 ns, copy 10 GB/s");
  EXPECT_EQ(set.info["cache_line"], "3.8e-08");
  const SampleSet used = used_samples(set);
  ASSERT_EQ(used.samples.size(), 1u);
  EXPECT_EQ(used.samples[0].launch, 1);
}

TEST(LaunchStates, CacheLineOfMostBlocks) {
  EXPECT_EQ(chosen_cache_line({}), 0);
  EXPECT_EQ(chosen_cache_line({0, 0}), 0);
  EXPECT_EQ(chosen_cache_line({250, 45, 55, 50, 260, 0}), 50);
  // The faster two are a fifth, and then a quarter.
  EXPECT_EQ(chosen_cache_line({45, 50, 250, 251, 252, 253, 254, 255, 256, 257}), 254);
  EXPECT_EQ(chosen_cache_line({45, 50, 250, 251, 252, 253, 254, 255}), 50);
  // Faster by less than the factor is the same state.
  EXPECT_EQ(chosen_cache_line({60, 60, 100, 101, 102, 103, 104}), 101);
}

// What launches began and ended with does not matter. The third one was in the other state but for
// a twentieth of it; the fourth copied slowly.
TEST(LaunchStates, BlocksThatKnow) {
  std::vector<Sample> samples;
  add_blocks(1, {50, 52, 250}, samples);
  add_blocks(2, {250, 54}, samples);
  for (int i = 0; i < 19; ++i) add_blocks(3, {240}, samples);
  add_blocks(3, {51}, samples);
  add_blocks(4, {50, 50}, samples);
  for (int i = 0; i < 10; ++i) add_blocks(2, {50}, samples);
  const StateChoice choice =
      choose_state({state_of_blocks(1, 50e-9), state_of_blocks(2, 250e-9),
                    state_of_blocks(3, 240e-9), state_of_blocks(4, 50e-9, 5e9)},
                   samples);
  EXPECT_THAT(choice.used, ElementsAre(1, 2));
  EXPECT_THAT(choice.others, ElementsAre(3));
  EXPECT_DOUBLE_EQ(choice.cache_line, 50e-9);
  SampleSet set;
  mark_states({state(1, 50e-9), state(2, 250e-9), state(3, 240e-9), state(4, 50e-9, 5e9)}, choice,
              set);
  EXPECT_EQ(set.info["launch_2_state"], "used");
  EXPECT_EQ(set.info["launch_3_state"], "another state: cache line 240 ns, copy 10 GB/s");
  EXPECT_EQ(set.info["launch_4_state"], "left out: cache line 50 ns, copy 5 GB/s");
  EXPECT_EQ(cache_line_of(set), 5e-8);
}

TEST(LaunchStates, ChangedBetweenBlocksThatKnow) {
  SampleSet set;
  set.info = {{"launch_1_bounce", "4e-08"}, {"launch_1_bounce_after", "1.8e-07"}};
  add_blocks(1, {0}, set.samples);
  EXPECT_TRUE(state_of(set, 1).changed);
  add_blocks(1, {40}, set.samples);
  EXPECT_FALSE(state_of(set, 1).changed);
  EXPECT_TRUE(state_of(set, 1).blocks_know);
}

}  // namespace
}  // namespace foretrace::measure
