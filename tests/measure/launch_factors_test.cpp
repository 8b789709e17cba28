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
  outcome.costs.kernels["float"] = 3;
  return outcome;
}

TEST(LaunchFactors, MiddleOfWhatALaunchMeasured) {
  const auto factors = launch_factors({{"send", 2, 8, 1, 1.0, true},   // 8 bytes: mean 5, 2.5 times
                                       {"send", 2, 8, 1, 9.0, false},  // a disturbed one counts
                                       {"send", 2, 64, 1, 6.0, true},  // 3 times
                                       {"node/send", 2, 8, 1, 4, true},  // 2 times
                                       {"recv", 2, 8, 1, 99.0, true},
                                       {"kernel:float", 1, 0, 1, 4.5, true},
                                       {"send", 2, 8, 2, 8.0, true},
                                       {"kernel:float", 1, 0, 3, 4.5, true}},
                                      outcome());
  ASSERT_EQ(factors.size(), 2U);  // the third launch has no calls
  EXPECT_DOUBLE_EQ(factors[0].calls, 2.5);
  EXPECT_DOUBLE_EQ(factors[0].computation, 1.5);
  EXPECT_DOUBLE_EQ(factors[1].calls, 4);
  EXPECT_DOUBLE_EQ(factors[1].computation, 1);
}

}  // namespace
}  // namespace foretrace::measure
