// The fixed decision rules of Open MPI 4.1, component coll/tuned.
//
// As in the file ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of version
// 4.1, for commutative operations; what coll/tuned leaves out (scan, exscan,
// gatherv, scatterv, alltoallw) as coll/basic does it. The rules pass no segment
// size, so that pipelines are chains and segmented rings rings.
#include <cstdint>
#include <limits>
#include <span>

#include "sim/collectives/libraries.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/registry.hpp"

namespace foretrace::sim::collectives {
namespace {

constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * 1024;

// The first row whose two bounds are both above the call holds.
struct Row {
  int below_ranks;
  std::uint64_t below_bytes;
  const Algorithm* algorithm;
};

// A paragraph for each interval of ranks.
// clang-format off

namespace barrier_rules {
constexpr const Algorithm* linear = pick(kBarrier, "linear");
constexpr const Algorithm* doubling = pick(kBarrier, "recursive_doubling");
constexpr const Algorithm* dissemination = pick(kBarrier, "dissemination");
constexpr const Algorithm* tree = pick(kBarrier, "tree");
constexpr Row kRows[] = {
    {4, kAny, doubling},
    {8, kAny, linear},
    {64, kAny, doubling},
    {256, kAny, dissemination},
    {512, kAny, tree},
    {1024, kAny, dissemination},
    {4096, kAny, tree},
    {kAnyRanks, kAny, dissemination},
};
}  // namespace barrier_rules

namespace bcast_rules {
constexpr const Algorithm* linear = pick(kBcast, "linear");
constexpr const Algorithm* chain = pick(kBcast, "chain");
constexpr const Algorithm* split_binary = pick(kBcast, "split_binary");
constexpr const Algorithm* binary = pick(kBcast, "binary");
constexpr const Algorithm* binomial = pick(kBcast, "binomial_doubling");
constexpr const Algorithm* knomial = pick(kBcast, "knomial");
constexpr const Algorithm* scatter_allgather = pick(kBcast, "scatter_allgather");
constexpr Row kRows[] = {
    {4, 32, chain}, {4, 256, binary}, {4, 512, chain}, {4, 1 * kKi, knomial}, {4, 32 * kKi, linear},
    {4, 128 * kKi, binary}, {4, 256 * kKi, chain}, {4, 512 * kKi, linear}, {4, 1 * kMi, binomial},
    {4, kAny, binary},
    {8, 64, binary}, {8, 128, binomial}, {8, 2 * kKi, binary}, {8, 8 * kKi, binomial},
    {8, 1 * kMi, linear}, {8, kAny, chain},
    {16, 8, knomial}, {16, 64, binary}, {16, 4 * kKi, knomial}, {16, 16 * kKi, binary},
    {16, 32 * kKi, binomial}, {16, kAny, linear},
    {32, 4 * kKi, knomial}, {32, 1 * kMi, binomial}, {32, kAny, scatter_allgather},
    {64, 2 * kKi, binomial}, {64, kAny, knomial},
    {128, kAny, knomial},
    {256, 2, binomial}, {256, 16 * kKi, binary}, {256, 32 * kKi, linear}, {256, 64 * kKi, binary},
    {256, kAny, knomial},
    {1024, 16 * kKi, knomial}, {1024, 32 * kKi, split_binary}, {1024, kAny, knomial},
    {2048, 512 * kKi, knomial}, {2048, kAny, scatter_allgather},
    {4096, 256 * kKi, knomial}, {4096, kAny, scatter_allgather},
    {kAnyRanks, 8 * kKi, knomial}, {kAnyRanks, 16 * kKi, binary}, {kAnyRanks, kAny, knomial},
};
}  // namespace bcast_rules

namespace scatter_rules {
constexpr const Algorithm* linear = pick(kScatter, "linear");
constexpr const Algorithm* binomial = pick(kScatter, "binomial");
constexpr const Algorithm* linear_posted = pick(kScatter, "linear_posted");
constexpr Row kRows[] = {
    {4, 2, linear_posted}, {4, 128 * kKi, linear}, {4, 256 * kKi, linear_posted}, {4, kAny, linear},
    {8, 2 * kKi, binomial}, {8, 4 * kKi, linear}, {8, 8 * kKi, binomial}, {8, 32 * kKi, linear},
    {8, 1 * kMi, linear_posted}, {8, kAny, linear},
    {16, 16 * kKi, binomial}, {16, 1 * kMi, linear_posted}, {16, kAny, linear},
    {32, 16 * kKi, binomial}, {32, 32 * kKi, linear}, {32, kAny, linear_posted},
    {64, 512, binomial}, {64, 8 * kKi, linear_posted}, {64, 16 * kKi, binomial},
    {64, kAny, linear_posted},
    {kAnyRanks, 512, binomial}, {kAnyRanks, kAny, linear_posted},
};
}  // namespace scatter_rules

namespace gather_rules {
constexpr const Algorithm* linear = pick(kGather, "linear");
constexpr const Algorithm* binomial = pick(kGather, "binomial");
constexpr const Algorithm* linear_sync = pick(kGather, "linear_sync");
constexpr Row kRows[] = {
    {4, 2, linear_sync}, {4, 4, linear}, {4, 32 * kKi, binomial}, {4, 64 * kKi, linear},
    {4, 128 * kKi, binomial}, {4, kAny, linear_sync},
    {8, 1 * kKi, binomial}, {8, 8 * kKi, linear}, {8, 32 * kKi, binomial}, {8, 256 * kKi, linear},
    {8, kAny, linear_sync},
    {256, kAny, binomial},
    {512, 2 * kKi, binomial}, {512, 8 * kKi, linear}, {512, kAny, binomial},
    {kAnyRanks, kAny, binomial},
};
}  // namespace gather_rules

namespace reduce_rules {
constexpr const Algorithm* linear = pick(kReduce, "linear");
constexpr const Algorithm* chain = pick(kReduce, "chain");
constexpr const Algorithm* binary = pick(kReduce, "binary");
constexpr const Algorithm* binomial = pick(kReduce, "binomial");
constexpr const Algorithm* in_order = pick(kReduce, "in_order_binary");
constexpr const Algorithm* raben = pick(kReduce, "rabenseifner");
constexpr Row kRows[] = {
    {4, 8, raben}, {4, 16, binary}, {4, 32, chain}, {4, 256 * kKi, linear}, {4, kAny, chain},
    {8, 4 * kKi, binary}, {8, 64 * kKi, chain}, {8, 256 * kKi, binomial}, {8, 512 * kKi, linear},
    {8, 1 * kMi, binomial}, {8, kAny, linear},
    {16, 8 * kKi, binary}, {16, kAny, binomial},
    {32, 4 * kKi, binary}, {32, kAny, binomial},
    {256, kAny, binomial},
    {512, 8 * kKi, binomial}, {512, 16 * kKi, in_order}, {512, kAny, binomial},
    {2048, kAny, binomial},
    {4096, 512, binomial}, {4096, 1 * kKi, in_order}, {4096, 8 * kKi, binomial},
    {4096, 16 * kKi, in_order}, {4096, kAny, binomial},
    {kAnyRanks, 16, binomial}, {kAnyRanks, 32, in_order}, {kAnyRanks, 1 * kKi, binomial},
    {kAnyRanks, 2 * kKi, in_order}, {kAnyRanks, 8 * kKi, binomial}, {kAnyRanks, 16 * kKi, in_order},
    {kAnyRanks, kAny, binomial},
};
}  // namespace reduce_rules

namespace allgather_rules {
constexpr const Algorithm* bruck = pick(kAllgather, "bruck");
constexpr const Algorithm* doubling = pick(kAllgather, "recursive_doubling");
constexpr const Algorithm* ring = pick(kAllgather, "ring");
constexpr const Algorithm* neighbour = pick(kAllgather, "neighbour_exchange");
constexpr Row kRows[] = {
    {32, kAny, doubling},
    {64, 1 * kKi, doubling}, {64, 64 * kKi, neighbour}, {64, kAny, ring},
    {128, 512, doubling}, {128, 64 * kKi, neighbour}, {128, kAny, ring},
    {256, 512, doubling}, {256, 128 * kKi, neighbour}, {256, 512 * kKi, ring},
    {256, 1 * kMi, neighbour}, {256, kAny, ring},
    {512, 32, doubling}, {512, 128, bruck}, {512, 1 * kKi, doubling}, {512, 128 * kKi, neighbour},
    {512, 512 * kKi, ring}, {512, 1 * kMi, neighbour}, {512, kAny, ring},
    {1024, 64, doubling}, {1024, 256, bruck}, {1024, 2 * kKi, doubling}, {1024, kAny, neighbour},
    {2048, 4, doubling}, {2048, 8, bruck}, {2048, 16, doubling}, {2048, 32, bruck},
    {2048, 256, doubling}, {2048, 512, bruck}, {2048, 4 * kKi, doubling}, {2048, kAny, neighbour},
    {4096, 32, bruck}, {4096, 128, doubling}, {4096, 512, bruck}, {4096, 4 * kKi, doubling},
    {4096, kAny, neighbour},
    {kAnyRanks, 2, doubling}, {kAnyRanks, 8, bruck}, {kAnyRanks, 16, doubling},
    {kAnyRanks, 512, bruck}, {kAnyRanks, 4 * kKi, doubling}, {kAnyRanks, kAny, neighbour},
};
}  // namespace allgather_rules

namespace allgatherv_rules {
constexpr const Algorithm* composed = pick(kAllgather, "gather_bcast");
constexpr const Algorithm* bruck = pick(kAllgather, "bruck");
constexpr const Algorithm* ring = pick(kAllgather, "ring");
constexpr const Algorithm* neighbour = pick(kAllgather, "neighbour_exchange");
constexpr Row kRows[] = {
    {3, kAny, ring},
    {8, 256, composed}, {8, 4 * kKi, neighbour}, {8, 8 * kKi, ring}, {8, 16 * kKi, neighbour},
    {8, 256 * kKi, bruck}, {8, kAny, neighbour},
    {16, 1 * kKi, composed}, {16, kAny, bruck},
    {32, 128, composed}, {32, 256 * kKi, bruck}, {32, kAny, ring},
    {64, 256, composed}, {64, 8 * kKi, bruck}, {64, kAny, ring},
    {128, 256, composed}, {128, 4 * kKi, bruck}, {128, kAny, ring},
    {256, 1 * kKi, bruck}, {256, 64 * kKi, neighbour}, {256, kAny, ring},
    {512, 1 * kKi, bruck}, {512, kAny, ring},
    {1024, 512, bruck}, {1024, 1 * kKi, composed}, {1024, 4 * kKi, bruck},
    {1024, 1 * kMi, neighbour}, {1024, kAny, ring},
    {kAnyRanks, 4 * kKi, bruck}, {kAnyRanks, kAny, neighbour},
};
}  // namespace allgatherv_rules

namespace allreduce_rules {
constexpr const Algorithm* ring = pick(kAllreduce, "ring");
constexpr const Algorithm* doubling = pick(kAllreduce, "recursive_doubling");
constexpr const Algorithm* raben = pick(kAllreduce, "rabenseifner_split");
constexpr const Algorithm* composed = pick(kAllreduce, "reduce_bcast");
constexpr Row kRows[] = {
    {4, 8, ring}, {4, 4 * kKi, doubling}, {4, 8 * kKi, ring}, {4, 16 * kKi, doubling},
    {4, 256 * kKi, ring}, {4, kAny, raben},
    {8, 16, ring}, {8, 8 * kKi, doubling}, {8, kAny, raben},
    {16, 8 * kKi, doubling}, {16, kAny, raben},
    {32, 64, ring}, {32, 4 * kKi, doubling}, {32, kAny, raben},
    {64, 128, ring}, {64, kAny, raben},
    {128, 256 * kKi, doubling}, {128, kAny, raben},
    {256, 128 * kKi, composed}, {256, 256 * kKi, doubling}, {256, kAny, raben},
    {512, 4 * kKi, composed}, {512, kAny, raben},
    {2048, 2 * kKi, composed}, {2048, 16 * kKi, doubling}, {2048, kAny, raben},
    {4096, 2 * kKi, composed}, {4096, 4 * kKi, ring}, {4096, 16 * kKi, doubling},
    {4096, kAny, raben},
    {kAnyRanks, 2 * kKi, composed}, {kAnyRanks, 16 * kKi, ring}, {kAnyRanks, 32 * kKi, doubling},
    {kAnyRanks, kAny, ring},
};
}  // namespace allreduce_rules

namespace alltoall_rules {
constexpr const Algorithm* linear = pick(kAlltoall, "linear");
constexpr const Algorithm* pairwise = pick(kAlltoall, "pairwise");
constexpr const Algorithm* bruck = pick(kAlltoall, "bruck");
constexpr Row kRows[] = {
    {2, kAny, linear},
    {3, 32 * kKi, pairwise}, {3, 256 * kKi, linear}, {3, kAny, pairwise},
    {8, 512 * kKi, linear}, {8, 1 * kMi, pairwise}, {8, kAny, linear},
    {16, kAny, linear},
    {32, 4, linear}, {32, 512, bruck}, {32, kAny, linear},
    {64, 512, bruck}, {64, kAny, linear},
    {256, 1 * kKi, bruck}, {256, 256 * kKi, linear}, {256, kAny, pairwise},
    {512, 1 * kKi, bruck}, {512, 32 * kKi, linear}, {512, kAny, pairwise},
    {1024, 512, bruck}, {1024, 256 * kKi, linear}, {1024, kAny, pairwise},
    {2048, 512, bruck}, {2048, kAny, linear},
    {4096, 1 * kKi, bruck}, {4096, kAny, linear},
    {8192, 2 * kKi, bruck}, {8192, kAny, linear},
    {kAnyRanks, kAny, pairwise},
};
}  // namespace alltoall_rules

namespace alltoallv_rules {
constexpr const Algorithm* linear = pick(kAlltoallv, "linear");
constexpr const Algorithm* pairwise = pick(kAlltoallv, "pairwise");
constexpr Row kRows[] = {
    {4, kAny, pairwise},
    {64, kAny, linear},
    {128, kAny, pairwise},
    {256, kAny, linear},
    {1024, kAny, pairwise},
    {8192, kAny, linear},
    {kAnyRanks, kAny, pairwise},
};
}  // namespace alltoallv_rules

namespace reduce_scatter_rules {
constexpr const Algorithm* composed = pick(kReduceScatter, "reduce_then_scatter");
constexpr const Algorithm* halving = pick(kReduceScatter, "recursive_halving");
constexpr const Algorithm* ring = pick(kReduceScatter, "ring");
constexpr const Algorithm* butterfly = pick(kReduceScatter, "butterfly");
constexpr Row kRows[] = {
    {4, 64 * kKi, ring}, {4, 128 * kKi, butterfly}, {4, kAny, ring},
    {8, 8, composed}, {8, 256 * kKi, halving}, {8, kAny, ring},
    {32, 256 * kKi, halving}, {32, kAny, ring},
    {64, 64, composed}, {64, 2 * kKi, halving}, {64, 512 * kKi, butterfly}, {64, kAny, ring},
    {128, 256, composed}, {128, 512, halving}, {128, 2 * kKi, butterfly}, {128, 4 * kKi, halving},
    {128, kAny, butterfly},
    {256, 256, composed}, {256, 512, halving}, {256, kAny, butterfly},
    {512, 256, composed}, {512, 1 * kKi, halving}, {512, kAny, butterfly},
    {1024, 512, composed}, {1024, 2 * kKi, halving}, {1024, 8 * kKi, butterfly},
    {1024, 16 * kKi, halving}, {1024, kAny, butterfly},
    {2048, 512, composed}, {2048, 4 * kKi, halving}, {2048, 16 * kKi, butterfly},
    {2048, 32 * kKi, halving}, {2048, kAny, butterfly},
    {4096, 512, composed}, {4096, 4 * kKi, halving}, {4096, kAny, butterfly},
    {8192, 1 * kKi, composed}, {8192, 8 * kKi, halving}, {8192, kAny, butterfly},
    {kAnyRanks, kAny, halving},
};
}  // namespace reduce_scatter_rules

namespace reduce_scatter_block_rules {
constexpr const Algorithm* composed = pick(kReduceScatter, "reduce_then_scatter");
constexpr const Algorithm* doubling = pick(kReduceScatter, "recursive_doubling");
constexpr const Algorithm* halving = pick(kReduceScatter, "recursive_halving");
constexpr const Algorithm* butterfly = pick(kReduceScatter, "butterfly");
constexpr Row kRows[] = {
    {4, 4, doubling}, {4, 8, butterfly}, {4, 16, halving}, {4, 128, butterfly}, {4, 256, halving},
    {4, 4 * kKi, butterfly}, {4, 8 * kKi, halving}, {4, 128 * kKi, butterfly}, {4, kAny, composed},
    {8, 8, halving}, {8, 32, doubling}, {8, 256, butterfly}, {8, 8 * kKi, halving},
    {8, 16 * kKi, butterfly}, {8, 1 * kMi, halving}, {8, kAny, composed},
    {16, 4, composed}, {16, 32, halving}, {16, 128, butterfly}, {16, 512 * kKi, halving},
    {16, 4 * kMi, composed}, {16, kAny, butterfly},
    {32, 32, composed}, {32, 512 * kKi, halving}, {32, 2 * kMi, composed}, {32, 4 * kMi, halving},
    {32, kAny, butterfly},
    {8192, 4, halving}, {8192, 16, composed}, {8192, 64 * kKi, butterfly},
    {8192, 256 * kKi, composed}, {8192, kAny, butterfly},
    {kAnyRanks, kAny, halving},
};
}  // namespace reduce_scatter_block_rules

// clang-format on

const Algorithm& look_up(std::span<const Row> rows, int ranks, std::uint64_t bytes) {
  for (const Row& row : rows)
    if (ranks < row.below_ranks && (bytes < row.below_bytes || row.below_bytes == kAny))
      return *row.algorithm;
  return *rows.back().algorithm;
}

bool fewer_elements_than(const CollectiveCall& call, int ranks) {
  return elements_of(call.bytes) < static_cast<std::uint64_t>(ranks);
}

// Some algorithms need an element for each rank that works, and hand over to
// another one where there are too few.
const Algorithm& allreduce(const CollectiveCall& call) {
  const Algorithm& algorithm = look_up(allreduce_rules::kRows, call.size, call.bytes.count);
  if (&algorithm == allreduce_rules::ring && fewer_elements_than(call, call.size))
    return *allreduce_rules::doubling;
  if (&algorithm == allreduce_rules::raben && fewer_elements_than(call, Fold(call.size).pof2))
    return *pick(kAllreduce, "linear");
  return algorithm;
}

const Algorithm& reduce(const CollectiveCall& call) {
  const Algorithm& algorithm = look_up(reduce_rules::kRows, call.size, call.bytes.count);
  if (&algorithm == reduce_rules::raben && fewer_elements_than(call, Fold(call.size).pof2))
    return *reduce_rules::linear;
  return algorithm;
}

const Algorithm& bcast(const CollectiveCall& call) {
  const Algorithm& algorithm = look_up(bcast_rules::kRows, call.size, call.bytes.count);
  if (&algorithm == bcast_rules::scatter_allgather && fewer_elements_than(call, call.size))
    return *bcast_rules::linear;
  return algorithm;
}

}  // namespace

const Algorithm& choose_openmpi(const CollectiveCall& call) {
  using machine::Cost;
  const auto by = [&](std::span<const Row> rows) -> const Algorithm& {
    return look_up(rows, call.size, call.bytes.count);
  };
  switch (call.collective) {
    case Cost::barrier:
      return by(barrier_rules::kRows);
    case Cost::bcast:
      return bcast(call);
    case Cost::scatter:
      return by(scatter_rules::kRows);
    case Cost::scatterv:
      return *pick(kScatterv, "linear");
    case Cost::gather:
      return by(gather_rules::kRows);
    case Cost::gatherv:
      return *pick(kGatherv, "linear");
    case Cost::reduce:
      return reduce(call);
    case Cost::allgather:
      return by(allgather_rules::kRows);
    case Cost::allgatherv:
      return by(allgatherv_rules::kRows);
    case Cost::alltoall:
      return by(alltoall_rules::kRows);
    case Cost::alltoallv:
      return by(alltoallv_rules::kRows);
    case Cost::alltoallw:
      return *pick(kAlltoallv, "linear");
    case Cost::allreduce:
      return allreduce(call);
    case Cost::reduce_scatter:
      return by(reduce_scatter_rules::kRows);
    case Cost::reduce_scatter_block:  // its rules go by one rank's part
      return look_up(reduce_scatter_block_rules::kRows, call.size,
                     call.bytes.count / static_cast<std::uint64_t>(call.size));
    case Cost::scan:
      return *pick(kScan, "linear");
    case Cost::exscan:
      return *pick(kExscan, "linear");
    case Cost::comm_split:
      return kCommSplit.front();
    default:
      return kCommCreate.front();
  }
}

}  // namespace foretrace::sim::collectives
