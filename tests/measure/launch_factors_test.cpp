// What a model keeps of how its launches differed.
#include "measure/fit/launch_factors.hpp"

#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

// send takes 2 s, recv is not to be trusted, one execution of the kernel takes 3 s.
FitOutcome outcome() {
  FitOutcome outcome;
  machine::Function send{"send", "point-to-point", "", {machine::Regime{}}};
  send.regimes[0].equation.constant.value = 2;
  machine::Function recv = send;
  recv.name = "recv";
  recv.valid = false;
  outcome.model.functions = {{"send", send}, {"recv", recv}};
  outcome.model.paths[machine::Path::node].functions = {{"send", send}};
  outcome.costs.kernels["float"] = {3, {{1, 3}, {2, 9}}};
  return outcome;
}

TEST(LaunchFactors, MiddleOfWhatALaunchMeasured) {
  const auto factors = launch_factors({{"send", 2, 8, 1, 1.0, true},   // 8 bytes: mean 5, 2.5 times
                                       {"send", 2, 8, 1, 9.0, false},  // a disturbed one counts
                                       {"send", 2, 64, 1, 6.0, true},  // 3 times
                                       {"node/send", 2, 8, 1, 4, true},  // 2 times
                                       {"recv", 2, 8, 1, 99.0, true},
                                       {"kernel:float", 1, 0, 1, 4.5, true},
                                       {"kernel:float", 2, 0, 1, 13.5, true},
                                       {"send", 2, 8, 2, 8.0, true},
                                       {"kernel:float", 1, 0, 3, 4.5, true}},
                                      outcome());
  ASSERT_EQ(factors.size(), 2U);  // the third launch has no calls
  EXPECT_DOUBLE_EQ(factors[0].calls, 2.5);
  EXPECT_DOUBLE_EQ(factors[0].computation, 1.5);
  EXPECT_DOUBLE_EQ(factors[1].calls, 4);
  EXPECT_DOUBLE_EQ(factors[1].computation, 1);
}

// Up to 100 bytes four times as long, from there on nothing is known but by the others. Disturbed
// samples, points of fewer than three, and functions that are not to be trusted or have no equation
// tell nothing.
TEST(OtherState, MiddleOfEachRegime) {
  machine::MachineModel model = outcome().model;
  machine::Regime longer = model.functions["send"].regimes[0];
  model.functions["send"].regimes[0].to = Bytes(100);
  longer.from = Bytes(101);
  longer.to = Bytes(200);
  model.functions["send"].regimes.push_back(longer);
  longer.from = Bytes(201);
  longer.to = Bytes(UINT64_MAX);
  model.functions["send"].regimes.push_back(longer);
  std::vector<Sample> others{{"send", 2, 8, 1, 90.0, false},
                             {"send", 2, 150, 2, 3.0, true},
                             {"node/send", 2, 8, 1, 4, true}};
  for (int i = 0; i < 3; ++i) {
    others.push_back({"send", 2, 8, 1, 8.0, true});
    others.push_back({"send", 2, 16, 1, 6.0, true});
    others.push_back({"send", 2, 32, 2, 10.0, true});
    others.push_back({"send", 2, 300, 2, 2.0, true});
    others.push_back({"recv", 2, 8, 1, 99.0, true});
    others.push_back({"kernel:float", 1, 0, 1, 4.5, true});
  }
  add_other_state(others, 3 * others.size(), model);
  EXPECT_DOUBLE_EQ(model.other_state_share, 0.25);
  EXPECT_DOUBLE_EQ(model.functions["send"].regimes[0].other_state, 4);
  EXPECT_DOUBLE_EQ(model.functions["send"].regimes[1].other_state, 3.5);
  EXPECT_DOUBLE_EQ(model.functions["send"].regimes[2].other_state, 1);
  EXPECT_EQ(model.functions["recv"].regimes[0].other_state, 1);
  EXPECT_EQ(model.paths[machine::Path::node].functions["send"].regimes[0].other_state, 1);
}

TEST(OtherState, ThereWasNone) {
  machine::MachineModel model = outcome().model;
  add_other_state({}, 0, model);
  EXPECT_EQ(model.other_state_share, 0);
}

}  // namespace
}  // namespace foretrace::measure
