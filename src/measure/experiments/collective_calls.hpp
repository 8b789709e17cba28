// The collective calls with everything that they need, in their blocking and
// their non-blocking form, for the experiments that make them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {

struct CollectiveCall {
  std::string name;
  bool rooted;         // root is rank 0
  std::uint64_t sent;  // bytes of this rank
  std::uint64_t received;
  std::function<void()> call;
  std::function<void(MPI_Request*)> post;
};

// bcast gather scatter allgather alltoall reduce allreduce. The reductions are
// sums of doubles and there only where `bytes` is a multiple of 8.
std::vector<CollectiveCall> usual_calls(const Group& group, std::uint64_t bytes, Buffers& buffers);
// gatherv scatterv allgatherv alltoallv, with equal parts, reduce_scatter scan exscan.
std::vector<CollectiveCall> other_calls(const Group& group, std::uint64_t bytes, Buffers& buffers);
CollectiveCall reduce_scatter_block_call(const Group& group, std::uint64_t bytes, Buffers& buffers);
CollectiveCall barrier_call(const Group& group);

}  // namespace foretrace::measure
