// Text programs with times to the last tick. Costs in microseconds are those of
// test_machine(): at 800 bytes isend1 39, isend2 10.1 (3 hidden), irecv1 40,
// irecv2 55 (0.5 hidden); barrier 40.
#include <gtest/gtest.h>

#include "sim/deadlock.hpp"
#include "simulated.hpp"

namespace foretrace::sim {
namespace {

TEST(GoalTime, Chain) {
  const Replayed r = simulate_goal(
      "num_ranks 2\nrank 0 {\na: calc 100us\nb: send 800b to 1\nb requires a\n}\n"
      "rank 1 {\nrecv 800b from 0\n}\n");
  EXPECT_EQ(r.leave(0, 1), us(139));       // posted at 100
  EXPECT_EQ(r.leave(0, 2), tenths(1491));  // 100 + 39 + 10.1; beyond 139 + 7.1
  EXPECT_EQ(r.leave(1, 1), us(40));
  EXPECT_EQ(r.leave(1, 2), us(195));  // 100 + 40 + 55; beyond 40 + 54.5
  EXPECT_EQ(r.result.time, us(195));
  EXPECT_EQ(r.result.ranks[0].compute, us(100));
  EXPECT_EQ(r.result.stats.messages, 1u);
}

TEST(GoalTime, HaloExchange) {
  const std::string body =
      "rank all {\nrepeat 2 {\nsend 800b to (me+1)%size\nrecv 800b from (me+1)%size\nwait\n"
      "calc 100us\n}\nbarrier\n}\n";
  const Replayed r = simulate_goal("num_ranks 2\n" + body);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(r.leave(rank, 1), us(39));
    EXPECT_EQ(r.leave(rank, 2), us(79));
    EXPECT_EQ(r.leave(rank, 3), tenths(1406));  // 79 + 7.1 + 54.5; the data is there at 95
    EXPECT_EQ(r.leave(rank, 6), tenths(3812));  // the same again from 240.6 on
    EXPECT_EQ(r.leave(rank, 7), tenths(5212));  // + 100 + 40
  }
  EXPECT_EQ(r.result.time, tenths(5212));
}

// A text does not say what came, but the trace of its simulation does.
TEST(GoalTime, WaitsTellWhatCame) {
  const Replayed run = simulate_goal(
      "num_ranks 2\nrank 0 { repeat 2 { send 800b to 1 tag 5; recv 16b from 1 tag 6; wait } }\n"
      "rank 1 { repeat 2 { recv 800b from 0 tag 5; send 16b to 0 tag 6; wait } }\n");
  int told = 0;
  for (int rank = 0; rank < 2; ++rank)
    for (const trace::Event& event : run.trace.ranks[static_cast<std::size_t>(rank)])
      for (const trace::Completion& done : event.completions)
        if (done.source.valid()) {
          ++told;
          EXPECT_EQ(done.source, WorldRank(1 - rank));
          EXPECT_EQ(done.tag, rank == 0 ? 6 : 5);
          EXPECT_EQ(done.bytes, Bytes(rank == 0 ? 16u : 800u));
        }
  EXPECT_EQ(told, 4);
}

TEST(GoalTime, EmptyMessageToOneself) {
  // isend1(0) 30, irecv1(0) 40; wait at 70: 70 + 10 - 3 + 5 - 0.5, the data is there at 45.
  const Replayed r = simulate_goal("num_ranks 1\nrank 0 {\nsend 0b to 0\nrecv 0b from 0\n}\n");
  EXPECT_EQ(r.result.time, tenths(815));
}

TEST(GoalTime, GroupsDoNotWaitForOthers) {
  const Replayed r = simulate_goal(
      "num_ranks 4\ngroup pair[i = 0..1] { 2*i..2*i+1 }\nrank all {\ncalc (me*100)us\n"
      "wait\nbarrier on pair[me/2]\n}\n");
  EXPECT_EQ(r.result.ranks[0].time, us(140));
  EXPECT_EQ(r.result.ranks[3].time, us(340));
}

TEST(GoalTime, DeadlockIsSeen) {
  EXPECT_THROW(simulate_goal("num_ranks 2\nrank all {\nr: recv 8b from 1-me\n"
                             "send 8b to 1-me requires r\n}\n"),
               Deadlock);
}

TEST(TiTime, ComputeAndMessages) {
  // 1e5 operations at 1e9 a second: 100 us.
  const Replayed r = simulate_ti(
      "0 init\n1 init\n0 compute 1e5\n0 send 1 5 800 6\n1 recv 0 5 800 6\n"
      "0 allreduce 1 3e5 0\n1 allreduce 1 3e5 0\n0 finalize\n1 finalize\n");
  EXPECT_EQ(r.leave(0, 1), us(139));  // T_send
  EXPECT_EQ(r.leave(1, 1), us(210));  // 100 + T_recv 110
  // The model has no allreduce, which then takes no time; the reduction computes
  // 300 us.
  EXPECT_EQ(r.leave(0, 2), us(210));
  EXPECT_EQ(r.result.time, us(510));
}

}  // namespace
}  // namespace foretrace::sim
