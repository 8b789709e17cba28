#include "analysis/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::compare_traces;
using analysis::CompareLevel;
using analysis::Comparison;
using machine::Cost;
using test::TraceBuilder;

Time cs(double hundredths) {
  return Time::from_seconds(hundredths / 100);
}

// The two traces of Howell's thesis, figure 2.10: compute, barrier, compute, wait.
TraceBuilder figure(double c1, double barrier, double c2, double wait) {
  TraceBuilder b(1);
  b.init(0);
  b.collective(0, "BARRIER", Cost::barrier, 0, cs(c1), cs(barrier));
  b.add(0, trace::EventKind::complete, "WAIT", cs(c2), cs(wait));
  b.finalize(0);
  return b;
}

TEST(Compare, ReproducesTheFigureOfTheThesis) {
  // Measurement: states begin at 0, 1.23, 1.34, 3.80, 4.00; prediction: at 0,
  // 0.78, 1.02, 2.30, 3.00.
  TraceBuilder a = figure(123, 11, 246, 20);
  TraceBuilder b = figure(78, 24, 128, 70);
  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::events);
  EXPECT_FALSE(c.difference);

  ASSERT_EQ(c.events.size(), 4u);
  EXPECT_EQ(c.states[c.events[0].state], "COMPUTE");
  EXPECT_EQ(c.events[0].a, cs(123));
  EXPECT_EQ(c.events[0].b, cs(78));
  EXPECT_NEAR(c.events[0].ratio(), 0.63, 0.005);
  EXPECT_EQ(c.states[c.events[1].state], "BARRIER");
  EXPECT_NEAR(c.events[1].ratio(), 2.18, 0.005);
  EXPECT_NEAR(c.events[2].ratio(), 0.52, 0.005);
  EXPECT_EQ(c.events[3].ratio(), 3.5);
  EXPECT_EQ(c.events[0].event, 1u);  // MPI_Init is event 0
  EXPECT_EQ(c.events[1].event, 1u);
  EXPECT_EQ(c.events[3].event, 2u);

  // B: COMPUTE 3.69 2.06 0.56, BARRIER 0.11 0.24 2.18, WAIT 0.20 0.70 3.50.
  ASSERT_EQ(c.by_rank.size(), 3u);
  EXPECT_EQ(c.by_rank[0].a, cs(369));
  EXPECT_EQ(c.by_rank[0].b, cs(206));
  EXPECT_NEAR(c.by_rank[0].ratio(), 0.56, 0.005);
  EXPECT_EQ(c.by_rank[2].ratio(), 3.5);
  ASSERT_EQ(c.by_state.size(), 3u);
  EXPECT_EQ(c.by_state[0].a, cs(369));
  EXPECT_EQ(c.time.a, cs(400));
  EXPECT_EQ(c.time.b, cs(300));
  EXPECT_EQ(c.time.ratio(), 0.75);
}

TEST(Compare, RatioOfZeros) {
  analysis::ComparedTime time;
  EXPECT_EQ(time.ratio(), 1);
  time.b = Time::ps(1);
  EXPECT_TRUE(std::isinf(time.ratio()));
  time = {Time::ps(5), Time()};
  EXPECT_EQ(time.ratio(), 0);
}

TEST(Compare, TellsWhatCallsOfOneNameDifferIn) {
  TraceBuilder a(1), b(1);
  a.collective(0, "MPI_Intercomm_create", Cost::comm_create, 0, cs(1), cs(1));
  b.add(0, trace::EventKind::recv, "MPI_Intercomm_create", cs(1), cs(1));
  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::states);
  ASSERT_TRUE(c.difference);
  EXPECT_EQ(c.difference->a, "MPI_Intercomm_create as a collective");
  EXPECT_EQ(c.difference->b, "MPI_Intercomm_create as a receive");
}

TEST(Compare, ACallMayBeSeveralEvents) {
  TraceBuilder a(1), b(1);
  for (TraceBuilder* t : {&a, &b}) t->init(0);
  a.add(0, trace::EventKind::call, "MPI_Win_lock_all", cs(1), cs(3));
  b.add(0, trace::EventKind::call, "MPI_Win_lock_all", cs(1), cs(1));
  b.add(0, trace::EventKind::call, "MPI_Win_lock_all", cs(0), cs(1)).count = 0;
  // A part that communicates is the same, whichever it is.
  a.add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(1), cs(1));
  b.add(0, trace::EventKind::call, "MPI_Comm_dup", cs(1), cs(0));
  b.add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(0), cs(1)).count = 0;
  for (TraceBuilder* t : {&a, &b}) t->finalize(0);
  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::events);
  EXPECT_FALSE(c.difference);
  // Two computations and two calls; the numbers of A's events.
  ASSERT_EQ(c.events.size(), 4u);
  EXPECT_EQ(c.events[1].a, cs(3));
  EXPECT_EQ(c.events[1].b, cs(2));
  EXPECT_EQ(c.events[3].event, 2u);
  EXPECT_EQ(c.events[3].b, cs(1));
}

