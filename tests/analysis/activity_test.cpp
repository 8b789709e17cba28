#include "analysis/activity.hpp"

#include <gtest/gtest.h>

#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::Activity;
using analysis::activity_of;
using analysis::ActivityGrid;
using machine::Cost;
using test::TraceBuilder;

ActivityGrid grid_of(const trace::Trace& trace, int columns, int max_rows) {
  analysis::RunEvents run(trace);
  return analysis::activity_grid(run, columns, max_rows);
}

Time ns(std::int64_t n) {
  return Time::ns(n);
}

TEST(Activity, WaitingComesFirstInACall) {
  TraceBuilder b(1);
  b.init(0);
  b.recv(0, 0, 0, 8, ns(40), ns(60), ns(30));  // computes 0-40, waits 40-70, receives 70-100
  b.finalize(0);
  const ActivityGrid g = grid_of(b.trace(), 10, 4);
  EXPECT_EQ(g.end, ns(100));
  ASSERT_EQ(g.rows.size(), 1u);
  const Activity c = Activity::compute, w = Activity::wait, r = Activity::recv;
  EXPECT_EQ(g.rows[0], (std::vector<Activity>{c, c, c, c, w, w, w, r, r, r}));
}

// Clock wall: the receive is there 60 ns before its send is called, and lasts 100.
TEST(Activity, AMeasuredRunsWaitsAreFound) {
  TraceBuilder b(2, trace::Clock::wall);
  b.init(0);
  b.recv(0, 1, 0, 8, Time(), ns(100));
  b.finalize(0);
  b.init(1);
  b.send(1, 0, 0, 8, ns(60), ns(40));
  b.finalize(1);
  const ActivityGrid g = grid_of(b.trace(), 5, 2);
  const Activity w = Activity::wait, r = Activity::recv;
  EXPECT_EQ(g.rows[0], (std::vector<Activity>{w, w, w, r, r}));
}

TEST(Activity, TheLongerShareOfAColumnWins) {
  TraceBuilder b(1);
  b.init(0);
  b.send(0, 0, 0, 8, ns(26), ns(24));  // column [0,50): computes 26, sends 24
  b.send(0, 0, 0, 8, ns(24), ns(26));  // column [50,100): computes 24, sends 26
  b.finalize(0);
  const ActivityGrid g = grid_of(b.trace(), 2, 1);
  EXPECT_EQ(g.rows[0], (std::vector<Activity>{Activity::compute, Activity::send}));
}

TEST(Activity, EqualSharesGoToTheFirstOfTheList) {
  TraceBuilder b(1);
  b.init(0);
  b.send(0, 0, 0, 8, ns(25), ns(25));
  b.finalize(0);
  EXPECT_EQ(grid_of(b.trace(), 1, 1).rows[0][0], Activity::compute);
}

TEST(Activity, FoldsNeighboursAndVotesOverAll) {
  // Ranks 0-3 compute for 100 ns, rank 4 sends for 100 ns after 300 ns of
  // computation: five ranks in at most two rows are 0-2 and 3-4.
  TraceBuilder b(5);
  for (int rank = 0; rank < 4; ++rank) b.init(rank), b.finalize(rank, ns(100));
  b.init(4);
  b.send(4, 0, 0, 8, ns(300), ns(100));
  b.finalize(4);
  const ActivityGrid g = grid_of(b.trace(), 4, 2);
  EXPECT_EQ(g.ranks_per_row, 3);
  ASSERT_EQ(g.rows.size(), 2u);
  const Activity n = Activity::none, c = Activity::compute, s = Activity::send;
  EXPECT_EQ(g.rows[0], (std::vector<Activity>{c, n, n, n}));
  // Row 3-4: rank 3 has ended from 100 on, equal to what rank 4 does.
  EXPECT_EQ(g.rows[1], (std::vector<Activity>{c, n, n, n}));
  // "All" asks only those still in the program.
  EXPECT_EQ(g.all, (std::vector<Activity>{c, c, c, s}));
}

TEST(Activity, KindsOfCalls) {
  trace::Event event;
  event.kind = trace::EventKind::collective;
  event.collective = Cost::barrier;
  EXPECT_EQ(activity_of(event), Activity::barrier);
  event.collective = Cost::bcast;
  EXPECT_EQ(activity_of(event), Activity::collective);
  event.kind = trace::EventKind::irecv;
  EXPECT_EQ(activity_of(event), Activity::post);
  event.kind = trace::EventKind::icollective;
  EXPECT_EQ(activity_of(event), Activity::post);
  event.kind = trace::EventKind::call;
  EXPECT_EQ(activity_of(event), Activity::other);
}

TEST(Activity, ColumnsOfAnOddTimeCoverAllOfIt) {
  // 7 ps in 3 columns start at 0, 2, 4: nothing is lost, nothing overlaps.
  TraceBuilder b(1);
  b.init(0);
  b.send(0, 0, 0, 8, Time::ps(4), Time::ps(3));
  b.finalize(0);
  const ActivityGrid g = grid_of(b.trace(), 3, 1);
  EXPECT_EQ(g.rows[0],
            (std::vector<Activity>{Activity::compute, Activity::compute, Activity::send}));
}

TEST(Activity, EmptyTrace) {
  TraceBuilder b(2);
  const ActivityGrid g = grid_of(b.trace(), 3, 8);
  EXPECT_EQ(g.end, Time());
  EXPECT_EQ(g.rows.size(), 2u);
  EXPECT_EQ(g.all, std::vector<Activity>(3, Activity::none));
}

}  // namespace
}  // namespace foretrace
