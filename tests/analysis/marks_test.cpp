#include "analysis/marks.hpp"

#include <gtest/gtest.h>

#include "analysis/profile.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using test::TraceBuilder;
using test::us;

TEST(Marks, AreSummedUpByName) {
  TraceBuilder b(2);
  b.init(0);
  b.mark(0, "residual", 4, us(10));
  b.mark(0, "restart", 0, us(10));
  b.mark(0, "residual", 1, us(10));
  b.finalize(0, us(5));
  b.init(1);
  b.mark(1, "residual", -2, us(50));
  b.finalize(1);
  const auto marks = analysis::profile_marks(b.trace());
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].name, "residual");
  EXPECT_EQ(marks[0].count, 3u);
  EXPECT_EQ(marks[0].first, us(10));
  EXPECT_EQ(marks[0].last, us(50));
  EXPECT_EQ(marks[0].least, -2);
  EXPECT_EQ(marks[0].mean, 1);  // (4 + 1 - 2) / 3
  EXPECT_EQ(marks[0].most, 4);
  EXPECT_EQ(marks[1].name, "restart");
  EXPECT_EQ(marks[1].count, 1u);
}

// A mark takes no time and is no call: what the ranks did stays the same.
TEST(Marks, AreNoStates) {
  TraceBuilder b(1);
  b.init(0);
  b.mark(0, "here", 0, us(10));
  b.finalize(0, us(5));
  const analysis::Profile profile = analysis::profile_trace(b.trace());
  ASSERT_EQ(profile.states.size(), 1u);
  EXPECT_EQ(profile.states[0].time, us(15));
  EXPECT_EQ(profile.functions.size(), 2u);  // MPI_Init, MPI_Finalize
  ASSERT_EQ(profile.marks.size(), 1u);
  EXPECT_EQ(profile.marks[0].first, us(10));
}

// A phase opened without a name has the one that it is closed under.
TEST(Marks, PhasesMayBeNamedAtTheirEnd) {
  TraceBuilder b(1);
  b.init(0);
  b.phase_begin(0, "");
  b.phase_end(0, "input", us(10));
  b.phase_begin(0, "");
  b.phase_end(0, "compute", us(30));
  b.phase_begin(0, "");
  b.phase_end(0, "input", us(2));
  b.phase_begin(0, "");  // the rest, that nobody names
  b.phase_end(0, "", us(1));
  b.phase_begin(0, "");
  b.finalize(0, us(1));
  const analysis::Profile profile = analysis::profile_trace(b.trace());
  ASSERT_EQ(profile.phases.size(), 2u);
  EXPECT_EQ(profile.phases[0].name, "input");
  EXPECT_EQ(profile.phases[0].time, us(12));
  EXPECT_EQ(profile.phases[0].count, 2u);
  EXPECT_EQ(profile.phases[1].name, "compute");
  EXPECT_EQ(profile.phases[1].time, us(30));
}

}  // namespace
}  // namespace foretrace