TEST(Compare, PartsOfOtherCallsAreTheirOwn) {
  TraceBuilder a(1), b(1);
  for (TraceBuilder* t : {&a, &b}) {
    t->init(0);
    t->add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(1), cs(1));
  }
  // Between the two parts stands what another thread did; B's call has no second part.
  for (TraceBuilder* t : {&a, &b}) t->add(0, trace::EventKind::call, "MPI_Wtime", cs(1), cs(1));
  a.add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(0), cs(1)).count = 0;
  Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::states);
  ASSERT_TRUE(c.difference);
  EXPECT_EQ(c.difference->event, 3u);
  EXPECT_EQ(c.difference->a, "MPI_Comm_dup");
  EXPECT_EQ(c.difference->b, "no more events");
  // A second part that is another one.
  TraceBuilder x(1), y(1);
  for (TraceBuilder* t : {&x, &y}) {
    t->init(0);
    t->add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(1), cs(1));
  }
  x.add(0, trace::EventKind::collective, "MPI_Comm_dup", cs(0), cs(1)).count = 0;
  c = compare_traces(x.trace(), y.trace(), CompareLevel::states);
  ASSERT_TRUE(c.difference);
  EXPECT_EQ(c.difference->event, 1u);
  EXPECT_EQ(c.difference->a, "MPI_Comm_dup as a collective");
  EXPECT_EQ(c.difference->b, "MPI_Comm_dup and no more of it");
}

TEST(Compare, TellsTheFirstDifference) {
  TraceBuilder a(2);
  TraceBuilder b(2);
  for (TraceBuilder* t : {&a, &b})
    for (int rank : {0, 1}) {
      t->init(rank);
      t->collective(rank, "MPI_Barrier", Cost::barrier, 0, cs(1), cs(1));
    }
  a.collective(1, "MPI_Bcast", Cost::bcast, 8, cs(1), cs(1));
  b.collective(1, "MPI_Reduce", Cost::reduce, 8, cs(1), cs(2));
  for (TraceBuilder* t : {&a, &b}) t->finalize(0), t->finalize(1);

  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::events);
  ASSERT_TRUE(c.difference);
  EXPECT_EQ(c.difference->rank, WorldRank(1));
  EXPECT_EQ(c.difference->event, 2u);
  EXPECT_EQ(c.difference->a, "MPI_Bcast");
  EXPECT_EQ(c.difference->b, "MPI_Reduce");
  // Per rank computation and barrier; nothing after the difference.
  EXPECT_EQ(c.events.size(), 4u);
  // Totals go on: COMPUTE, Barrier, Bcast (A only), Reduce (B only).
  ASSERT_EQ(c.by_state.size(), 4u);
  EXPECT_EQ(c.states[2], "MPI_Bcast");
  EXPECT_EQ(c.by_state[2].ratio(), 0);
  EXPECT_EQ(c.states[3], "MPI_Reduce");
  EXPECT_TRUE(std::isinf(c.by_state[3].ratio()));
}

TEST(Compare, AShorterTraceDiffersAtItsEnd) {
  TraceBuilder a = figure(1, 1, 1, 1);
  TraceBuilder b(1);
  b.init(0);
  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::states);
  ASSERT_TRUE(c.difference);
  EXPECT_EQ(c.difference->event, 1u);
  EXPECT_EQ(c.difference->a, "BARRIER");
  EXPECT_EQ(c.difference->b, "no more events");
  EXPECT_TRUE(c.events.empty());
}

TEST(Compare, DifferentNumbersOfRanks) {
  TraceBuilder a(2);
  TraceBuilder b(1);
  a.init(0), a.finalize(0, cs(1)), a.init(1), a.finalize(1, cs(3));
  b.init(0), b.finalize(0, cs(2));
  const Comparison c = compare_traces(a.trace(), b.trace(), CompareLevel::ranks);
  ASSERT_TRUE(c.difference);
  EXPECT_FALSE(c.difference->rank.valid());
  EXPECT_EQ(c.difference->a, "2 ranks");
  EXPECT_EQ(c.difference->b, "1 rank");
  ASSERT_EQ(c.by_rank.size(), 2u);
  EXPECT_EQ(c.by_rank[0].ratio(), 2);
  EXPECT_EQ(c.by_rank[1].ratio(), 0);
}

TEST(Compare, NamesAreComparedNotTheirNumbers) {
  TraceBuilder a(1);
  TraceBuilder b(1);
  b.trace().names = {"MPI_Unused", "MPI_Finalize"};
  for (TraceBuilder* t : {&a, &b}) {
    t->init(0);
    t->phase_begin(0, "load");
    t->collective(0, "MPI_Barrier", Cost::barrier, 0, cs(1), cs(1));
    t->phase_end(0, "load");
    t->finalize(0);
  }
  EXPECT_FALSE(compare_traces(a.trace(), b.trace(), CompareLevel::states).difference);
}

}  // namespace
}  // namespace foretrace
