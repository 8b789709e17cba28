// What the papers say of the algorithms: rounds, messages, bytes, and times by
// hand in the alpha-beta model.
#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

#include "executor.hpp"

namespace foretrace::sim::test {
namespace {

using machine::Cost;

Result run(Cost collective, std::string_view name, int p, std::uint64_t d, Costs costs = {},
           int root = 0) {
  for (const Algorithm& algorithm : algorithms_for(collective))
    if (algorithm.name == name)
      return execute(algorithm, {collective, p, 0, root, Bytes(d)}, Sends::buffered, costs);
  throw std::logic_error("no such algorithm");
}

std::uint64_t ceil_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p - 1));
}
std::uint64_t floor_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p)) - 1;
}
std::uint64_t pof2(int p) {
  return std::uint64_t{1} << floor_log2(p);
}
// What stays out of the power of two.
std::uint64_t rem(int p) {
  return static_cast<std::uint64_t>(p) - pof2(p);
}

// With alpha = 1 and beta = 0 the time is the number of rounds.
TEST(Rounds, CeilLog2ForAnyNumberOfRanks) {
  for (int p = 1; p <= 70; ++p) {
    EXPECT_EQ(run(Cost::barrier, "dissemination", p, 0).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::bcast, "binomial", p, 9, {}, p / 2).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::bcast, "binomial_doubling", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::scatter, "binomial", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::gather, "binomial", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::reduce, "binomial", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::allgather, "bruck", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::alltoall, "bruck", p, 9).time(), ceil_log2(p)) << p;
    EXPECT_EQ(run(Cost::barrier, "tree", p, 0).time(), 2 * ceil_log2(p)) << p;
  }
}

// floor(log2 p), and one round to fold and one to unfold.
TEST(Rounds, FoldedDoubling) {
  for (int p = 1; p <= 70; ++p) {
    const std::uint64_t fold = rem(p) != 0 ? 1 : 0;
    EXPECT_EQ(run(Cost::allreduce, "recursive_doubling", p, 8).time(), floor_log2(p) + 2 * fold);
    EXPECT_EQ(run(Cost::barrier, "recursive_doubling", p, 0).time(), floor_log2(p) + 2 * fold);
    EXPECT_EQ(run(Cost::allreduce, "rabenseifner", p, 999).time(), 2 * (floor_log2(p) + fold));
    EXPECT_EQ(run(Cost::allreduce, "rabenseifner_split", p, 999).time(),
              2 * floor_log2(p) + 3 * fold);
    EXPECT_EQ(run(Cost::reduce_scatter, "recursive_halving", p, 999).time(),
              floor_log2(p) + 2 * fold);
  }
}

TEST(Rounds, RingsAndPairs) {
  for (int p = 2; p <= 40; ++p) {
    const auto others = static_cast<std::uint64_t>(p - 1);
    EXPECT_EQ(run(Cost::allgather, "ring", p, 9).time(), others);
    EXPECT_EQ(run(Cost::allgather, "neighbour_exchange", p, 9).time(),
              p % 2 == 0 ? static_cast<std::uint64_t>(p / 2) : others);
    EXPECT_EQ(run(Cost::allreduce, "ring", p, 999).time(), 2 * others);
    EXPECT_EQ(run(Cost::alltoall, "pairwise", p, 9).time(), others);
    EXPECT_EQ(run(Cost::alltoall, "pairwise_exchange", p, 9).time(), others);
    EXPECT_EQ(run(Cost::reduce_scatter, "pairwise", p, 999).time(), others);
    EXPECT_EQ(run(Cost::reduce_scatter, "ring", p, 999).time(), others);
    EXPECT_EQ(run(Cost::scan, "linear", p, 9).time(), others);
    EXPECT_EQ(run(Cost::bcast, "chain", p, 9).time(), others);
    EXPECT_EQ(run(Cost::bcast, "linear", p, 9).time(), others);
    EXPECT_EQ(run(Cost::bcast, "scatter_allgather_ring", p, 999).time(), ceil_log2(p) + others);
  }
}

