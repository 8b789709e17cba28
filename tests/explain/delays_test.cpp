// Whose fault waits are. Times: tests/sim/programs.hpp. An empty message: send 30, recv 60, recvmin
// 30 us.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "explained.hpp"

namespace foretrace::explain {
namespace {

using machine::Cost;

// Nothing: there is no such delay.
DelayCost cost_of(const Explanation& explanation, const std::string& function, DelayKind kind) {
  for (std::size_t i = 0; i < explanation.delays.costs.size(); ++i)
    if (explanation.delay_places[i].function == function &&
        explanation.delays.costs[i].kind == kind)
      return explanation.delays.costs[i];
  return {};
}

// Rank 2 waits for rank 1, which waited for rank 0. Rank 1 enters r1 at 100, leaves it at 560
// and enters s1 at 570; rank 2 enters r2 at 50.
TEST(Delays, LeadBackAlongTheChain) {
  Programs programs(3);
  send(programs, 0, 1, us(500), "s0");
  recv(programs, 1, 0, us(100), "r1");
  send(programs, 1, 2, us(10), "s1");
  recv(programs, 2, 1, us(50), "r2");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const Explanation& explanation = explained.explanation;
  const auto cost = [&](const std::string& function, DelayKind kind) {
    return cost_of(explanation, function, kind);
  };
  // r1 waits 400, r2 520. In the latter rank 1 computed 60 more than rank 2, was 60 in r1
  // for what was on its way and by itself, and waited 400 itself.
  EXPECT_NEAR(explanation.delays.waits, 920e-6, 1e-15);
  EXPECT_NEAR(explanation.delays.unexplained, 0, 1e-15);
  EXPECT_EQ(explanation.delay_places.front().function, "s0");
  EXPECT_NEAR(cost("s0", DelayKind::computation).direct, 400e-6, 1e-15);
  EXPECT_NEAR(cost("s0", DelayKind::computation).indirect, 400e-6, 1e-15);
  EXPECT_EQ(cost("s0", DelayKind::computation).most, WorldRank(0));
  // Of rank 1's 110 of computation 60 are too much: what it did after 50.
  EXPECT_NEAR(cost("r1", DelayKind::computation).direct, 50e-6, 1e-15);
  EXPECT_NEAR(cost("s1", DelayKind::computation).direct, 10e-6, 1e-15);
  EXPECT_NEAR(cost("r1", DelayKind::transfer).direct, 30e-6, 1e-15);
  EXPECT_NEAR(cost("r1", DelayKind::call).direct, 30e-6, 1e-15);
  EXPECT_EQ(cost("r1", DelayKind::call).indirect, 0);
  // Of r2's own wait 400 come from as far back, more than rank 1 did itself.
  const WaitGroup* r2 = explained.waits_at("r2");
  ASSERT_TRUE(r2 && r2->blamed);
  EXPECT_EQ(r2->blamed->function, "s0");
  EXPECT_EQ(r2->blamed_rank, WorldRank(0));
  EXPECT_EQ(r2->blamed_time, us(400));
}

// What came before two ranks last met is nobody's fault any more.
TEST(Delays, AreCountedFromTheLastMeeting) {
  Programs programs(2);
  for (int rank = 0; rank < 2; ++rank)
    programs.collective(rank, Cost::barrier, us(rank == 0 ? 1000 : 100));
  send(programs, 0, 1, us(30), "late");
  recv(programs, 1, 0, us(10), "recv");
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  double late = 0;
  double barrier = 0;
  for (std::size_t i = 0; i < explanation.delays.costs.size(); ++i)
    (explanation.delay_places[i].function == "late" ? late : barrier) +=
        explanation.delays.costs[i].sum();
  EXPECT_NEAR(late, 20e-6, 1e-15);
  EXPECT_NEAR(barrier, 900e-6, 1e-15);
}

// Each wait ends with somebody's doing.
TEST(Delays, AddUpToTheWaits) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Programs programs(4);
    const auto some = [&random] { return us(static_cast<int>(random() % 500)); };
    for (int i = 0; i < 20; ++i) {
      const int from = static_cast<int>(random() % 4);
      const int to = (from + 1 + static_cast<int>(random() % 3)) % 4;
      send(programs, from, to, some(), "send");
      recv(programs, to, from, some(), "recv");
      if (i % 7 == 0)
        for (int rank = 0; rank < 4; ++rank) programs.collective(rank, Cost::allreduce, some());
    }
    programs.finalize_all();
    const DelayCosts delays = explain_program(programs).explanation.delays;
    double sum = delays.unexplained;
    for (const DelayCost& cost : delays.costs) sum += cost.sum();
    EXPECT_NEAR(sum, delays.waits, 1e-12) << round;
    EXPECT_LT(delays.unexplained, 0.1 * delays.waits) << round;
  }
}

// Rank 0 computes 50 as rank 1 does, receives, and computes 20 more before it sends: these 20 are
// too much, wherever the phase's computation lay.
TEST(Delays, NameWhatWasDoneWhileOthersWaited) {
  Programs programs(3);
  send(programs, 2, 0, us(0), "early");
  recv(programs, 0, 2, us(50), "got");
  send(programs, 0, 1, us(20), "sent");
  recv(programs, 1, 0, us(50), "recv");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const Explanation& explanation = explained.explanation;
  EXPECT_EQ(explanation.delays.costs.size(), 2u);
  EXPECT_NEAR(cost_of(explanation, "sent", DelayKind::computation).direct, 20e-6, 1e-15);
  EXPECT_NEAR(cost_of(explanation, "got", DelayKind::call).direct, 30e-6, 1e-15);
  const WaitGroup* group = explained.waits_at("recv");
  ASSERT_TRUE(group && group->blamed);
  // It enters at 50; the other one receives until 80, and sends at 100.
  EXPECT_EQ(group->late_time, us(50));
  EXPECT_EQ(group->blamed->function, "got");
  EXPECT_EQ(group->blamed_kind, DelayKind::call);
  EXPECT_EQ(group->blamed_time, us(30));
}

}  // namespace
}  // namespace foretrace::explain
