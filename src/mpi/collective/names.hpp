// Open MPI 4.1 has the persistent collectives of MPI 4 as extensions: MPIX_X_init,
// which live_impl.hpp calls X_X_init. The sources define both under MPI's name.
#pragma once

#include "live_impl.hpp"

#if MPI_VERSION < 4
#define Allgather_init X_Allgather_init
#define Allgatherv_init X_Allgatherv_init
#define Allreduce_init X_Allreduce_init
#define Alltoall_init X_Alltoall_init
#define Alltoallv_init X_Alltoallv_init
#define Alltoallw_init X_Alltoallw_init
#define Barrier_init X_Barrier_init
#define Bcast_init X_Bcast_init
#define Exscan_init X_Exscan_init
#define Gather_init X_Gather_init
#define Gatherv_init X_Gatherv_init
#define Neighbor_allgather_init X_Neighbor_allgather_init
#define Neighbor_allgatherv_init X_Neighbor_allgatherv_init
#define Neighbor_alltoall_init X_Neighbor_alltoall_init
#define Neighbor_alltoallv_init X_Neighbor_alltoallv_init
#define Neighbor_alltoallw_init X_Neighbor_alltoallw_init
#define Reduce_init X_Reduce_init
#define Reduce_scatter_init X_Reduce_scatter_init
#define Reduce_scatter_block_init X_Reduce_scatter_block_init
#define Scan_init X_Scan_init
#define Scatter_init X_Scatter_init
#define Scatterv_init X_Scatterv_init
#endif