// Trees send the message once to each rank but the root.
TEST(Volume, TreesMoveTheMessageOnceToEach) {
  for (const Cost collective : {Cost::bcast, Cost::reduce})
    for (const Algorithm& algorithm : algorithms_for(collective)) {
      if (algorithm.name.starts_with("scatter") || algorithm.name == "rabenseifner") continue;
      for (int p = 1; p <= 40; ++p) {
        // The in-order tree ends at the last rank.
        const int root = p - 1;
        EXPECT_EQ(run(collective, algorithm.name, p, 100'001, {}, root).bytes(),
                  static_cast<std::uint64_t>(p - 1) * 100'001)
            << algorithm.name << " " << p;
      }
    }
}

// All ranks but the root get their data and that of those below them; on 2^n
// ranks each of the n rounds moves half of the p d bytes.
TEST(Volume, BinomialScatterAndGather) {
  for (int n = 0; n <= 6; ++n) {
    const std::uint64_t expected = static_cast<std::uint64_t>(n) * (std::uint64_t{10} << n) / 2;
    EXPECT_EQ(run(Cost::scatter, "binomial", 1 << n, 10).bytes(), expected);
    EXPECT_EQ(run(Cost::gather, "binomial", 1 << n, 10).bytes(), expected);
  }
  // p=6: children 1, 2 (with 3), 4 (with 5); 3 of 2; 5 of 4: 1 + 2 + 2 + 1 + 1 = 7 parts.
  EXPECT_EQ(run(Cost::scatter, "binomial", 6, 10).bytes(), 70u);
}

TEST(Volume, AllgatherMovesEachPartOnceToEach) {
  for (const Algorithm& algorithm : algorithms_for(Cost::allgather)) {
    if (algorithm.name == "gather_bcast") continue;
    for (int p = 1; p <= 40; ++p) {
      const Result result = run(Cost::allgather, algorithm.name, p, 7);
      for (const RankResult& rank : result.ranks) {
        EXPECT_EQ(rank.bytes, static_cast<std::uint64_t>(p - 1) * 7) << algorithm.name << " " << p;
        EXPECT_EQ(rank.sent, rank.bytes) << algorithm.name << " " << p;
      }
    }
  }
}

TEST(Volume, Alltoall) {
  for (int p = 1; p <= 70; ++p) {
    // A part that has to go j places is sent once for each bit of j.
    std::uint64_t hops = 0;
    for (int j = 1; j < p; ++j) hops += static_cast<std::uint64_t>(std::popcount(unsigned(j)));
    for (const RankResult& rank : run(Cost::alltoall, "bruck", p, 3).ranks)
      EXPECT_EQ(rank.bytes, 3 * hops);
    for (const auto* name : {"linear", "scattered", "pairwise", "pairwise_exchange"})
      for (const RankResult& rank : run(Cost::alltoall, name, p, 3).ranks) {
        EXPECT_EQ(rank.bytes, 3u * static_cast<std::uint64_t>(p - 1));
        EXPECT_EQ(rank.messages, static_cast<std::uint64_t>(p - 1));
      }
  }
}

TEST(Volume, Allreduce) {
  for (int p = 1; p <= 40; ++p) {
    const std::uint64_t d = 1001;
    const auto others = static_cast<std::uint64_t>(p - 1);
    // Halving and joining moves (1 - 1/p') d twice to each of p' ranks; who stays
    // out sends d and gets d.
    EXPECT_EQ(run(Cost::allreduce, "rabenseifner", p, d).bytes(),
              2 * (pof2(p) - 1) * d + 2 * rem(p) * d);
    // Split: both halves swapped (500 and 501), the right one (501) sent, the result back.
    EXPECT_EQ(run(Cost::allreduce, "rabenseifner_split", p, d).bytes(),
              2 * (pof2(p) - 1) * d + rem(p) * (1001 + 501 + 1001));
    EXPECT_EQ(run(Cost::allreduce, "recursive_doubling", p, d).bytes(),
              (pof2(p) * floor_log2(p) + 2 * rem(p)) * d);
    EXPECT_EQ(run(Cost::allreduce, "ring", p, d).bytes(), 2 * others * d);
    EXPECT_EQ(run(Cost::allreduce, "segmented_ring", p, 5'000'001).bytes(), 2 * others * 5'000'001);
    EXPECT_EQ(run(Cost::allreduce, "linear", p, d).bytes(), 2 * others * d);
  }
}

TEST(Volume, ReduceScatter) {
  for (int p = 1; p <= 40; ++p) {
    const auto ranks = static_cast<std::uint64_t>(p);
    const std::uint64_t d = 13 * ranks;
    EXPECT_EQ(run(Cost::reduce_scatter, "pairwise", p, d).bytes(), (ranks - 1) * d);
    EXPECT_EQ(run(Cost::reduce_scatter, "ring", p, d).bytes(), (ranks - 1) * d);
    // Who stays out sends all and gets its own part.
    EXPECT_EQ(run(Cost::reduce_scatter, "recursive_halving", p, d).bytes(),
              (pof2(p) - 1) * d + rem(p) * (d + 13));
  }
  // Doubling in place, p=8: a rank gets 7, 6 and 4 of 8 parts.
  for (const RankResult& rank : run(Cost::reduce_scatter, "recursive_doubling", 8, 80).ranks)
    EXPECT_EQ(rank.bytes, 170u);
  // Butterfly, p=4: 2 and 1 of 4 parts to each, then ranks 1 and 2 swap one part.
  EXPECT_EQ(run(Cost::reduce_scatter, "butterfly", 4, 40).bytes(), 4 * 30u + 2 * 10u);
}

// Reduce to the root of Rabenseifner, p = 8, d = 800: the halving moves 7/8 d to
// each of 8, the gathering half of the message in each of 3 rounds.
TEST(Volume, ReduceRabenseifner) {
  EXPECT_EQ(run(Cost::reduce, "rabenseifner", 8, 800).bytes(), 7 * 800u + 3 * 400u);
  // p = 3, root 1 stays out: 1 sends 800 to 0; 0 and 2 swap halves; 0 sends its half
  // to 1, so does 2.
  EXPECT_EQ(run(Cost::reduce, "rabenseifner", 3, 800, {}, 1).bytes(), 800u + 800 + 400 + 400);
}

TEST(Volume, ScatterAllgather) {
  for (int n = 0; n <= 6; ++n) {
    const auto p = std::uint64_t{1} << n;
    const std::uint64_t d = 10 * p;
    const std::uint64_t scatter = static_cast<std::uint64_t>(n) * d / 2;
    const std::uint64_t gather = (p - 1) * d;
    EXPECT_EQ(run(Cost::bcast, "scatter_allgather", 1 << n, d).bytes(), scatter + gather);
    EXPECT_EQ(run(Cost::bcast, "scatter_allgather_ring", 1 << n, d).bytes(), scatter + gather);
  }
  // p=6, d=60. Scatter: 7 parts of 10 (see above). Round 1: 0-1, 2-3, 4-5 swap 1 part: 6.
  // Round 2: 0-2, 1-3 swap 2 parts: 8; 4, 5 have no partner. Round 4: 0-4, 1-5 swap 4 and
  // 2 parts: 12; 2 hears 2 parts from 0, 3 from 1: 4. In all 7 + 6 + 8 + 16 = 37.
  EXPECT_EQ(run(Cost::bcast, "scatter_allgather", 6, 60).bytes(), 370u);
}

TEST(Communicators, ShortExchanges) {
  // comm_split on 4 ranks: 2 rounds of allgather (8, 16 bytes), 2 of 4 bytes.
  for (const RankResult& rank : run(Cost::comm_split, "allgather_allreduce", 4, 0).ranks) {
    EXPECT_EQ(rank.messages, 4u);
    EXPECT_EQ(rank.bytes, 8u + 16 + 4 + 4);
  }
  for (const RankResult& rank : run(Cost::comm_dup, "allreduce", 4, 0).ranks)
    EXPECT_EQ(rank.bytes, 8u);
}

// alpha = 100, beta = 2 per byte.
TEST(AlphaBeta, ByHand) {
  const Costs costs{100, 2};
  // log2 8 rounds of alpha + d beta: 3 (100 + 2000).
  EXPECT_EQ(run(Cost::bcast, "binomial", 8, 1000, costs).time(), 6300u);
  EXPECT_EQ(run(Cost::allreduce, "recursive_doubling", 8, 1000, costs).time(), 6300u);
  // p=6: a round to fold, 2, a round to unfold: 4 (100 + 2000).
  EXPECT_EQ(run(Cost::allreduce, "recursive_doubling", 6, 1000, costs).time(), 8400u);
  // 2 (p-1) rounds with d/p: 6 (100 + 2 * 250).
  EXPECT_EQ(run(Cost::allreduce, "ring", 4, 1000, costs).time(), 3600u);
  // 2 log2 p alpha + 2 (1 - 1/p) d beta: 4 * 100 + 2 * 0.75 * 2000.
  EXPECT_EQ(run(Cost::allreduce, "rabenseifner", 4, 1000, costs).time(), 3400u);
  // (p-1) (alpha + d beta): 7 * 300.
  EXPECT_EQ(run(Cost::alltoall, "pairwise", 8, 100, costs).time(), 2100u);
  // 3 rounds with 4 d each: 3 (100 + 800).
  EXPECT_EQ(run(Cost::alltoall, "bruck", 8, 100, costs).time(), 2700u);
  // Root to 7 others, one after the other: 7 (100 + 200).
  EXPECT_EQ(run(Cost::scatter, "linear", 8, 100, costs).time(), 2100u);
  // Halves: 400, 200, 100 bytes and 3 alpha: 300 + 1400.
  EXPECT_EQ(run(Cost::scatter, "binomial", 8, 100, costs).time(), 1700u);
  // log2 p alpha + (p-1) d beta: 300 + 1400.
  EXPECT_EQ(run(Cost::allgather, "recursive_doubling", 8, 100, costs).time(), 1700u);
  // p/2 rounds, d in the first, 2 d in three more: 300 + 3 * 500.
  EXPECT_EQ(run(Cost::allgather, "neighbour_exchange", 8, 100, costs).time(), 1800u);
  // A chain of 4 with 3 pieces of 65536 bytes: the first piece passes 3 links, the
  // others follow: (3 + 2) (100 + 131072).
  EXPECT_EQ(run(Cost::bcast, "pipeline", 4, 3 * 65536, costs).time(), 655'860u);
  EXPECT_EQ(run(Cost::reduce, "pipeline", 4, 3 * 65536, costs).time(), 655'860u);
  // Unsegmented: 3 (100 + 393216).
  EXPECT_EQ(run(Cost::bcast, "chain", 4, 3 * 65536, costs).time(), 1'179'948u);
  // Scatter 100 + 2 * 500, 100 + 2 * 250; two rounds of 250, 500: 4 * 100 + 2 * 1500.
  EXPECT_EQ(run(Cost::bcast, "scatter_allgather", 4, 1000, costs).time(), 3400u);
}

// Radix 4 on 16 ranks: the root sends to 4, 8, 12, then 1, 2, 3; rank 12 has the
// message after 3 rounds and its last child after 3 more.
TEST(AlphaBeta, Knomial) {
  EXPECT_EQ(run(Cost::bcast, "knomial", 16, 0, {10, 0}).time(), 60u);
  // 15 ranks below the root in the binary tree: levels of 2, 4, 8 nodes, and each
  // second child comes one round later: 2 + 2 + 2 rounds.
  EXPECT_EQ(run(Cost::bcast, "binary", 15, 0, {10, 0}).time(), 60u);
}

}  // namespace
}  // namespace foretrace::sim::test
