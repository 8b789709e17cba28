// What Open MPI 4.1 takes for non-blocking collectives: component coll/libnbc.
//
// By its sources and by what 4.1.4 was seen to send (docs/collectives.md), for commutative
// operations. Communicators are made as blocking calls make them.
#include <bit>

#include "sim/collectives/libraries.hpp"
#include "sim/collectives/registry.hpp"

namespace foretrace::sim::collectives {
namespace {

constexpr std::uint64_t kLong = 64 * 1024;

bool has_an_element_each(const CollectiveCall& call) {
  return elements_of(call.bytes) >= std::bit_floor(static_cast<unsigned>(call.size));
}

const Algorithm& reduce(const CollectiveCall& call) {
  if (call.size > 2 && has_an_element_each(call)) return *pick(kReduce, "rabenseifner");
  return call.size > 4 || call.bytes.count < kLong ? *pick(kReduce, "binomial")
                                                   : *pick(kReduce, "pipeline");
}

const Algorithm& allreduce(const CollectiveCall& call) {
  if (call.size < 4 || call.bytes.count < kLong) return *pick(kAllreduce, "binomial");
  return has_an_element_each(call) ? *pick(kAllreduce, "rabenseifner_split")
                                   : *pick(kAllreduce, "ring");
}

}  // namespace

const Algorithm& choose_openmpi_posted(const CollectiveCall& call) {
  using machine::Cost;
  switch (call.collective) {
    case Cost::barrier:
      return *pick(kBarrier, "dissemination");
    case Cost::bcast:
      return call.size <= 4 ? *pick(kBcast, "linear") : *pick(kBcast, "binomial_doubling");
    case Cost::scatter:
      return *pick(kScatter, "linear_posted");
    case Cost::scatterv:
      return *pick(kScatterv, "linear_posted");
    case Cost::gather:
      return *pick(kGather, "linear_posted");
    case Cost::gatherv:
      return *pick(kGatherv, "linear_posted");
    case Cost::reduce:
      return reduce(call);
    case Cost::allgather:
      return *pick(kAllgather, "linear");
    case Cost::allgatherv:
      return *pick(kAllgatherv, "linear");
    case Cost::alltoall:
      return *pick(kAlltoall, "linear");
    case Cost::alltoallv:
    case Cost::alltoallw:
      return *pick(kAlltoallv, "linear");
    case Cost::allreduce:
      return allreduce(call);
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return *pick(kReduceScatter, "binomial_linear");
    case Cost::scan:
      return *pick(kScan, "linear");
    case Cost::exscan:
      return *pick(kExscan, "linear");
    default:
      return choose_openmpi(call);
  }
}

}  // namespace foretrace::sim::collectives
