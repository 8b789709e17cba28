// Collectives with a count for each rank: every algorithm moves the parts that the counts say, for
// any number of ranks, and what has no bytes is sent or not as the libraries do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "executor.hpp"

namespace foretrace::sim::test {
namespace {

using machine::Cost;
using trace::Counts;

std::uint64_t sum(const Counts& counts) {
  std::uint64_t total = 0;
  for (const Bytes each : counts) total += each.count;
  return total;
}

// What each rank sends to each other one, some of it nothing.
std::vector<Counts> random_rows(int p, std::mt19937& random) {
  std::uniform_int_distribution<std::uint64_t> bytes(1, 100'000);
  std::uniform_int_distribution<int> kind(0, 3);
  std::vector<Counts> rows(static_cast<std::size_t>(p), Counts(static_cast<std::size_t>(p)));
  for (Counts& row : rows)
    for (Bytes& each : row) each = kind(random) == 0 ? Bytes(0) : Bytes(bytes(random));
  return rows;
}

// The lists of all ranks, as a trace holds them.
std::vector<Counts> lists_of(Cost collective, const std::vector<Counts>& rows, int root) {
  std::vector<Counts> lists;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    Counts list = rows[0];
    if (collective == Cost::alltoallv || collective == Cost::alltoallw) {
      list = rows[rank];
      for (const Counts& row : rows) list.push_back(row[rank]);
    } else if (collective == Cost::gatherv || collective == Cost::scatterv) {
      if (static_cast<int>(rank) != root) list = {rows[0][rank]};
    }
    if (!trace::are_told(collective, list)) list.clear();
    lists.push_back(list);
  }
  return lists;
}

// By rank d of its call.
Bytes size_of(Cost collective, const std::vector<Counts>& rows) {
  const std::uint64_t total = sum(rows[0]);
  return Bytes(collective == Cost::reduce_scatter ? total : total / rows.size());
}

std::uint64_t expected(Cost collective, const std::vector<Counts>& rows, int root, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  const Counts& parts = rows[0];
  switch (collective) {
    case Cost::allgatherv:
      return sum(parts) - parts[own].count;
    case Cost::scatterv:
      return rank == root ? 0 : parts[own].count;
    case Cost::gatherv:
      return rank == root ? sum(parts) - parts[own].count : 0;
    default: {  // an all-to-all
      std::uint64_t total = 0;
      for (std::size_t from = 0; from < rows.size(); ++from)
        total += from == own ? 0 : rows[from][own].count;
      return total;
    }
  }
}

// Of a gatherv or scatterv every rank has its own d, but the executor gives all the same: who has
// no list gets its part as one.
Result run_parts(Cost collective, const Algorithm& algorithm, const std::vector<Counts>& rows,
                 int root, Sends sends, Costs costs = {}) {
  std::vector<Counts> lists = lists_of(collective, rows, root);
  if (collective == Cost::gatherv || collective == Cost::scatterv)
    for (std::size_t rank = 0; rank < rows.size(); ++rank)
      if (lists[rank].empty() && static_cast<int>(rank) != root) lists[rank] = {rows[0][rank]};
  return execute(algorithm,
                 {collective, static_cast<int>(rows.size()), 0, root, size_of(collective, rows)},
                 sends, costs, lists);
}

Result run_parts(Cost collective, std::string_view name, const std::vector<Counts>& rows,
                 Costs costs = {}, int root = 0) {
  for (const Algorithm& algorithm : algorithms_for(collective))
    if (algorithm.name == name)
      return run_parts(collective, algorithm, rows, root, Sends::buffered, costs);
  throw std::logic_error("no such algorithm");
}

class EachWithCounts : public testing::TestWithParam<Cost> {};

// Everybody gets what belongs to it, once; messages and receives agree in size. Where data is
// passed on by a root (gather_bcast), more is moved.
TEST_P(EachWithCounts, MovesTheParts) {
  std::mt19937 random(7);
  const Cost collective = GetParam();
  for (const Algorithm& algorithm : algorithms_for(collective))
    for (int p = 1; p <= 33; ++p)
      for (const Sends sends : {Sends::buffered, Sends::synchronous}) {
        const std::vector<Counts> rows = random_rows(p, random);
        const bool rooted = collective == Cost::gatherv || collective == Cost::scatterv;
        const int root = rooted ? static_cast<int>(random() % static_cast<unsigned>(p)) : 0;
        const Result result = run_parts(collective, algorithm, rows, root, sends);
        ASSERT_EQ(result.fault, "") << algorithm.name << " " << p;
        if (algorithm.name == "gather_bcast") continue;
        for (int rank = 0; rank < p; ++rank)
          ASSERT_EQ(result.ranks[static_cast<std::size_t>(rank)].bytes,
                    expected(collective, rows, root, rank))
              << algorithm.name << " " << p << " rank " << rank;
      }
}

INSTANTIATE_TEST_SUITE_P(Parts, EachWithCounts,
                         testing::Values(Cost::allgatherv, Cost::gatherv, Cost::scatterv,
                                         Cost::alltoallv, Cost::alltoallw),
                         [](auto& info) { return std::string(machine::name_of(info.param)); });

TEST(ReduceScatter, MovesTheParts) {
  std::mt19937 random(7);
  for (const Algorithm& algorithm : algorithms_for(Cost::reduce_scatter))
    for (int p = 1; p <= 33; ++p) {
      const std::vector<Counts> rows = random_rows(p, random);
      const Result result = run_parts(Cost::reduce_scatter, algorithm, rows, 0, Sends::synchronous);
      ASSERT_EQ(result.fault, "") << algorithm.name << " " << p;
      const std::uint64_t all = static_cast<std::uint64_t>(p - 1) * sum(rows[0]);
      if (algorithm.name == "pairwise" || algorithm.name == "ring") {
        ASSERT_EQ(result.bytes(), all) << algorithm.name << " " << p;
      }
      // Each rank's own part comes from all others.
      for (std::size_t rank = 0; algorithm.name == "pairwise" && rank < rows.size(); ++rank)
        ASSERT_EQ(result.ranks[rank].bytes, rows[0][rank].count * static_cast<unsigned>(p - 1));
    }
}

// Counts that are all the same are as if there were none.
TEST(Parts, AllTheSame) {
  for (const Cost collective : {Cost::allgatherv, Cost::gatherv, Cost::scatterv, Cost::alltoallv,
                                Cost::alltoallw, Cost::reduce_scatter})
    for (const Algorithm& algorithm : algorithms_for(collective))
      for (const int p : {1, 2, 6, 8, 13}) {
        const auto n = static_cast<std::size_t>(p);
        const std::vector<Counts> rows(n, Counts(n, Bytes(70'000)));
        CollectiveCall call{collective, p, 0, 0, size_of(collective, rows)};
        const Result without = execute(algorithm, call, Sends::buffered, {100, 2});
        const bool two = collective == Cost::alltoallv || collective == Cost::alltoallw;
        const std::vector<Counts> lists(n, Counts(two ? 2 * n : n, Bytes(70'000)));
        const Result with = execute(algorithm, call, Sends::buffered, {100, 2}, lists);
        ASSERT_EQ(with.fault, "");
        for (std::size_t rank = 0; rank < n; ++rank) {
          EXPECT_EQ(with.ranks[rank].messages, without.ranks[rank].messages) << algorithm.name;
          EXPECT_EQ(with.ranks[rank].bytes, without.ranks[rank].bytes) << algorithm.name;
          EXPECT_EQ(with.ranks[rank].time, without.ranks[rank].time) << algorithm.name << p;
        }
      }
}

// All of rank 0 of an allgatherv.
std::vector<Counts> all_of_rank_0(std::size_t p, std::uint64_t bytes) {
  Counts parts(p, Bytes(0));
  parts[0] = Bytes(bytes);
  return std::vector<Counts>(p, parts);
}

// alpha = 100, beta = 2 per byte. Rank 0 of 8 alone has something, 1,000 bytes.
TEST(AllgathervOfOneRank, ByHand) {
  const Costs costs{100, 2};
  const auto rows = all_of_rank_0(8, 1000);
  // Once round the ring: it is handed on 7 times, and nobody waits for the empty messages that
  // have gone meanwhile.
  EXPECT_EQ(run_parts(Cost::allgatherv, "ring", rows, costs).time(), 7 * 2100u);
  // Each rank gets it in one of three rounds; the empty ones take 100.
  EXPECT_EQ(run_parts(Cost::allgatherv, "recursive_doubling", rows, costs).time(), 3 * 2100u);
  EXPECT_EQ(run_parts(Cost::allgatherv, "bruck", rows, costs).time(), 3 * 2100u);
  // 4 rounds.
  EXPECT_EQ(run_parts(Cost::allgatherv, "neighbour_exchange", rows, costs).time(), 4 * 2100u);
  // Empty parts are left out.
  const Result pipelined = run_parts(Cost::allgatherv, "pipelined_ring", rows, costs);
  EXPECT_EQ(pipelined.time(), 7 * 2100u);
  EXPECT_EQ(pipelined.messages(), 7u);
  EXPECT_EQ(run_parts(Cost::allgatherv, "ring", rows, costs).messages(), 56u);
}

// 4 pieces of 32 KiB: the first passes 7 links, the others follow.
TEST(AllgathervOfOneRank, LongPartsArePipelined) {
  const Costs costs{100, 2};
  const auto rows = all_of_rank_0(8, 4 * 32768);
  EXPECT_EQ(run_parts(Cost::allgatherv, "pipelined_ring", rows, costs).time(),
            (7 + 3) * (100u + 2 * 32768));
  EXPECT_EQ(run_parts(Cost::allgatherv, "ring", rows, costs).time(), 7 * (100u + 2 * 131072));
  // Pieces are as long as the shortest part, if that is more.
  Counts parts(4, Bytes(50'000));
  parts[1] = Bytes(100'001);
  const Result result =
      run_parts(Cost::allgatherv, "pipelined_ring", std::vector<Counts>(4, parts));
  // The 3 pieces of rank 1 pass 3 links, as do the other three parts, which are whole.
  EXPECT_EQ(result.messages(), 3u * 3 + 3 * 3);
}

// Ranks 1 to 3 send 10, 0 and 30 bytes to rank 0.
TEST(Rooted, WhatIsEmptyIsNotSent) {
  const Counts parts{Bytes(5), Bytes(10), Bytes(0), Bytes(30)};
  const std::vector<Counts> rows(4, parts);
  for (const char* name : {"linear", "linear_posted"}) {
    EXPECT_EQ(run_parts(Cost::gatherv, name, rows).messages(), 2u);
    EXPECT_EQ(run_parts(Cost::scatterv, name, rows).messages(), 2u);
    // One after the other: 100 + 2 * 10, 100 + 2 * 30.
    EXPECT_EQ(run_parts(Cost::gatherv, name, rows, {100, 2}).time(), 280u);
    EXPECT_EQ(run_parts(Cost::scatterv, name, rows, {100, 2}).time(), 280u);
  }
}

// Everybody sends to rank 0, and to nobody else.
TEST(AllToAll, HotReceiver) {
  std::vector<Counts> rows(5, Counts(5, Bytes(0)));
  for (Counts& row : rows) row[0] = Bytes(1000);
  for (const auto& [collective, name] : {std::pair{Cost::alltoallw, "linear"},
                                         {Cost::alltoallw, "scattered"},
                                         {Cost::alltoallv, "scattered"}}) {
    const Result result = run_parts(collective, name, rows, {100, 2});
    EXPECT_EQ(result.messages(), 4u);
    EXPECT_EQ(result.ranks[0].time, 4 * 2100u);
    EXPECT_EQ(result.ranks[1].time, 2100u);
  }
  // Empty messages go, too.
  EXPECT_EQ(run_parts(Cost::alltoallv, "pairwise", rows).messages(), 20u);
  const Result linear = run_parts(Cost::alltoallv, "linear", rows, {100, 2});
  EXPECT_EQ(linear.messages(), 20u);
  EXPECT_EQ(linear.ranks[0].time, 4 * 2100u);
}

// Messages and bytes from each rank to each other, as Open MPI 4.1.4 itself sent them (component
// pml/monitoring), for the parts 100, 0, 300, 0, ... of MPI_BYTE.
struct Sent {
  int from, to;
  std::uint64_t bytes, messages;
};

void expect_sent(Cost collective, std::string_view name, int p, const std::vector<Sent>& sent) {
  Counts parts(static_cast<std::size_t>(p), Bytes(0));
  for (std::size_t i = 0; i < parts.size(); i += 2) parts[i] = Bytes(100 * (i + 1));
  std::map<std::pair<int, int>, std::pair<std::uint64_t, std::uint64_t>> found, expected;
  for (const Sent& each : sent) expected[{each.from, each.to}] = {each.bytes, each.messages};
  for (const Algorithm& algorithm : algorithms_for(collective)) {
    if (algorithm.name != name) continue;
    CollectiveCall call{collective, p, 0, 0, Bytes()};
    for (const Bytes each : parts) call.bytes = Bytes(call.bytes.count + each.count);
    if (collective == Cost::allgatherv) call.bytes = Bytes(call.bytes.count / parts.size());
    call.counts = parts;
    for (call.rank = 0; call.rank < p; ++call.rank) {
      Step step;
      for (std::uint32_t i = 0; algorithm.step(call, i, step); ++i) {
        if (step.to == kNobody) continue;
        auto& [bytes, messages] = found[{call.rank, step.to}];
        bytes += step.send_bytes.count;
        ++messages;
      }
    }
  }
  EXPECT_EQ(found, expected) << name;
}

TEST(AsOpenMpiSends, Allgatherv) {
  expect_sent(Cost::allgatherv, "gather_bcast", 4,
              {{2, 0, 300, 1}, {0, 1, 400, 1}, {0, 2, 400, 1}, {1, 3, 400, 1}});
  expect_sent(Cost::allgatherv, "ring", 6,
              {{0, 1, 900, 5},
               {1, 2, 600, 5},
               {2, 3, 900, 5},
               {3, 4, 400, 5},
               {4, 5, 900, 5},
               {5, 0, 800, 5}});
  expect_sent(Cost::allgatherv, "bruck", 6,
              {{0, 5, 100, 1},
               {0, 4, 100, 1},
               {0, 2, 100, 1},
               {1, 0, 0, 1},
               {1, 5, 300, 1},
               {1, 3, 300, 1},
               {2, 1, 300, 1},
               {2, 0, 300, 1},
               {2, 4, 300, 1},
               {3, 2, 0, 1},
               {3, 1, 500, 1},
               {3, 5, 500, 1},
               {4, 3, 500, 1},
               {4, 2, 500, 1},
               {4, 0, 500, 1},
               {5, 4, 0, 1},
               {5, 3, 100, 1},
               {5, 1, 100, 1}});
  expect_sent(Cost::allgatherv, "neighbour_exchange", 6,
              {{0, 1, 600, 2},
               {0, 5, 100, 1},
               {1, 0, 300, 2},
               {1, 2, 100, 1},
               {2, 1, 300, 1},
               {2, 3, 400, 2},
               {3, 2, 500, 2},
               {3, 4, 300, 1},
               {4, 3, 500, 1},
               {4, 5, 800, 2},
               {5, 0, 500, 1},
               {5, 4, 100, 2}});
}

TEST(AsOpenMpiSends, ReduceScatter) {
  expect_sent(Cost::reduce_scatter, "recursive_halving", 4,
              {{0, 2, 300, 1},
               {1, 3, 300, 1},
               {2, 0, 100, 1},
               {3, 1, 100, 1},
               {1, 0, 100, 1},
               {3, 2, 300, 1}});
  expect_sent(Cost::reduce_scatter, "ring", 4,
              {{0, 1, 300, 3}, {1, 2, 400, 3}, {2, 3, 100, 3}, {3, 0, 400, 3}});
  expect_sent(Cost::reduce_scatter, "butterfly", 4,
              {{0, 1, 300, 1},
               {0, 2, 0, 1},
               {1, 0, 100, 1},
               {1, 2, 300, 1},
               {1, 3, 0, 1},
               {2, 0, 100, 1},
               {2, 1, 0, 1},
               {2, 3, 300, 1},
               {3, 1, 300, 1},
               {3, 2, 100, 1}});
}

// The part of rank 1 of 2 has all the bytes: in the one round of the halving rank 0 sends and does
// not receive.
TEST(ReduceScatter, HalvesThatAreEmptyAreNotSent) {
  const Counts parts{Bytes(0), Bytes(800)};
  const std::vector<Counts> rows(2, parts);
  const Result result = run_parts(Cost::reduce_scatter, "recursive_halving", rows, {100, 2});
  EXPECT_EQ(result.messages(), 1u);
  EXPECT_EQ(result.ranks[1].time, 1700u);
  EXPECT_EQ(result.ranks[1].reduced, 800u);
  EXPECT_EQ(result.ranks[0].reduced, 0u);
}

TEST(Told, WhereOneSizeDoesNotTellAll) {
  const Counts same{Bytes(3), Bytes(3)}, empty{Bytes(0), Bytes(0)}, other{Bytes(3), Bytes(0)};
  for (const Cost collective : {Cost::allgatherv, Cost::gatherv, Cost::scatterv, Cost::alltoallv,
                                Cost::alltoallw, Cost::reduce_scatter}) {
    EXPECT_FALSE(trace::are_told(collective, same));
    EXPECT_TRUE(trace::are_told(collective, other));
    // All know that nothing is sent, or each must know of its partner.
    EXPECT_EQ(trace::are_told(collective, empty),
              collective != Cost::allgatherv && collective != Cost::reduce_scatter);
  }
}

}  // namespace
}  // namespace foretrace::sim::test
