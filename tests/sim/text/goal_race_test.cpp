// Text programs whose order depends on virtual time; costs as in
// goal_time_test.cpp.
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace foretrace::sim {
namespace {

// Rank 2's message is there first, so that it is answered first, though rank
// 1's receive stands above.
TEST(GoalRace, FirstToArriveIsAnsweredFirst) {
  const Replayed r = simulate_goal(
      "num_ranks 3\n"
      "rank 0 {\na: recv 800b from 1\nb: recv 800b from 2\ns: send 800b to 1 requires a\n"
      "t: send 800b to 2 requires b\n}\n"
      "rank 1 {\ncalc 500us\nsend 800b to 0\nrecv 800b from 0\n}\n"
      "rank 2 {\nsend 800b to 0\nrecv 800b from 0\n}\n");
  EXPECT_EQ(r.leave(0, 2), us(80));        // both posted
  EXPECT_EQ(r.leave(0, 3), tenths(1345));  // b is there at 95; 80 + 54.5
  EXPECT_EQ(r.event(0, 4).send.peer, WorldRank(2));
  EXPECT_EQ(r.leave(0, 4), tenths(1735));  // + isend1 39
  EXPECT_EQ(r.leave(0, 5), us(595));       // a is there at 500 + 95
  EXPECT_EQ(r.event(0, 6).send.peer, WorldRank(1));
  EXPECT_EQ(r.leave(0, 6), us(634));
  EXPECT_EQ(r.leave(0, 7), tenths(6482));           // 634 + 7.1 + 7.1
  EXPECT_EQ(r.result.ranks[1].time, us(690));       // 595 + 95
  EXPECT_EQ(r.result.ranks[2].time, tenths(2295));  // 134.5 + 95
}

TEST(GoalRace, WildcardTakesTheFirst) {
  const Replayed r = simulate_goal(
      "num_ranks 3\n"
      "rank 0 {\na: recv 800b from any\nb: recv 800b from any\nb requires a\n}\n"
      "rank 1 {\ncalc 500us\nsend 800b to 0\n}\n"
      "rank 2 {\nsend 800b to 0\n}\n");
  ASSERT_EQ(r.event(0, 2).completions.size(), 1u);
  EXPECT_EQ(r.event(0, 2).completions[0].source, WorldRank(2));
  EXPECT_EQ(r.event(0, 4).completions[0].source, WorldRank(1));
  EXPECT_EQ(r.leave(0, 4), us(595));  // 500 + 95
}

// The test at 40 finds nothing (the data is there at 595); the wait completes it.
TEST(TiRace, TestThatFailsLeavesTheRequestToTheWait) {
  const std::string text =
      "0 init\n1 init\n0 irecv 1 7 800 6\n0 test 1 0 7\n0 wait 1 0 7\n0 wait 1 0 7\n"
      "1 compute 5e5\n1 send 0 7 800 6\n";
  const Replayed r = simulate_ti(text);
  EXPECT_TRUE(r.event(0, 2).completions.empty());
  EXPECT_EQ(r.leave(0, 3), us(595));
  EXPECT_EQ(r.trace.ranks[0].size(), 5u);  // the second wait names no request
}

TEST(TiRace, TestThatSucceedsLeavesNothingToTheWait) {
  const std::string text =
      "0 irecv 1 7 800 6\n0 compute 1e6\n0 test 1 0 7\n0 wait 1 0 7\n1 send 0 7 800 6\n";
  const Replayed r = simulate_ti(text);
  ASSERT_EQ(r.event(0, 2).completions.size(), 1u);
  EXPECT_EQ(r.trace.ranks[0].size(), 4u);            // init, irecv, test, finalize
  EXPECT_EQ(r.result.ranks[0].time, tenths(10945));  // 40 + 1000 + 54.5
}

}  // namespace
}  // namespace foretrace::sim
