// When a measurement goes on and when it stops, with launches that are made up.
#include "measure/campaign/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace foretrace::measure {
namespace {

// A launch of one function, whose median and state are given.
SampleSet launch(int number, double seconds, double bounce = 4e-8, double wall = 10) {
  const std::string prefix = "launch_" + std::to_string(number) + "_";
  SampleSet set;
  set.info = {{prefix + "bounce", std::to_string(1e9 * bounce) + "e-9"},
              {prefix + "bounce_after", std::to_string(1e9 * bounce) + "e-9"},
              {prefix + "wall", std::to_string(wall)},
              {"oversubscribed", "no"}};
  set.samples = {{"send", 2, 8, number, seconds, true}};
  return set;
}

Campaign campaign(std::vector<SampleSet> launches) {
  Campaign made;
  made.launches = std::move(launches);
  assess(made);
  return made;
}

MeasureOptions options(EffortLevel effort = EffortLevel::normal) {
  MeasureOptions made;
  made.mpi = "openmpi";
  made.effort = effort;
  return made;
}

std::vector<SampleSet> alike(int count, double wall = 10) {
  std::vector<SampleSet> launches;
  for (int i = 1; i <= count; ++i) launches.push_back(launch(i, 1e-6, 4e-8, wall));
  return launches;
}

TEST(Campaign, TenLaunchesThatAgreeAreEnough) {
  EXPECT_EQ(reason_to_stop(campaign({}), options()), Stop::none);
  EXPECT_EQ(reason_to_stop(campaign(alike(9)), options()), Stop::none);
  EXPECT_EQ(reason_to_stop(campaign(alike(10)), options()), Stop::precise);
}

TEST(Campaign, LaunchesThatDifferGoOnUntilTheTimeIsUp) {
  std::vector<SampleSet> launches;
  for (int i = 1; i <= 5; ++i) launches.push_back(launch(i, 1e-6 * (1 + 0.1 * i)));
  EXPECT_EQ(reason_to_stop(campaign(launches), options()), Stop::none);
  // 5 launches of 10 s; the next one would end after 60 s.
  MeasureOptions hurried = options();
  hurried.budget = 60;
  EXPECT_EQ(reason_to_stop(campaign(launches), hurried), Stop::none);
  hurried.budget = 59;
  EXPECT_EQ(reason_to_stop(campaign(launches), hurried), Stop::out_of_time);
}

TEST(Campaign, LaunchesInAnotherStateDoNotCount) {
  // Of five that are wanted 3 at 40 ns, 2 at 180 ns: two more are needed.
  MeasureOptions quick = options(EffortLevel::quick);
  quick.budget = 1000;
  std::vector<SampleSet> launches = alike(3);
  for (int i = 4; i <= 5; ++i) launches.push_back(launch(i, 3e-6, 18e-8));
  Campaign mixed = campaign(launches);
  EXPECT_THAT(mixed.state.used, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(reason_to_stop(mixed, quick), Stop::none);
  for (int i = 6; i <= 7; ++i) mixed.launches.push_back(launch(i, 1e-6));
  assess(mixed);
  EXPECT_EQ(reason_to_stop(mixed, quick), Stop::precise);
  EXPECT_EQ(mixed.precision.half_width, 0);  // the others would have made it wide
  const SampleSet all = combine(mixed, options());
  EXPECT_EQ(all.samples.size(), 7u);
  EXPECT_EQ(used_samples(all).samples.size(), 5u);
  EXPECT_EQ(all.info.at("launches"), "5");
  EXPECT_THAT(all.info.at("launch_4_state"), testing::StartsWith("left out: cache line 180 ns"));
}

TEST(Campaign, AMachineThatNeverStaysInAStateIsGivenUp) {
  std::vector<SampleSet> launches;
  for (int i = 1; i <= 40; ++i) launches.push_back(launch(i, 1e-6, 1e-8 * std::pow(2.5, i), 0.1));
  EXPECT_EQ(reason_to_stop(campaign(launches), options()), Stop::out_of_time);
}

TEST(Campaign, AsManyAsAsked) {
  MeasureOptions asked = options();
  asked.launches = 2;
  EXPECT_EQ(reason_to_stop(campaign({launch(1, 1e-6)}), asked), Stop::none);
  EXPECT_EQ(reason_to_stop(campaign({launch(1, 1e-6), launch(2, 2e-6)}), asked),
            Stop::as_many_as_asked);
}

TEST(Campaign, MoreRanksThanCoresAreMeasuredOnce) {
  SampleSet set = launch(1, 1e-6);
  set.info["oversubscribed"] = "yes";
  EXPECT_EQ(reason_to_stop(campaign({set}), options()), Stop::oversubscribed);
}

TEST(Campaign, TheBudgetIsSharedAmongTheLaunches) {
  MeasureOptions short_one = options();
  short_one.budget = 20;  // 5 launches of 4 s, of which starting takes 1.5
  EXPECT_DOUBLE_EQ(preset_of(short_one).launch_seconds, 2.5);
  EXPECT_EQ(preset_of(short_one).launches, 5);
  // Seven of 15 s and their starts.
  short_one.budget = 119;
  EXPECT_EQ(preset_of(short_one).launches, 7);
  EXPECT_DOUBLE_EQ(preset_of(short_one).launch_seconds, 15);
  EXPECT_EQ(preset_of(options()).launches, 10);
  short_one.budget = 1;
  EXPECT_DOUBLE_EQ(preset_of(short_one).launch_seconds, 1);
  // The quick one ends within a minute, whatever the launches do.
  EXPECT_LT(preset_of(options(EffortLevel::quick)).budget, 60);
}

TEST(Campaign, WhatMostLaunchesFound) {
  std::vector<SampleSet> launches = alike(3);
  launches[0].info["sync_threshold"] = "4040";
  launches[1].info["sync_threshold"] = launches[2].info["sync_threshold"] = "4041";
  launches[0].info["local_threshold"] = "256";
  const SampleSet all = combine(campaign(launches), options());
  EXPECT_EQ(all.info.at("sync_threshold"), "4041");
  EXPECT_EQ(all.info.at("sync_threshold_seen"), "4040 4041 4041");
  EXPECT_EQ(all.info.at("local_threshold"), "256");
  EXPECT_FALSE(all.info.contains("local_threshold_seen"));
}

TEST(Campaign, FunctionsThatWereNeverUndisturbedAreNamed) {
  SampleSet set = launch(1, 1e-6);
  set.samples.push_back({"bcast", 2, 8, 1, 1e-3, false});
  EXPECT_EQ(combine(campaign({set}), options()).info.at("invalid"), "bcast");
}

}  // namespace
}  // namespace foretrace::measure
