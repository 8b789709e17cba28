// The step functions, by algorithm family; one family is one .cpp file.
//
// registry.hpp gives them their names. Sources and message counts stand in
// docs/collectives.md.
#pragma once

#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim::collectives {

// The size of the pieces of the pipelines, and the most of a block that the
// segmented ring sends at once.
inline constexpr std::uint64_t kPipelinePiece = 64 * 1024;
inline constexpr std::uint64_t kRingPiece = 1024 * 1024;
// The least piece of the pipelined ring.
inline constexpr std::uint64_t kAllgathervPiece = 32 * 1024;
// Posted at a time by the scattered all-to-all, each way.
inline constexpr int kScatteredWindow = 32;
// Children of a node in one round of the k-nomial tree are one fewer.
inline constexpr int kRadix = 4;

// linear.cpp
bool barrier_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool scatter_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool scatter_posted(const CollectiveCall& call, std::uint32_t index, Step& step);
bool gather_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool gather_posted(const CollectiveCall& call, std::uint32_t index, Step& step);
bool gather_synchronised(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool scan_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool exscan_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allgather_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool alltoall_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool alltoall_scattered(const CollectiveCall& call, std::uint32_t index, Step& step);

// binomial.cpp: the tree in which a rank's parent lacks its lowest bit
bool barrier_tree(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_binomial(const CollectiveCall& call, std::uint32_t index, Step& step);
bool scatter_binomial(const CollectiveCall& call, std::uint32_t index, Step& step);
bool gather_binomial(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_binomial(const CollectiveCall& call, std::uint32_t index, Step& step);

// tree.cpp: other trees
bool bcast_binomial_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_binary(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_split_binary(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_knomial(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_binary(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_in_order_binary(const CollectiveCall& call, std::uint32_t index, Step& step);

// pipeline.cpp: a chain of all ranks, whole or in pieces
bool bcast_chain(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_pipeline(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_chain(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_pipeline(const CollectiveCall& call, std::uint32_t index, Step& step);

// scatter_allgather.cpp
bool bcast_scatter_allgather(const CollectiveCall& call, std::uint32_t index, Step& step);
bool bcast_scatter_allgather_ring(const CollectiveCall& call, std::uint32_t index, Step& step);

// dissemination.cpp, neighbour_exchange.cpp, bruck.cpp
bool barrier_dissemination(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allgather_neighbour_exchange(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allgather_bruck(const CollectiveCall& call, std::uint32_t index, Step& step);
bool alltoall_bruck(const CollectiveCall& call, std::uint32_t index, Step& step);

// pairwise.cpp
bool alltoall_pairwise(const CollectiveCall& call, std::uint32_t index, Step& step);
bool alltoall_pairwise_exchange(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_pairwise(const CollectiveCall& call, std::uint32_t index, Step& step);

// recursive_doubling.cpp
bool barrier_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allgather_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool scan_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);
bool exscan_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step);

// recursive_halving.cpp
bool reduce_scatter_recursive_halving(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_butterfly(const CollectiveCall& call, std::uint32_t index, Step& step);

// rabenseifner.cpp
bool allreduce_rabenseifner(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_rabenseifner_split(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_rabenseifner(const CollectiveCall& call, std::uint32_t index, Step& step);

// ring.cpp
bool allgather_ring(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allgather_pipelined_ring(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_ring(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_segmented_ring(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t index, Step& step);

// composite.cpp: one collective after another
bool allgather_gather_bcast(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_binomial(const CollectiveCall& call, std::uint32_t index, Step& step);
bool allreduce_reduce_bcast(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_binomial_linear(const CollectiveCall& call, std::uint32_t index, Step& step);
bool reduce_scatter_reduce_then_scatter(const CollectiveCall& call, std::uint32_t index,
                                        Step& step);
bool comm_allreduce(const CollectiveCall& call, std::uint32_t index, Step& step);
bool comm_allgather_allreduce(const CollectiveCall& call, std::uint32_t index, Step& step);

}  // namespace foretrace::sim::collectives
