#include "analysis/validation.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::CauseKind;
using analysis::spread_of;
using analysis::TimePart;
using analysis::ValidatedGroup;
using analysis::Validation;
using test::TraceBuilder;
using trace::Clock;

Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

// Rank 0 computes 10 and sends for `send`; rank 1 receives from 0 to 10 + `transfer`.
trace::Trace message(Clock clock, std::uint64_t bytes, Time send, Time transfer) {
  TraceBuilder b(2, clock);
  for (int rank = 0; rank < 2; ++rank) b.init(rank);
  b.phase_begin(0, "solve");
  b.send(0, 1, 0, bytes, us(10), send);
  b.phase_end(0, "solve");
  b.recv(1, 0, 0, bytes, Time(), us(10) + transfer);
  for (int rank = 0; rank < 2; ++rank) b.finalize(rank);
  return b.trace();
}

bool all_measured(std::string_view) {
  return true;
}

Time part(const Validation& validation, TimePart which, int side) {
  return validation.parts[static_cast<int>(which)][side].median;
}

TEST(Validation, MedianAndQuartiles) {
  EXPECT_EQ(spread_of({us(3)}).low, us(3));
  const analysis::RunSpread five = spread_of({us(5), us(1), us(4), us(2), us(3)});
  EXPECT_EQ(five.low, us(2));
  EXPECT_EQ(five.median, us(3));
  EXPECT_EQ(five.high, us(4));
  EXPECT_EQ(spread_of({us(1), us(4), us(2), us(3)}).median, Time::ns(2500));
}

// Logging made 12 us of 10: 2 us for the one call of each rank. The clock of a recording went on
// for 1 us before the send without the rank, which goes first; then the other 3 come from the
// calls: 1 us of the send, 2 of the receive and the 10 that it waits.
TEST(Validation, WhatLoggingCostsIsTakenOff) {
  trace::Trace traced = message(Clock::wall, 8, us(1), us(2));
  traced.ranks[0][2].compute = us(9);
  const Validation found =
      analysis::validate({traced}, {message(Clock::virtual_, 8, us(1), us(2))}, {}, {us(10)});
  EXPECT_EQ(found.measured.median, us(10));
  EXPECT_EQ(found.traced.median, us(12));
  EXPECT_EQ(found.traced_call, us(2));
  EXPECT_EQ(found.switched_out.median, Time());
  EXPECT_EQ(part(found, TimePart::computation, 0), us(9));
  const double kept = 10.0 / 13;
  EXPECT_NEAR(part(found, TimePart::transfer, 0).seconds(), 3e-6 * kept, 1e-12);
  EXPECT_NEAR(part(found, TimePart::waiting, 0).seconds(), 10e-6 * kept, 1e-12);
  EXPECT_NEAR(found.error(), 0.2, 1e-12);
}

// Runs that take no longer with their calls logged keep their times.
TEST(Validation, LoggingThatCostsNothingTakesNothingOff) {
  const trace::Trace run = message(Clock::wall, 8, us(1), us(2));
  const Validation found = analysis::validate({run}, {run}, {}, {us(13)});
  EXPECT_EQ(found.measured.median, us(13));
  EXPECT_EQ(found.traced_call, Time());
  EXPECT_EQ(part(found, TimePart::waiting, 0), us(10));
}

// The receive waits for 10 on both sides, whatever a prediction calls waiting.
TEST(Validation, WaitsAreToldAlike) {
  trace::Trace predicted = message(Clock::virtual_, 8, us(1), us(4));
  predicted.ranks[1][1].wait = us(13);
  const Validation found =
      analysis::validate({message(Clock::wall, 8, us(1), us(2))}, {predicted}, {});
  EXPECT_EQ(found.measured.median, us(12));
  EXPECT_EQ(found.predicted.median, us(14));
  EXPECT_NEAR(found.error(), 2.0 / 12, 1e-12);
  for (const int side : {0, 1}) {
    EXPECT_EQ(part(found, TimePart::waiting, side), us(10));
    EXPECT_EQ(part(found, TimePart::computation, side), us(10));
  }
  EXPECT_EQ(part(found, TimePart::transfer, 0), us(1 + 2));
  EXPECT_EQ(part(found, TimePart::transfer, 1), us(1 + 4));
  EXPECT_EQ(found.groups.front().function, "MPI_Recv");
  EXPECT_EQ(found.groups.front().difference(), us(2));
  EXPECT_FALSE(found.difference);
}

// 10 on the clock, of which 7 were computed.
TEST(Validation, TimeWithoutACoreIsNoComputation) {
  trace::Trace real = message(Clock::wall, 8, us(1), us(2));
  real.ranks[0][2].compute = us(7);
  const Validation found =
      analysis::validate({real}, {message(Clock::virtual_, 8, us(1), us(2))}, {});
  EXPECT_EQ(part(found, TimePart::computation, 0), us(7));
  EXPECT_EQ(found.switched_out.median, us(3));
  EXPECT_EQ(found.groups.front().part, TimePart::computation);
  EXPECT_EQ(found.groups.front().phase, "solve");
}

