// Every algorithm, every number of ranks up to 33 and some above, every root up
// to 17 ranks: nobody waits for ever, every message has its receive and the size
// that is expected, and everybody has heard from those whose data MPI owes him.
#include <gtest/gtest.h>

#include <vector>

#include "executor.hpp"

namespace foretrace::sim::test {
namespace {

using machine::Cost;
using machine::Dependence;

constexpr auto kCosts = static_cast<int>(Cost::comm_dup) + 1;

bool is_rooted(Cost collective) {
  const Dependence dependence = machine::dependence_of(collective);
  return dependence == Dependence::all_for_root || dependence == Dependence::root_for_all;
}

// Ranks that `rank` must have heard from; MPI_Exscan gives it nothing of its own.
bool must_hear(const CollectiveCall& call, int rank, int from) {
  switch (machine::dependence_of(call.collective)) {
    case Dependence::all_for_all:
      return true;
    case Dependence::all_for_root:
      return from == call.root;
    case Dependence::root_for_all:
      return rank == call.root;
    case Dependence::prefix:
      return from <= rank;
  }
  return true;
}

// The bytes that must reach a rank: what it gets and did not have, where no
// reduction makes one of many.
std::uint64_t least_bytes(const CollectiveCall& call, int rank) {
  const auto p = static_cast<std::uint64_t>(call.size);
  const std::uint64_t d = call.bytes.count;
  if (p == 1) return 0;
  switch (call.collective) {
    case Cost::bcast:
    case Cost::scatter:
    case Cost::scatterv:
      return rank == call.root ? 0 : d;
    case Cost::gather:
    case Cost::gatherv:
      return rank == call.root ? (p - 1) * d : 0;
    case Cost::reduce:
      return rank == call.root ? d : 0;
    case Cost::allgather:
    case Cost::allgatherv:
    case Cost::alltoall:
    case Cost::alltoallv:
    case Cost::alltoallw:
      return (p - 1) * d;
    case Cost::allreduce:
      return d;
    case Cost::scan:
    case Cost::exscan:
      return rank == 0 ? 0 : d;
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return d / p;
    default:
      return 0;
  }
}

std::string describe(const Algorithm& algorithm, const CollectiveCall& call) {
  return std::string(machine::name_of(call.collective)) + " " + std::string(algorithm.name) +
         ", p=" + std::to_string(call.size) + " root=" + std::to_string(call.root) +
         " d=" + std::to_string(call.bytes.count);
}

void check(const Algorithm& algorithm, const CollectiveCall& call) {
  for (const Sends sends : {Sends::buffered, Sends::synchronous}) {
    const Result result = execute(algorithm, call, sends);
    ASSERT_EQ(result.fault, "") << describe(algorithm, call);
    for (int rank = 0; rank < call.size; ++rank) {
      const RankResult& own = result.ranks[rank];
      for (int from = 0; from < call.size; ++from)
        ASSERT_TRUE(own.heard[static_cast<std::size_t>(from)] || !must_hear(call, rank, from))
            << describe(algorithm, call) << ": " << rank << " has not heard from " << from;
      ASSERT_GE(own.bytes, least_bytes(call, rank)) << describe(algorithm, call) << " " << rank;
    }
  }
}

class EachCollective : public testing::TestWithParam<int> {
 protected:
  Cost collective() const { return static_cast<Cost>(GetParam()); }
};

TEST_P(EachCollective, UpTo33Ranks) {
  for (const Algorithm& algorithm : algorithms_for(collective()))
    for (int p = 1; p <= 33; ++p)
      for (int root = 0; root < (is_rooted(collective()) ? p : 1); root += p <= 17 ? 1 : 5)
        for (const std::uint64_t d : {0u, 1u, 1001u}) {
          if (d == 0 && root > 1) continue;
          check(algorithm, {collective(), p, 0, root, Bytes(d)});
          if (HasFatalFailure()) return;
        }
}

TEST_P(EachCollective, ManyRanks) {
  for (const Algorithm& algorithm : algorithms_for(collective()))
    for (const int p : {48, 63, 64, 65, 100, 127, 130})
      for (const int root : {0, 1, p / 2, p - 1}) {
        if (root > 0 && !is_rooted(collective())) continue;
        check(algorithm, {collective(), p, 0, root, Bytes(12345)});
        if (HasFatalFailure()) return;
      }
}

// Pieces of the pipelines and segmented rings.
TEST_P(EachCollective, LongMessages) {
  for (const Algorithm& algorithm : algorithms_for(collective()))
    for (int p = 1; p <= 9; ++p)
      for (const std::uint64_t d : {65536u, 65537u, 200'000u, 40'000'001u}) {
        check(algorithm, {collective(), p, 0, is_rooted(collective()) ? p / 2 : 0, Bytes(d)});
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Collectives, EachCollective,
                         testing::Range(static_cast<int>(Cost::barrier), kCosts), [](auto& info) {
                           return std::string(machine::name_of(static_cast<Cost>(info.param)));
                         });

// What MPI calls collective has algorithms, the rest has none.
TEST(Registry, EveryCollectiveHasAlgorithms) {
  for (int i = 0; i < kCosts; ++i)
    EXPECT_EQ(algorithms_for(static_cast<Cost>(i)).empty(), static_cast<Cost>(i) < Cost::barrier)
        << machine::name_of(static_cast<Cost>(i));
}

// Where whole vectors are combined, no rank's part may go in twice.
TEST(Reductions, NothingIsCombinedTwice) {
  const std::vector<std::pair<Cost, std::string_view>> whole = {
      {Cost::reduce, "linear"},          {Cost::reduce, "chain"},
      {Cost::reduce, "binary"},          {Cost::reduce, "in_order_binary"},
      {Cost::reduce, "binomial"},        {Cost::allreduce, "recursive_doubling"},
      {Cost::allreduce, "linear"},       {Cost::scan, "linear"},
      {Cost::scan, "recursive_doubling"}};
  for (const auto& [collective, name] : whole)
    for (int p = 1; p <= 40; ++p) {
      const CollectiveCall call{collective, p, 0, is_rooted(collective) ? p / 3 : 0, Bytes(8)};
      for (const RankResult& rank : execute(named(collective, name), call, Sends::buffered).ranks)
        ASSERT_FALSE(rank.combined_twice) << describe(named(collective, name), call);
    }
}

// Without redundant work a reduction of p vectors of d bytes combines (p-1) d
// bytes in all, however it is cut up.
TEST(Reductions, CombineNoMoreThanNeeded) {
  for (const Cost collective : {Cost::reduce, Cost::allreduce, Cost::reduce_scatter})
    for (const Algorithm& algorithm : algorithms_for(collective)) {
      if (algorithm.name == "recursive_doubling") continue;
      for (int p = 1; p <= 40; ++p)
        for (const std::uint64_t d : {1u, 64u, 1001u, 3'000'000u}) {
          const CollectiveCall call{collective, p, 0, collective == Cost::reduce ? p / 2 : 0,
                                    Bytes(d)};
          const Result result = execute(algorithm, call, Sends::buffered);
          ASSERT_EQ(result.reduced(), static_cast<std::uint64_t>(p - 1) * d)
              << describe(algorithm, call);
        }
    }
}

// Nobody can send on more than all those that he has heard from gave.
TEST(Gathering, SendsWhatItHas) {
  for (const Algorithm& algorithm : algorithms_for(Cost::allgather))
    for (int p = 1; p <= 40; ++p) {
      Step step;
      std::uint64_t received = 0;
      for (std::uint32_t i = 0; algorithm.step({Cost::allgather, p, p / 2, 0, Bytes(100)}, i, step);
           ++i) {
        EXPECT_LE(step.send_bytes.count, 100 + received) << algorithm.name << " p=" << p;
        received += step.recv_bytes.count;
      }
    }
}

}  // namespace
}  // namespace foretrace::sim::test
