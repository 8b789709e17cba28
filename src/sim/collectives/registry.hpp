// The names of the algorithms, by collective.
//
// The one place that ties a name to its function; algorithms_for() and the
// libraries' tables are made from it, at compile time.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

inline constexpr std::array kBarrier{
    Algorithm{"linear", barrier_linear},
    Algorithm{"tree", barrier_tree},
    Algorithm{"recursive_doubling", barrier_recursive_doubling},
    Algorithm{"dissemination", barrier_dissemination},
};
inline constexpr std::array kBcast{
    Algorithm{"linear", bcast_linear},
    Algorithm{"chain", bcast_chain},
    Algorithm{"pipeline", bcast_pipeline},
    Algorithm{"binary", bcast_binary},
    Algorithm{"split_binary", bcast_split_binary},
    Algorithm{"binomial", bcast_binomial},
    Algorithm{"binomial_doubling", bcast_binomial_doubling},
    Algorithm{"knomial", bcast_knomial},
    Algorithm{"scatter_allgather", bcast_scatter_allgather},
    Algorithm{"scatter_allgather_ring", bcast_scatter_allgather_ring},
};
inline constexpr std::array kScatter{
    Algorithm{"linear", scatter_linear},
    Algorithm{"linear_posted", scatter_posted},
    Algorithm{"binomial", scatter_binomial},
};
inline constexpr std::array kScatterv{
    Algorithm{"linear", scatter_linear},
    Algorithm{"linear_posted", scatter_posted},
};
inline constexpr std::array kGather{
    Algorithm{"linear", gather_linear},
    Algorithm{"linear_posted", gather_posted},
    Algorithm{"linear_sync", gather_synchronised},
    Algorithm{"binomial", gather_binomial},
};
inline constexpr std::array kGatherv{
    Algorithm{"linear", gather_linear},
    Algorithm{"linear_posted", gather_posted},
};
inline constexpr std::array kReduce{
    Algorithm{"linear", reduce_linear},
    Algorithm{"chain", reduce_chain},
    Algorithm{"pipeline", reduce_pipeline},
    Algorithm{"binary", reduce_binary},
    Algorithm{"in_order_binary", reduce_in_order_binary},
    Algorithm{"binomial", reduce_binomial},
    Algorithm{"rabenseifner", reduce_rabenseifner},
};
inline constexpr std::array kAllgather{
    Algorithm{"recursive_doubling", allgather_recursive_doubling},
    Algorithm{"bruck", allgather_bruck},
    Algorithm{"ring", allgather_ring},
    Algorithm{"neighbour_exchange", allgather_neighbour_exchange},
    Algorithm{"gather_bcast", allgather_gather_bcast},
    Algorithm{"linear", allgather_linear},
};
inline constexpr std::array kAllgatherv{
    Algorithm{"recursive_doubling", allgather_recursive_doubling},
    Algorithm{"bruck", allgather_bruck},
    Algorithm{"ring", allgather_ring},
    Algorithm{"pipelined_ring", allgather_pipelined_ring},
    Algorithm{"neighbour_exchange", allgather_neighbour_exchange},
    Algorithm{"gather_bcast", allgather_gather_bcast},
    Algorithm{"linear", allgather_linear},
};
inline constexpr std::array kAllreduce{
    Algorithm{"linear", allreduce_linear},
    Algorithm{"recursive_doubling", allreduce_recursive_doubling},
    Algorithm{"ring", allreduce_ring},
    Algorithm{"segmented_ring", allreduce_segmented_ring},
    Algorithm{"rabenseifner", allreduce_rabenseifner},
    Algorithm{"rabenseifner_split", allreduce_rabenseifner_split},
    Algorithm{"reduce_bcast", allreduce_reduce_bcast},
    Algorithm{"binomial", allreduce_binomial},
};
inline constexpr std::array kAlltoall{
    Algorithm{"linear", alltoall_linear},
    Algorithm{"scattered", alltoall_scattered},
    Algorithm{"pairwise", alltoall_pairwise},
    Algorithm{"pairwise_exchange", alltoall_pairwise_exchange},
    Algorithm{"bruck", alltoall_bruck},
};
inline constexpr std::array kAlltoallv{
    Algorithm{"linear", alltoall_linear},
    Algorithm{"scattered", alltoall_scattered},
    Algorithm{"pairwise", alltoall_pairwise},
    Algorithm{"pairwise_exchange", alltoall_pairwise_exchange},
};
inline constexpr std::array kReduceScatter{
    Algorithm{"recursive_halving", reduce_scatter_recursive_halving},
    Algorithm{"recursive_doubling", reduce_scatter_recursive_doubling},
    Algorithm{"pairwise", reduce_scatter_pairwise},
    Algorithm{"ring", reduce_scatter_ring},
    Algorithm{"butterfly", reduce_scatter_butterfly},
    Algorithm{"reduce_then_scatter", reduce_scatter_reduce_then_scatter},
    Algorithm{"binomial_linear", reduce_scatter_binomial_linear},
};
inline constexpr std::array kScan{
    Algorithm{"linear", scan_linear},
    Algorithm{"recursive_doubling", scan_recursive_doubling},
};
inline constexpr std::array kExscan{
    Algorithm{"linear", exscan_linear},
    Algorithm{"recursive_doubling", exscan_recursive_doubling},
};
inline constexpr std::array kCommCreate{
    Algorithm{"allreduce", comm_allreduce},
};
inline constexpr std::array kCommSplit{
    Algorithm{"allgather_allreduce", comm_allgather_allreduce},
};

// The algorithm of that name; a name that is not there does not compile.
template <std::size_t N>
consteval const Algorithm* pick(const std::array<Algorithm, N>& algorithms, std::string_view name) {
  for (const Algorithm& algorithm : algorithms)
    if (algorithm.name == name) return &algorithm;
  throw std::logic_error("no such algorithm");
}

}  // namespace foretrace::sim::collectives
