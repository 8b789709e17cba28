#include "trace/annotations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace foretrace::trace {
namespace {

TEST(Annotations, NumbersNamesByFirstUse) {
  Annotations annotations;
  EXPECT_EQ(annotations.name("solve").number, 0u);
  EXPECT_TRUE(annotations.name("sweep").is_new);
  EXPECT_EQ(annotations.name("sweep").number, 1u);
  EXPECT_FALSE(annotations.name("solve").is_new);
  EXPECT_EQ(annotations.name("solve").number, 0u);
}

TEST(Annotations, PhasesThatNestLeaveNothingToTell) {
  Annotations annotations;
  const auto solve = annotations.name("solve").number;
  const auto sweep = annotations.name("sweep").number;
  annotations.begin(solve, true);
  annotations.begin(sweep, true);
  annotations.begin(solve, true);
  EXPECT_TRUE(annotations.end(solve, true));
  EXPECT_TRUE(annotations.end(sweep, true));
  EXPECT_TRUE(annotations.end(solve, true));
  EXPECT_EQ(annotations.complaint(), "");
}

TEST(Annotations, TellsWhatWasNotOpenedAndWhatWasNotClosed) {
  Annotations annotations;
  const auto solve = annotations.name("solve").number;
  const auto sweep = annotations.name("sweep").number;
  EXPECT_TRUE(annotations.end(sweep, true));
  EXPECT_EQ(annotations.complaint(), "1 phase closed that was not open (first: 'sweep')");
  annotations.end(solve, true);
  annotations.begin(solve, true);
  EXPECT_EQ(
      annotations.complaint(),
      "2 phases closed that were not open (first: 'sweep'), 1 phase left open (first: 'solve')");
  annotations.begin(sweep, true);
  annotations.begin(sweep, true);
  annotations.end(solve, true);
  EXPECT_EQ(
      annotations.complaint(),
      "2 phases closed that were not open (first: 'sweep'), 2 phases left open (first: 'sweep')");
}

// The end belongs in the trace where the beginning does, whatever was switched
// on or off between them.
TEST(Annotations, EndsAreLoggedWhereBeginningsWere) {
  Annotations annotations;
  const auto solve = annotations.name("solve").number;
  annotations.begin(solve, true);
  annotations.begin(solve, false);
  EXPECT_FALSE(annotations.end(solve, true));
  EXPECT_TRUE(annotations.end(solve, false));
  EXPECT_FALSE(annotations.end(solve, false));  // never opened
}

TEST(Annotations, StepsAreFiniteAndNotBelowZero) {
  Annotations annotations;
  EXPECT_TRUE(annotations.takes(0));
  EXPECT_TRUE(annotations.takes(1e300));
  EXPECT_EQ(annotations.complaint(), "");
  EXPECT_FALSE(annotations.takes(-1e-9));
  EXPECT_EQ(
      annotations.complaint(),
      "1 announcement of steps (FORETRACE_COMPUTE) that is below zero or not finite, taken as 0");
  EXPECT_FALSE(annotations.takes(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(annotations.takes(std::numeric_limits<double>::infinity()));
  EXPECT_THAT(annotations.complaint(), testing::StartsWith("3 announcements of"));
}

TEST(Annotations, APhaseWithoutANameIsClosedUnderAnyThatIsNotOpen) {
  Annotations annotations;
  const auto unnamed = annotations.name("").number;
  const auto solve = annotations.name("solve").number;
  annotations.begin(solve, true);
  annotations.begin(unnamed, false);
  EXPECT_TRUE(annotations.end(solve, true));  // the one of that name
  EXPECT_FALSE(annotations.end(solve, true));
  EXPECT_EQ(annotations.complaint(), "");
  annotations.begin(unnamed, true);  // the rest of a program that never names it
  EXPECT_EQ(annotations.complaint(), "");
}

}  // namespace
}  // namespace foretrace::trace
