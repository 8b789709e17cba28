// Virtual topologies: Cartesian grids, graphs, distributed graphs.
//
// A topology never renumbers: the new communicator's ranks are those of the old.
#pragma once

#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// The communicator of the first `size` members of `comm`, by one collective; on
// the others nullptr.
Comm* create_of_first(Comm& comm, int size);

// Rank of coordinates that are in range, in row-major order.
int rank_at(const Cartesian& grid, const std::vector<int>& coords);
std::vector<int> coords_of(const Cartesian& grid, int rank);

// Number of processes in `dims` (products are checked against `limit`); -1 if a
// dimension is not positive or there are more than `limit`.
long long grid_size(int ndims, const int dims[], long long limit);

// Raises MPI_ERR_RANK: `rank` is none of the communicator's.
int raise_rank(Comm* comm, int rank);

// As many of `from` as there is room for.
void copy_some(const std::vector<int>& from, int room, int* to);

}  // namespace foretrace::mpi
