// [rewrite] of the model, from samples.
#include "measure/fit/rewrite.hpp"

#include <gtest/gtest.h>

#include "measure/campaign/precision.hpp"
#include "measure/fit/fit.hpp"

namespace foretrace::measure {
namespace {

TEST(Rewrite, TheMiddleOfTheLaunchesAtEachSize) {
  const auto known = rewrite_times({{"rewrite:send", 2, 4096, 1, 90e-9, true},
                                    {"rewrite:send", 2, 65536, 1, 4e-6, true},
                                    {"rewrite:send", 2, 65536, 1, 6e-6, true},
                                    {"rewrite:send", 2, 65536, 2, 1.0004e-6, true},
                                    {"rewrite:send", 2, 65536, 3, 7.0004e-6, true},
                                    {"rewrite:send", 2, 65536, 3, 900e-6, false},
                                    {"rewrite:send", 2, 1048576, 1, 900e-6, false}},
                                   100e-9);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].bytes, Bytes(4096));
  EXPECT_EQ(known[0].time, Time()) << "no more than readings of the clock differ";
  EXPECT_EQ(known[1].bytes, Bytes(65536));
  EXPECT_EQ(known[1].time, Time::ns(5000));
}

// Nothing up to 4,000 bytes, then 100 ns and 0.1 ns a byte up to 10,000, then a tenth of that more.
TEST(Rewrite, KeepsTheCornersAlone) {
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 1000; bytes <= 20000; bytes += 1000) {
    const double more = static_cast<double>(bytes) - 4000;
    const double seconds =
        more <= 0 ? 0
                  : 500e-9 + 1e-10 * std::min(more, 6000.0) + 1e-11 * std::max(more - 6000, 0.0);
    const double noise = bytes % 2000 == 0 ? 1.01 : 0.99;
    samples.push_back({"rewrite:send", 2, bytes, 1, seconds * noise, true});
  }
  std::vector<std::uint64_t> sizes;
  for (const auto& each : rewrite_times(samples, 100e-9)) sizes.push_back(each.bytes.count);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1000, 4000, 5000, 10000, 20000}));
}

TEST(Rewrite, IsNoFunctionAndAsksForNoLaunches) {
  SampleSet set;
  for (const int launch : {1, 2}) {
    for (const std::uint64_t bytes : {8, 64, 1024, 8192})
      set.samples.push_back({"send", 2, bytes, launch, 1e-6, true});
    for (std::uint64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2)
      set.samples.push_back({"rewrite:send", 2, bytes, launch, launch * 1e-6, true});
    set.samples.push_back({"node/rewrite:bcast", 2, 8192, launch, 3e-6, true});
    set.samples.push_back({"node/send", 2, 8192, launch, 1e-6, true});
  }
  const machine::MachineModel model = fit_model(set).model;
  EXPECT_EQ(model.functions.size(), 1U);
  ASSERT_EQ(model.rewrite.size(), 1U);
  EXPECT_EQ(model.rewrite.at("send")[0].time, Time::ns(1500));
  EXPECT_EQ(model.paths.at(machine::Path::node).rewrite.at("bcast")[0].time, Time::ns(3000));
  EXPECT_EQ(precision_of(set).half_width, 0) << "of what is the same each time";
}

}  // namespace
}  // namespace foretrace::measure
