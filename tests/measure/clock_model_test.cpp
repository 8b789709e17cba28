// The line between two clocks, from offsets measured on clocks that are known.
#include "measure/core/clock_model.hpp"

#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(ClockModel, WithoutAMeasurementTheClocksAreOne) {
  const ClockLine line = ClockModel().line();
  EXPECT_EQ(line.to_common(123), 123);
  EXPECT_EQ(line.to_ours(123), 123);
}

TEST(ClockModel, OneMeasurementIsAnOffset) {
  ClockModel model;
  model.add({5 * kSecond, -700, 10});
  EXPECT_EQ(model.line().to_common(9 * kSecond), 9 * kSecond - 700);
  EXPECT_EQ(model.line().to_ours(9 * kSecond - 700), 9 * kSecond);
  EXPECT_EQ(model.line().error, 10);
}

TEST(ClockModel, TwoMeasurementsTellTheDrift) {
  // 20 ppm: in 1 s 20 us. A second after the last measurement 20 us more.
  ClockModel model;
  model.add({0, 1'000'000, 100});
  model.add({kSecond, 1'020'000, 100});
  EXPECT_DOUBLE_EQ(model.line().drift, 20e-6);
  EXPECT_EQ(model.line().to_common(2 * kSecond), 2 * kSecond + 1'040'000);
}

TEST(ClockModel, ThereAndBackIsTheSameMoment) {
  ClockModel model;
  model.add({0, -3'000'000'000, 0});
  model.add({kSecond, -3'000'050'000, 0});
  for (const std::int64_t ours : {kSecond, 2 * kSecond, 7 * kSecond + 12'345'678})
    EXPECT_NEAR(static_cast<double>(model.line().to_ours(model.line().to_common(ours))),
                static_cast<double>(ours), 1);
}

TEST(ClockModel, AChangeWithinTheErrorsIsNoDrift) {
  ClockModel model;
  model.add({0, 500, 300});
  model.add({kSecond, 1000, 300});
  EXPECT_EQ(model.line().drift, 0);
  EXPECT_EQ(model.line().offset, 1000);
}

TEST(ClockModel, OldMeasurementsAreForgotten) {
  // 50 ppm in the first second, none in the 20 after it.
  ClockModel model;
  model.add({0, 0, 0});
  for (int second = 1; second <= 21; ++second) model.add({second * kSecond, 50'000, 0});
  EXPECT_EQ(model.line().drift, 0);
}

}  // namespace
}  // namespace foretrace::measure