// The difference of 2 is within what the real runs differ by.
TEST(Validation, ScatterIsNoCause) {
  const std::vector<trace::Trace> real{message(Clock::wall, 8, us(1), us(1)),
                                       message(Clock::wall, 8, us(1), us(5)),
                                       message(Clock::wall, 8, us(1), us(9))};
  const Validation found =
      analysis::validate(real, {message(Clock::virtual_, 8, us(1), us(7))}, {});
  EXPECT_TRUE(analysis::diagnose(found, machine::MachineModel(), all_measured, 5).empty());
}

TEST(Validation, AFunctionThatTheModelLacks) {
  const Validation found = analysis::validate({message(Clock::wall, 8, us(1), us(9))},
                                              {message(Clock::virtual_, 8, us(1), Time())}, {});
  const auto causes = analysis::diagnose(found, machine::MachineModel(), all_measured, 5);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes.front().kind, CauseKind::missing);
  EXPECT_EQ(causes.front().text.find("MPI_Recv of 8 B takes 9 us"), 0u) << causes.front().text;
}

// Rank 0 sends five times, at first for `first`; rank 1 receives them as they come.
trace::Trace five_messages(Clock clock, Time first, Time later) {
  TraceBuilder b(2, clock);
  for (int rank = 0; rank < 2; ++rank) b.init(rank);
  for (int i = 0; i < 5; ++i) {
    const Time taken = i == 0 ? first : later;
    b.send(0, 1, 0, 8, Time(), taken);
    b.recv(1, 0, 0, 8, Time(), taken);
  }
  for (int rank = 0; rank < 2; ++rank) b.finalize(rank);
  return b.trace();
}

analysis::Cause first_cause(Time first, Time later) {
  const Validation found = analysis::validate({five_messages(Clock::wall, first, later)},
                                              {five_messages(Clock::virtual_, us(2), us(2))}, {});
  const auto causes = analysis::diagnose(found, machine::MachineModel(), all_measured, 5);
  return causes.empty() ? analysis::Cause() : causes.front();
}

// The real ones take 100 + 4 * 2, predicted are 5 * 2.
TEST(Validation, FirstCallsToAPartner) {
  const analysis::Cause cause = first_cause(us(100), us(2));
  EXPECT_EQ(cause.kind, CauseKind::first_calls);
  EXPECT_NE(cause.text.find("the first call of a rank to a partner takes 98 us more"),
            std::string::npos)
      << cause.text;
}

// 30 + 4 * 20: the first one is 10 above the others, of a difference of 100.
TEST(Validation, AllCallsAndTheFirstALittleMore) {
  EXPECT_EQ(first_cause(us(30), us(20)).kind, CauseKind::missing);
}

// Measure is told only for what it measures.
TEST(Validation, AdvisesToMeasureWhatCanBe) {
  const Validation found = analysis::validate({message(Clock::wall, 8, us(1), us(9))},
                                              {message(Clock::virtual_, 8, us(1), Time())}, {});
  const auto advice = [&](const analysis::IsMeasured& is_measured) {
    return analysis::diagnose(found, machine::MachineModel(), is_measured, 5).front().advice;
  };
  EXPECT_EQ(advice(all_measured), "measure recv");
  EXPECT_EQ(advice([](std::string_view name) { return name == "recvmin"; }), "measure recvmin");
  EXPECT_EQ(advice([](std::string_view) { return false; }),
            "measure does not know it: write its time into the model");
}

// The send differs by 4, always; the receive by 100 of 200 that it scatters by. The totals
// tell of the latter, so the groups do.
TEST(Validation, TheLargestDifferenceIsFirstEvenIfItIsScatter) {
  std::vector<trace::Trace> real;
  for (const int transfer : {0, 100, 200})
    real.push_back(message(Clock::wall, 8, us(5), us(transfer)));
  const Validation found =
      analysis::validate(real, {message(Clock::virtual_, 8, us(1), Time())}, {});
  ASSERT_GE(found.groups.size(), 2u);
  EXPECT_EQ(found.groups[0].function, "MPI_Recv");
  EXPECT_EQ(found.groups[0].distance(), us(100));
  EXPECT_EQ(found.groups[0].scatter(), us(200));
  EXPECT_EQ(found.groups[1].function, "MPI_Send");
  EXPECT_EQ(found.groups[1].scatter(), Time());
}

// Rank 0 computes for 3 before it finalises.
TEST(Validation, ComputationIsNamedAfterTheCallThatEndsIt) {
  TraceBuilder b(1, Clock::virtual_);
  b.init(0);
  b.finalize(0, us(3));
  const Validation found = analysis::validate({b.trace()}, {b.trace()}, {});
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_EQ(found.groups.front().function, "MPI_Finalize");
}

TEST(Validation, RunsThatCannotBeCompared) {
  const trace::Trace run = message(Clock::wall, 8, us(1), us(1));
  EXPECT_THROW(analysis::validate({}, {run}, {}), Error);
  EXPECT_THROW(analysis::validate({run}, {TraceBuilder(3).trace()}, {}), Error);
  EXPECT_THROW(analysis::validate({message(Clock::cpu, 8, us(1), us(1))}, {run}, {}), Error);
}

}  // namespace
}  // namespace foretrace
