// The default choices of MPICH 4.0.
//
// As in the selection that MPICH 4.0 is built with
// (maint/tuning/coll/mpir/generic.json), for communicators that are not split
// by node, commutative built-in operations, buffers not in place.
#include "sim/collectives/libraries.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/registry.hpp"

namespace foretrace::sim::collectives {
namespace {

constexpr std::uint64_t kShortBcast = 12288;
constexpr std::uint64_t kLongBcast = 524288;
constexpr int kFewRanks = 8;
constexpr std::uint64_t kShortAllreduce = 8;
constexpr std::uint64_t kShortPostedAllreduce = 2048;  // MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE
constexpr std::uint64_t kShortReduce = 2048;
constexpr std::uint64_t kLongAllgather = 524288;
constexpr std::uint64_t kShortAllgather = 81920;
constexpr std::uint64_t kLongReduceScatter = 524288;
constexpr std::uint64_t kShortAlltoall = 256;
constexpr std::uint64_t kLongAlltoall = 32768;

const Algorithm& chosen_bcast(const CollectiveCall& call) {
  const std::uint64_t d = call.bytes.count;
  if (call.size < kFewRanks || d <= kShortBcast) return *pick(kBcast, "binomial");
  if (is_power_of_two(call.size) && d <= kLongBcast) return *pick(kBcast, "scatter_allgather");
  return *pick(kBcast, "scatter_allgather_ring");
}

// Of allgather and allgatherv, whose rings differ.
const Algorithm& allgather(const CollectiveCall& call, const Algorithm& ring) {
  const std::uint64_t total = call.bytes.count * static_cast<std::uint64_t>(call.size);
  if (is_power_of_two(call.size))
    return total < kLongAllgather ? *pick(kAllgather, "recursive_doubling") : ring;
  return total < kShortAllgather ? *pick(kAllgather, "bruck") : ring;
}

// Too short to be halved down to one rank's part.
bool fewer_elements_than_ranks(const CollectiveCall& call) {
  return elements_of(call.bytes) < static_cast<std::uint64_t>(Fold(call.size).pof2);
}

const Algorithm& alltoall(const CollectiveCall& call) {
  const std::uint64_t d = call.bytes.count;
  if (call.size >= kFewRanks && d <= kShortAlltoall) return *pick(kAlltoall, "bruck");
  return d <= kLongAlltoall ? *pick(kAlltoall, "scattered") : *pick(kAlltoall, "pairwise_exchange");
}

}  // namespace

const Algorithm& choose_mpich(const CollectiveCall& call) {
  using machine::Cost;
  const std::uint64_t d = call.bytes.count;
  switch (call.collective) {
    case Cost::barrier:
      return *pick(kBarrier, "dissemination");
    case Cost::bcast:
      return chosen_bcast(call);
    case Cost::scatter:
      return *pick(kScatter, "binomial");
    case Cost::scatterv:
      return *pick(kScatterv, "linear_posted");
    case Cost::gather:
      return *pick(kGather, "binomial");
    case Cost::gatherv:
      return *pick(kGatherv, "linear_posted");
    case Cost::reduce:
      return d <= kShortReduce || fewer_elements_than_ranks(call) ? *pick(kReduce, "binomial")
                                                                  : *pick(kReduce, "rabenseifner");
    case Cost::allgather:
      return allgather(call, *pick(kAllgather, "ring"));
    case Cost::allgatherv:
      return allgather(call, *pick(kAllgatherv, "pipelined_ring"));
    case Cost::alltoall:
      return alltoall(call);
    case Cost::alltoallv:
    case Cost::alltoallw:
      return *pick(kAlltoallv, "scattered");
    case Cost::allreduce:
      return d <= (call.posted ? kShortPostedAllreduce : kShortAllreduce) ||
                     fewer_elements_than_ranks(call)
                 ? *pick(kAllreduce, "recursive_doubling")
                 : *pick(kAllreduce, "rabenseifner");
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return d < kLongReduceScatter ? *pick(kReduceScatter, "recursive_halving")
                                    : *pick(kReduceScatter, "pairwise");
    case Cost::scan:
      return *pick(kScan, "recursive_doubling");
    case Cost::exscan:
      return *pick(kExscan, "recursive_doubling");
    case Cost::comm_split:
      return kCommSplit.front();
    default:
      return kCommCreate.front();
  }
}

}  // namespace foretrace::sim::collectives
