// Collectives that libraries make of others: one after the other.
#include <array>

#include "sim/collectives/libraries.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

using machine::Cost;

struct Part {
  StepFunction function;
  CollectiveCall call;
};

// How many steps a rank has in it. The number is searched for: parts are cheap
// to ask and few.
std::uint32_t count_steps(const Part& part) {
  Step step;
  std::uint32_t above = 1;
  while (part.function(part.call, above - 1, step)) above *= 2;
  std::uint32_t below = above / 2;  // has so many at least, fewer than `above`
  while (above - below > 1) {
    const std::uint32_t middle = below + (above - below) / 2;
    (part.function(part.call, middle - 1, step) ? below : above) = middle;
  }
  return below;
}

// What is posted in one part is completed before the next.
bool ends_posted(const Part& part, std::uint32_t steps) {
  Step step;
  return steps > 0 && part.function(part.call, steps - 1, step) &&
         step.kind != Step::Kind::exchange && step.kind != Step::Kind::wait_all;
}

bool one_after_the_other(const Part& first, const Part& second, std::uint32_t index, Step& step) {
  if (first.function(first.call, index, step)) return true;
  std::uint32_t before = count_steps(first);
  if (ends_posted(first, before)) {
    if (index == before) return wait_all(step);
    ++before;
  }
  return second.function(second.call, index - before, step);
}

CollectiveCall as(const CollectiveCall& call, Cost collective, std::uint64_t bytes) {
  return {collective, call.size, call.rank, 0, Bytes(bytes)};
}

// As the tables of Open MPI have it, the only one to compose collectives so.
// Asked for every step, mostly of the same collective on many ranks: the last
// choice for each collective is remembered.
Part by_table(const CollectiveCall& call, Cost collective, std::uint64_t bytes) {
  struct Choice {
    int size = 0;
    Bytes bytes;
    StepFunction function = nullptr;
  };
  thread_local std::array<Choice, static_cast<std::size_t>(Cost::kCount)> last;
  const CollectiveCall inner = as(call, collective, bytes);
  Choice& choice = last[static_cast<std::size_t>(collective)];
  if (choice.size != inner.size || choice.bytes != inner.bytes)
    choice = {inner.size, inner.bytes, choose_openmpi(inner).step};
  return {choice.function, inner};
}

}  // namespace

bool allgather_gather_bcast(const CollectiveCall& call, std::uint32_t index, Step& step) {
  Part gather{gather_linear, as(call, Cost::gatherv, call.bytes.count)};
  gather.call.counts = call.counts;
  const Part bcast = by_table(call, Cost::bcast, parts(call, 0, call.size));
  return one_after_the_other(gather, bcast, index, step);
}

bool allreduce_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  return one_after_the_other({reduce_linear, as(call, Cost::reduce, d)},
                             {bcast_linear, as(call, Cost::bcast, d)}, index, step);
}

bool allreduce_binomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  return one_after_the_other({reduce_binomial, as(call, Cost::reduce, d)},
                             {bcast_binomial_doubling, as(call, Cost::bcast, d)}, index, step);
}

bool allreduce_reduce_bcast(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  return one_after_the_other(by_table(call, Cost::reduce, d), by_table(call, Cost::bcast, d), index,
                             step);
}

bool reduce_scatter_reduce_then_scatter(const CollectiveCall& call, std::uint32_t index,
                                        Step& step) {
  const std::uint64_t d = call.bytes.count;
  const bool regular = call.collective == Cost::reduce_scatter_block;
  Part scatter = by_table(call, regular ? Cost::scatter : Cost::scatterv,
                          d / static_cast<std::uint64_t>(call.size));
  scatter.call.counts = call.counts;
  return one_after_the_other(by_table(call, Cost::reduce, d), scatter, index, step);
}

bool reduce_scatter_binomial_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  Part scatter{scatter_posted, as(call, Cost::scatterv, d / static_cast<std::uint64_t>(call.size))};
  scatter.call.counts = call.counts;
  return one_after_the_other({reduce_binomial, as(call, Cost::reduce, d)}, scatter, index, step);
}

// All agree on the number of the new communicator: one integer of 4 bytes.
bool comm_allreduce(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return allreduce_recursive_doubling(as(call, Cost::allreduce, 4), index, step);
}

// All tell all colour and key, 4 bytes each, before they agree.
bool comm_allgather_allreduce(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return one_after_the_other({allgather_recursive_doubling, as(call, Cost::allgather, 8)},
                             {allreduce_recursive_doubling, as(call, Cost::allreduce, 4)}, index,
                             step);
}

}  // namespace foretrace::sim::collectives
