// Who sends to whom in which round.
#include "sim/collectives/rounds.hpp"

#include <gtest/gtest.h>

#include "executor.hpp"

namespace foretrace::sim::test {
namespace {

using machine::Cost;
using Messages = std::vector<RoundMessage>;

constexpr std::size_t kMany = 1'000'000;

// Rank r sends in round k to r + 2^(k-1).
TEST(RoundMessages, Dissemination) {
  EXPECT_EQ(
      rounds_of(named(Cost::barrier, "dissemination"), {Cost::barrier, 3, 0, 0, Bytes()}, kMany),
      (Messages{{1, 0, 1, Bytes()},
                {1, 1, 2, Bytes()},
                {1, 2, 0, Bytes()},
                {2, 0, 2, Bytes()},
                {2, 1, 0, Bytes()},
                {2, 2, 1, Bytes()}}));
}

// From rank 5 of 8, which stands first: half of the ranks, a quarter, an eighth away.
TEST(RoundMessages, BinomialTree) {
  EXPECT_EQ(rounds_of(named(Cost::bcast, "binomial"), {Cost::bcast, 8, 0, 5, Bytes(9)}, kMany),
            (Messages{{1, 5, 1, Bytes(9)},
                      {2, 1, 3, Bytes(9)},
                      {2, 5, 7, Bytes(9)},
                      {3, 1, 2, Bytes(9)},
                      {3, 3, 4, Bytes(9)},
                      {3, 5, 6, Bytes(9)},
                      {3, 7, 0, Bytes(9)}}));
}

// All that is posted before somebody waits.
TEST(RoundMessages, PostedIsOneRound) {
  const Messages all =
      rounds_of(named(Cost::alltoall, "linear"), {Cost::alltoall, 5, 0, 0, Bytes(8)}, kMany);
  EXPECT_EQ(all.size(), 20u);
  for (const RoundMessage& message : all) EXPECT_EQ(message.round, 1);
}

// The messages and bytes of the executor, of all algorithms; a rank's messages go on from what it
// has got; and rounds are without gaps.
TEST(RoundMessages, AreThoseOfTheAlgorithm) {
  int algorithms = 0;
  for (std::size_t cost = 0; cost < static_cast<std::size_t>(Cost::kCount); ++cost)
    for (const Algorithm& algorithm : algorithms_for(static_cast<Cost>(cost)))
      for (const int size : {1, 2, 5, 8, 13}) {
        ++algorithms;
        const CollectiveCall call{static_cast<Cost>(cost), size, 0, size / 2, Bytes(1000)};
        const Messages all = rounds_of(algorithm, call, kMany);
        const Result expected = execute(algorithm, call, Sends::buffered);
        ASSERT_TRUE(expected.fault.empty()) << expected.fault;
        std::uint64_t bytes = 0;
        int last = 0;
        for (const RoundMessage& message : all) {
          bytes += message.bytes.count;
          EXPECT_TRUE(message.round == last || message.round == last + 1) << algorithm.name;
          last = message.round;
        }
        EXPECT_EQ(all.size(), expected.messages()) << algorithm.name << " " << size;
        EXPECT_EQ(bytes, expected.bytes()) << algorithm.name << " " << size;
      }
  EXPECT_GT(algorithms, 100);
}

TEST(RoundMessages, TooManyAreNone) {
  const CollectiveCall call{Cost::alltoall, 32, 0, 0, Bytes(8)};
  EXPECT_EQ(rounds_of(named(Cost::alltoall, "linear"), call, 992).size(), 992u);
  EXPECT_TRUE(rounds_of(named(Cost::alltoall, "linear"), call, 991).empty());
}

}  // namespace
}  // namespace foretrace::sim::test
