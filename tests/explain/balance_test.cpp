// Computation made equally long on all ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/balance.hpp"
#include "explained.hpp"

namespace foretrace::explain {
namespace {

using machine::Cost;

TEST(Balance, EqualisesOverTheRanks) {
  Programs programs(2);
  for (int rank = 0; rank < 2; ++rank)
    programs.collective(rank, Cost::barrier, rank == 0 ? us(100) : us(300));
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  EXPECT_EQ(explanation.time, us(340));
  EXPECT_EQ(explanation.bounds.balanced, us(240));
  ASSERT_FALSE(explanation.findings.empty());
  const Finding& finding = explanation.findings.front();
  EXPECT_EQ(finding.kind, "imbalance");
  EXPECT_EQ(finding.place.function, "MPI_barrier");
  EXPECT_EQ(finding.predicted, us(240));
  EXPECT_EQ(finding.ranks, std::vector<WorldRank>{WorldRank(1)});
}

TEST(Balance, IsOfEachRoundWhereRanksCallAlike) {
  Programs programs(2);
  for (int round = 0; round < 4; ++round)
    for (int rank = 0; rank < 2; ++rank)
      programs.collective(rank, Cost::barrier, rank == round % 2 ? us(300) : us(100));
  programs.finalize_all();
  // In all both compute 800. Of each round 200 remain of 300, and 40 of the barrier.
  const Explanation explanation = explain_program(programs).explanation;
  EXPECT_EQ(explanation.time, us(4 * 340));
  EXPECT_EQ(explanation.bounds.balanced, us(4 * 240));
}

// Nobody computes more than others in all, and somebody does each time.
TEST(Balance, OfWhatMovesFromRankToRankNamesAllThatAreSlow) {
  Programs programs(4);
  for (int round = 0; round < 6; ++round)
    for (int rank = 0; rank < 4; ++rank)
      programs.collective(rank, Cost::barrier, rank == round % 3 ? us(300) : us(100));
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_FALSE(explanation.findings.empty());
  const Finding& finding = explanation.findings.front();
  EXPECT_EQ(finding.kind, "imbalance");
  // In each round one is 150 above the mean: ranks 0, 1 and 2, twice each.
  EXPECT_EQ(finding.spent, us(6 * 150));
  EXPECT_EQ(finding.gain, us(6 * 150));
  EXPECT_EQ(finding.ranks, (std::vector<WorldRank>{WorldRank(0), WorldRank(1), WorldRank(2)}));
}

// A slow node: none of its ranks alone is much above the others of it.
TEST(Balance, NamesAllThatAreNearlyAsSlow) {
  Programs programs(6);
  for (int round = 0; round < 6; ++round)
    for (int rank = 0; rank < 6; ++rank)
      programs.collective(rank, Cost::barrier, rank < 3 ? us(300 - rank) : us(200));
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_FALSE(explanation.findings.empty());
  const Finding& finding = explanation.findings.front();
  EXPECT_EQ(finding.ranks, (std::vector<WorldRank>{WorldRank(0), WorldRank(1), WorldRank(2)}));
  // The mean is 249.5.
  EXPECT_EQ(finding.spent, us(6 * 300 - 3 * 499));
  EXPECT_EQ(finding.gain, finding.spent);
}

TEST(Balance, LeavesNoneOutOfManyThatAreAlike) {
  Programs programs(32);
  for (int round = 0; round < 2; ++round)
    for (int rank = 0; rank < 32; ++rank)
      programs.collective(rank, Cost::barrier, us(rank < 16 ? 300 : 200));
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_FALSE(explanation.findings.empty());
  ASSERT_EQ(explanation.findings.front().ranks.size(), 16u);
  EXPECT_EQ(explanation.findings.front().ranks.back(), WorldRank(15));
}

TEST(Balance, NamesThoseToWhomNearlyAllIsDue) {
  Programs programs(4);
  for (int round = 0; round < 20; ++round)
    for (int rank = 0; rank < 4; ++rank)
      programs.collective(rank, Cost::barrier, rank == (round == 0 ? 1 : 3) ? us(500) : us(100));
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_FALSE(explanation.findings.empty());
  EXPECT_EQ(explanation.findings.front().ranks, std::vector<WorldRank>{WorldRank(3)});
}

TEST(Balance, IsOfAllTogetherWhereRanksCallOtherwise) {
  Programs programs(2);
  send(programs, 0, 1, us(300), "send");
  send(programs, 0, 1, us(100), "send");
  recv(programs, 1, 0, us(1000), "send");  // the same place
  recv(programs, 1, 0, Time(), "recv");
  programs.finalize_all();
  const auto run = explain_program(programs).run;
  Edits edits;
  equalise(
      run, [&](const Call& call) { return call.place == run.calls[0][0].place; }, edits);
  // 700 each; rank 0's in proportion.
  EXPECT_EQ(edits.compute[0][0], us(525));
  EXPECT_EQ(edits.compute[0][1], us(175));
  EXPECT_EQ(edits.compute[1][0], us(700));
}

TEST(Balance, IsFromOneMeetingOfAllToTheNext) {
  Programs programs(2);
  for (int round = 0; round < 2; ++round) {
    send(programs, round, 1 - round, us(200), "send");
    recv(programs, 1 - round, round, Time(), "recv");
    for (int rank = 0; rank < 2; ++rank) programs.collective(rank, Cost::barrier, Time());
  }
  programs.finalize_all();
  const auto run = explain_program(programs).run;
  ASSERT_EQ(run.meetings[0], (std::vector<std::uint32_t>{1, 3}));
  Edits edits;
  equalise(
      run, [](const Call&) { return true; }, edits);
  // Altogether both compute 200. In each round it is 100; who had none computes before the
  // receive and the barrier.
  EXPECT_EQ(edits.compute[0], (std::vector{us(100), Time(), us(50), us(50), Time()}));
  EXPECT_EQ(edits.compute[1], (std::vector{us(50), us(50), us(100), Time(), Time()}));
}

TEST(Balance, IsToldOfSeveralPlacesTogetherAndOfEachRound) {
  Programs programs(2);
  for (int rank = 0; rank < 2; ++rank) {
    programs.collective(rank, Cost::barrier, rank == 0 ? us(100) : us(300));
    programs.collective(rank, Cost::allreduce, rank == 0 ? us(500) : us(100));
  }
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  const BalanceOfMore& balance = explanation.balance;
  ASSERT_EQ(balance.together.size(), 1u);
  EXPECT_EQ(balance.together[0].places.size(), 2u);
  EXPECT_EQ(balance.together[0].places[0].function, "MPI_allreduce");
  EXPECT_EQ(explanation.time - balance.together[0].time, us(300));
  EXPECT_FALSE(balance.nodes);
  // Nothing is computed after the last of them.
  EXPECT_EQ(balance.rounds, 3u);
  ASSERT_EQ(balance.uneven_rounds.size(), 2u);
  EXPECT_EQ(balance.uneven_rounds[0].number, 1u);
  EXPECT_EQ(balance.uneven_rounds[0].from, us(340));
  EXPECT_EQ(balance.uneven_rounds[0].mean, us(300));
  EXPECT_EQ(balance.uneven_rounds[0].most, us(500));
  EXPECT_EQ(balance.uneven_rounds[0].slowest, WorldRank(0));
  EXPECT_NEAR(balance.uneven_rounds[0].deviation, 200e-6, 1e-12);
  EXPECT_EQ(balance.uneven_rounds[1].number, 0u);
  EXPECT_EQ(balance.uneven_rounds[1].above(), us(100));
}

TEST(Balance, IsToldWithinNodesAndBetweenThem) {
  Programs programs(5);
  const Time computation[] = {us(100), us(300), us(100), us(400), us(600)};
  for (int rank = 0; rank < 5; ++rank) programs.collective(rank, Cost::barrier, computation[rank]);
  programs.finalize_all();
  ExplainOptions how;
  how.nodes = {7, 7, 8, 8, 8};
  const Explanation explanation = explain_program(programs, {}, how).explanation;
  const Time rest = explanation.time - us(600);
  ASSERT_TRUE(explanation.balance.nodes);
  const BalanceOfMore::Nodes& nodes = *explanation.balance.nodes;
  EXPECT_EQ(nodes.count, 2u);
  // 400 / 2 and 1100 / 3.
  EXPECT_EQ(nodes.slowest, 8);
  EXPECT_NEAR(nodes.most.seconds(), 1100e-6 / 3, 1e-11);
  EXPECT_NEAR(nodes.deviation, (1100e-6 / 3 - 200e-6) / 2, 1e-11);
  EXPECT_NEAR(nodes.within.seconds(), (rest + us(1100)).seconds() - 1100e-6 * 2 / 3, 1e-11);
  // 1500 / 5 for each rank: 600 for the first node, of which 450 for its second rank; 900 for the
  // other, of which 600/1100 for its last.
  EXPECT_NEAR(nodes.between.seconds(), rest.seconds() + 900e-6 * 600 / 1100, 1e-11);
  how.nodes = {1, 1, 1, 1, 1};
  EXPECT_FALSE(explain_program(programs, {}, how).explanation.balance.nodes);
}

TEST(Balance, NamesWhereTheSlowestRankComputes) {
  // Each rank's call has a place of its own.
  Programs programs(2);
  send(programs, 0, 1, us(4000), "long work");
  recv(programs, 1, 0, us(1000), "short work");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const Finding* finding = explained.first("imbalance");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->place.function, "long work");
  EXPECT_EQ(finding->ranks, std::vector<WorldRank>{WorldRank(0)});
  // 2500 + 60.
  EXPECT_EQ(finding->predicted, us(2560));
}

}  // namespace
}  // namespace foretrace::explain
