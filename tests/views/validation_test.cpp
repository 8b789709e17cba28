#include "views/report/validation.hpp"

#include <gtest/gtest.h>

#include "../analysis/trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::Validation;
using test::TraceBuilder;
using trace::Clock;

// Rank 0 computes, makes a call, computes and passes a mark.
trace::Trace run(Clock clock, Time first, Time call, Time second) {
  TraceBuilder b(1, clock);
  b.init(0);
  b.add(0, trace::EventKind::call, "MPI_Comm_rank", first, call);
  b.mark(0, "residual", 1, second);
  b.finalize(0);
  return b.trace();
}

views::OtherState other_state(bool is_measured) {
  views::OtherState state;
  state.is_measured = is_measured;
  state.runs = is_measured ? 1 : 2;
  state.measured = {Time::ns(3900), Time::ns(4000), Time::ns(4100)};
  state.ways = {{"predict", {Time::ns(3000), Time::ns(3000), Time::ns(3000)}},
                {"simulate", {Time::ns(5000), Time::ns(5000), Time::ns(5000)}}};
  return state;
}

std::string text(const Validation& validation, int runs = 3) {
  views::ValidationReport report;
  report.program = "a.out";
  report.machine = "here";
  report.ranks = 1;
  report.runs = runs;
  report.ways.push_back({"predict", validation, {}, {}});
  return render_text_validation(report);
}

TEST(TextValidation, OneRunHasNoQuartiles) {
  const trace::Trace real = run(Clock::wall, Time::ns(1000), Time::ns(2000), Time::ns(30));
  const Validation found = analysis::validate({real}, {real}, {});
  EXPECT_TRUE(text(found, 1).starts_with("a.out on 1 rank, 1 run: 3.03 us\n")) << text(found, 1);
  EXPECT_TRUE(text(found, 2).starts_with("a.out on 1 rank, 2 runs: 3.03 us (quartiles 3.03 us to"))
      << text(found, 2);
}

// The call differs by 2 us of 1 s in every run; the computation by half a second of one by
// which the runs differ. Neither is told as a cause, and the table says why.
TEST(TextValidation, TheTableShowsWhatTheTotalsTell) {
  std::vector<trace::Trace> real;
  for (const int ms : {500, 1000, 1500})
    real.push_back(run(Clock::wall, Time::ns(ms * 1000000), Time::ns(2000), Time::ns(30)));
  const Validation found = analysis::validate(
      real, {run(Clock::virtual_, Time::ns(500000000), Time(), Time::ns(20))}, {});
  const std::string printed = text(found);
  EXPECT_NE(printed.find(R"(
  no difference of 0.5 % of the time or more is beyond the scatter of the real runs
  part         function              size  calls  measured  predicted  difference  scatter  where
  computation  before MPI_Comm_rank     -      1       1 s     500 ms     -500 ms      1 s
  transfer     MPI_Comm_rank            -      1      2 us        0 s       -2 us      0 s
  computation  before a mark            -      1     30 ns      20 ns      -10 ns      0 s
)"),
            std::string::npos)
      << printed;
}

// To log a call takes half a microsecond: more than five are something else.
TEST(TextValidation, WhatLoggingCostsACall) {
  Validation found;
  found.measured.median = Time::ns(1'000'000);
  found.traced.median = Time::ns(1'100'000);
  found.traced_call = Time::ns(500);
  EXPECT_NE(text(found).find("1.1 times as long, 500 ns a call; that is taken off"),
            std::string::npos)
      << text(found);
  found.traced_call = Time::ns(5001);
  EXPECT_NE(text(found).find("1.1 times as long; that is taken off"), std::string::npos)
      << text(found);
}

// Runs that found the machine in another state are judged by themselves.
TEST(TextValidation, RunsInAnotherState) {
  const trace::Trace real = run(Clock::wall, Time::ns(1000), Time::ns(2000), Time::ns(30));
  views::ValidationReport report;
  report.ways.push_back({"predict", analysis::validate({real}, {real}, {}), {}, {}});
  report.other_state = other_state(false);
  const std::string other = render_text_validation(report);
  EXPECT_NE(other.find(R"(
2 runs in the other state  4 us           3.9 us to 4.1 us
predict --other-state      3 us  -25.0 %  3 us to 3 us
simulate --other-state     5 us  +25.0 %  5 us to 5 us
)"),
            std::string::npos)
      << other;
  report.other_state = other_state(true);
  const std::string measured = render_text_validation(report);
  EXPECT_NE(measured.find("1 run in the state that was measured"), std::string::npos) << measured;
  EXPECT_EQ(measured.find("--other-state"), std::string::npos) << measured;
  const std::string json = render_json_validation(report);
  EXPECT_NE(json.find("\"other_state\""), std::string::npos) << json;
  EXPECT_NE(json.find("-0.25"), std::string::npos) << json;
}

// --within asks for the state that most runs found.
TEST(TextValidation, AnotherStateIsNotJudged) {
  const trace::Trace real = run(Clock::wall, Time::ns(1000), Time::ns(2000), Time::ns(30));
  views::ValidationReport report;
  report.ways.push_back({"predict", analysis::validate({real}, {real}, {}), {}, {}});
  report.other_state = other_state(false);
  report.within = 0.05;
  EXPECT_TRUE(report.is_within());
}

}  // namespace
}  // namespace foretrace
