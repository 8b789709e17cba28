// The factors of untouched data, from pairs of samples.
#include "measure/fit/untouched.hpp"

#include <gtest/gtest.h>

#include "measure/core/hosts.hpp"
#include "measure/fit/fit.hpp"

namespace foretrace::measure {
namespace {

machine::Functions functions(std::initializer_list<const char*> names) {
  machine::Functions all;
  for (const char* name : names) all[name].name = name;
  return all;
}

SampleSet set_of(std::vector<Sample> samples) {
  SampleSet set;
  set.samples = std::move(samples);
  return set;
}

TEST(Untouched, IsTakenOutOfTheSet) {
  SampleSet set = set_of({{"recv", 2, 1024, 1, 1e-6, true},
                          {"untouched/recv", 2, 1024, 1, 5e-7, true},
                          {"untouched/node/recv", 2, 1024, 1, 4e-7, true}});
  const SampleSet untouched = take_prefixed(set, kUntouchedPrefix);
  ASSERT_EQ(set.samples.size(), 1U);
  ASSERT_EQ(untouched.samples.size(), 2U);
  EXPECT_EQ(untouched.samples[0].function, "recv");
  EXPECT_EQ(untouched.samples[1].function, "node/recv");
}

// Each launch beside itself: the second was slow throughout.
TEST(Untouched, TheMiddleOfTheLaunchesFactors) {
  const SampleSet written = set_of({{"recv", 2, 1024, 1, 1e-6, true},
                                    {"recv", 2, 4096, 1, 2e-6, true},
                                    {"recv", 2, 4096, 2, 20e-6, true},
                                    {"recv", 2, 4096, 3, 2e-6, true},
                                    {"recv", 2, 4096, 3, 900e-6, false}});
  const SampleSet untouched = set_of({{"recv", 2, 1024, 1, 1.2e-6, true},
                                      {"recv", 2, 4096, 1, 1e-6, true},
                                      {"recv", 2, 4096, 2, 12e-6, true},
                                      {"recv", 2, 4096, 3, 1.1e-6, true},
                                      {"recv", 2, 4096, 4, 1e-6, true}});
  machine::Functions all = functions({"recv"});
  set_untouched(untouched, written, 1e-7, all);
  const auto& known = all["recv"].untouched;
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].bytes, Bytes(1024));
  EXPECT_EQ(known[0].factor, 1) << "never more than other data";
  EXPECT_EQ(known[1].bytes, Bytes(4096));
  EXPECT_DOUBLE_EQ(known[1].factor, 0.55);
}

// A machine file has no time that is 0 times another.
TEST(Untouched, NoFactorIsZero) {
  machine::Functions all = functions({"irecvoverlap"});
  set_untouched(set_of({{"irecvoverlap", 2, 1024, 1, 1e-9, true}}),
                set_of({{"irecvoverlap", 2, 1024, 1, 1e-3, true}}), 1e-7, all);
  ASSERT_EQ(all["irecvoverlap"].untouched.size(), 1U);
  EXPECT_DOUBLE_EQ(all["irecvoverlap"].untouched[0].factor, 0.001);
}

TEST(Untouched, NoiseAndNextToNothingSayNothing) {
  const SampleSet written =
      set_of({{"allreduce", 2, 1024, 1, 1e-6, true}, {"isend2", 2, 1024, 1, 2e-8, true}});
  const SampleSet untouched =
      set_of({{"allreduce", 2, 1024, 1, 0.98e-6, true}, {"isend2", 2, 1024, 1, 1e-8, true}});
  machine::Functions all = functions({"allreduce", "isend2"});
  set_untouched(untouched, written, 1e-7, all);
  EXPECT_TRUE(all["allreduce"].untouched.empty());
  EXPECT_TRUE(all["isend2"].untouched.empty());
}

TEST(Untouched, WhatIsAlikeTakesTheSame) {
  const SampleSet written = set_of({{"alltoall", 2, 1024, 1, 1e-6, true},
                                    {"send", 2, 1024, 1, 1e-6, true},
                                    {"ssend", 2, 1024, 1, 1e-6, true}});
  const SampleSet untouched = set_of({{"alltoall", 2, 1024, 1, 5e-7, true},
                                      {"send", 2, 1024, 1, 5e-7, true},
                                      {"ssend", 2, 1024, 1, 1e-6, true}});
  machine::Functions all =
      functions({"alltoall", "alltoallv", "alltoallw", "rsend", "send", "ssend"});
  set_untouched(untouched, written, 1e-7, all);
  EXPECT_EQ(all["alltoallv"].untouched.size(), 1U);
  EXPECT_EQ(all["alltoallw"].untouched.size(), 1U);
  EXPECT_EQ(all["rsend"].untouched.size(), 1U);
  EXPECT_TRUE(all["ssend"].untouched.empty()) << "it was measured, and takes as long";
}

// In a whole fit they change no equation.
TEST(Untouched, StandsBesideTheEquations) {
  SampleSet set;
  for (const std::uint64_t bytes : {1024, 2048, 4096, 8192, 16384})
    for (int launch = 1; launch <= 3; ++launch)
      for (const char* name : {"recv", "node/recv"})
        set.samples.push_back(
            {name, 2, bytes, launch, 1e-6 + 1e-9 * static_cast<double>(bytes), true});
  const FitOutcome alone = fit_model(set, {});
  SampleSet both = set;
  for (const Sample& sample : set.samples)
    both.samples.push_back({"untouched/" + sample.function, 2, sample.bytes, sample.launch,
                            sample.seconds * (sample.function == "recv" ? 0.5 : 0.75), true});
  const FitOutcome outcome = fit_model(both, {});
  const machine::Function& recv = *outcome.model.find("recv");
  const machine::Function& inner = outcome.model.paths.at(machine::Path::node).functions.at("recv");
  ASSERT_EQ(recv.untouched.size(), 5U);
  EXPECT_DOUBLE_EQ(recv.untouched[0].factor, 0.5);
  EXPECT_DOUBLE_EQ(inner.untouched[0].factor, 0.75);
  EXPECT_EQ(outcome.model.functions.size(), 1U);
  for (const std::uint64_t bytes : {1024, 5000, 16384})
    EXPECT_EQ(machine::evaluate_seconds(outcome.model, recv, 2, Bytes(bytes), machine::Bound::avg),
              machine::evaluate_seconds(alone.model, *alone.model.find("recv"), 2, Bytes(bytes),
                                        machine::Bound::avg));
}

}  // namespace
}  // namespace foretrace::measure
