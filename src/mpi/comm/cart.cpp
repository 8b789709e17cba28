// Cartesian grids.
#include <string>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/topology.hpp"

namespace foretrace::mpi {

Comm* create_of_first(Comm& comm, int size) {
  const bool inside = comm.rank < size;
  Split made =
      split({.comm = &comm, .cost = machine::Cost::comm_create}, inside ? 0 : -1, comm.rank);
  if (!inside) return nullptr;
  Group* group = size == comm.size() ? retain(comm.group) : make_group(std::move(made.members));
  return make_comm(&comm, made.context, group);
}

int rank_at(const Cartesian& grid, const std::vector<int>& coords) {
  int rank = 0;
  for (std::size_t i = 0; i < grid.dims.size(); ++i) rank = rank * grid.dims[i] + coords[i];
  return rank;
}

std::vector<int> coords_of(const Cartesian& grid, int rank) {
  std::vector<int> coords(grid.dims.size());
  for (std::size_t i = coords.size(); i-- > 0;) {
    coords[i] = rank % grid.dims[i];
    rank /= grid.dims[i];
  }
  return coords;
}

long long grid_size(int ndims, const int dims[], long long limit) {
  long long size = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] <= 0) return -1;
    size *= dims[i];
    if (size > limit) return -1;
  }
  return size;
}

namespace {

int raise_no_grid(Comm* comm) {
  return comm ? raise(comm, MPI_ERR_TOPOLOGY, "no Cartesian topology") : raise_no_comm();
}

Comm* find_grid(MPI_Comm handle) {
  Comm* comm = get(handle);
  return comm && comm->cartesian ? comm : nullptr;
}

// Checks what MPI_Cart_create and MPI_Cart_map are given.
int check_grid(Comm* comm, int ndims, const int dims[], const int periods[]) {
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (ndims < 0) return raise(comm, MPI_ERR_DIMS, std::to_string(ndims) + " dimensions");
  if (ndims > 0 && (!dims || !periods)) return raise(comm, MPI_ERR_ARG, "null pointer");
  if (grid_size(ndims, dims, comm->size()) < 0) {
    std::string text = "dimensions";
    for (int i = 0; i < ndims; ++i) text += (i ? " x " : " ") + std::to_string(dims[i]);
    return raise(comm, MPI_ERR_ARG, text + " on " + std::to_string(comm->size()) + " processes");
  }
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int,
                MPI_Comm* comm_cart) {
  Comm* comm = get(comm_old);
  if (!comm) return raise_no_comm();
  *comm_cart = MPI_COMM_NULL;
  if (const int error = check_grid(comm, ndims, dims, periods)) return error;
  const int size = static_cast<int>(grid_size(ndims, dims, comm->size()));
  Comm* made = create_of_first(*comm, size);
  if (made) {
    made->cartesian = std::make_unique<Cartesian>();
    Cartesian& grid = *made->cartesian;
    for (int i = 0; i < ndims; ++i) {
      grid.dims.push_back(dims[i]);
      grid.periods.push_back(periods[i] ? 1 : 0);
    }
    grid.coords = coords_of(grid, made->rank);
  }
  *comm_cart = handle_of(made);
  return MPI_SUCCESS;
}

int Cart_sub(MPI_Comm handle, const int remain_dims[], MPI_Comm* newcomm) {
  Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  const Cartesian& grid = *comm->cartesian;
  auto left = std::make_unique<Cartesian>();
  // The dropped coordinates tell the grids apart, the others the members.
  int colour = 0, key = 0;
  for (std::size_t i = 0; i < grid.dims.size(); ++i) {
    if (remain_dims[i]) {
      key = key * grid.dims[i] + grid.coords[i];
      left->dims.push_back(grid.dims[i]);
      left->periods.push_back(grid.periods[i]);
      left->coords.push_back(grid.coords[i]);
    } else {
      colour = colour * grid.dims[i] + grid.coords[i];
    }
  }
#ifdef MPICH
  // Of grids without dimensions it makes only the first process's.
  if (left->dims.empty()) colour = key = comm->group->rank == 0 ? 0 : -1;
#endif
  Split made = split({.comm = comm, .cost = machine::Cost::comm_split}, colour, key);
  *newcomm = MPI_COMM_NULL;
  if (made.members.empty()) return MPI_SUCCESS;
  Comm* part = make_comm(comm, made.context, make_group(std::move(made.members)));
  part->cartesian = std::move(left);
  *newcomm = handle_of(part);
  return MPI_SUCCESS;
}

int Cartdim_get(MPI_Comm handle, int* ndims) {
  const Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  *ndims = static_cast<int>(comm->cartesian->dims.size());
  return MPI_SUCCESS;
}

int Cart_get(MPI_Comm handle, int maxdims, int dims[], int periods[], int coords[]) {
  const Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  const Cartesian& grid = *comm->cartesian;
  for (std::size_t i = 0; i < grid.dims.size() && static_cast<int>(i) < maxdims; ++i) {
    dims[i] = grid.dims[i];
    periods[i] = grid.periods[i];
    coords[i] = grid.coords[i];
  }
  return MPI_SUCCESS;
}

int Cart_rank(MPI_Comm handle, const int coords[], int* rank) {
  Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  const Cartesian& grid = *comm->cartesian;
  std::vector<int> inside(grid.dims.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const int size = grid.dims[i];
    if (!grid.periods[i] && (coords[i] < 0 || coords[i] >= size)) {
      return raise(comm, MPI_ERR_ARG,
                   "coordinate " + std::to_string(coords[i]) + " in dimension " +
                       std::to_string(i) + ", expected 0 to " + std::to_string(size - 1));
    }
    inside[i] = (coords[i] % size + size) % size;
  }
  *rank = rank_at(grid, inside);
  return MPI_SUCCESS;
}

int Cart_coords(MPI_Comm handle, int rank, int maxdims, int coords[]) {
  Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  if (rank < 0 || rank >= comm->size()) return raise_rank(comm, rank);
  if (maxdims < static_cast<int>(comm->cartesian->dims.size())) {
    return raise(comm, MPI_ERR_DIMS,
                 "room for " + std::to_string(maxdims) + " of " +
                     std::to_string(comm->cartesian->dims.size()) + " coordinates");
  }
  const std::vector<int> all = coords_of(*comm->cartesian, rank);
  for (std::size_t i = 0; i < all.size(); ++i) coords[i] = all[i];
  return MPI_SUCCESS;
}

int Cart_shift(MPI_Comm handle, int direction, int disp, int* rank_source, int* rank_dest) {
  Comm* comm = find_grid(handle);
  if (!comm) return raise_no_grid(get(handle));
  const Cartesian& grid = *comm->cartesian;
  const auto dimension = static_cast<std::size_t>(direction);
  if (dimension >= grid.dims.size()) {
    return raise(comm, MPI_ERR_ARG,
                 "direction " + std::to_string(direction) + " in " +
                     std::to_string(grid.dims.size()) + " dimensions");
  }
  const auto neighbour = [&](long long distance) -> int {
    const long long size = grid.dims[dimension];
    long long place = grid.coords[dimension] + distance;
    if (!grid.periods[dimension] && (place < 0 || place >= size)) return MPI_PROC_NULL;
    place = (place % size + size) % size;
    std::vector<int> coords = grid.coords;
    coords[dimension] = static_cast<int>(place);
    return rank_at(grid, coords);
  };
  *rank_source = neighbour(-static_cast<long long>(disp));
  *rank_dest = neighbour(disp);
  return MPI_SUCCESS;
}

int Cart_map(MPI_Comm handle, int ndims, const int dims[], const int periods[], int* newrank) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (const int error = check_grid(comm, ndims, dims, periods)) return error;
  *newrank = comm->rank < grid_size(ndims, dims, comm->size()) ? comm->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Topo_test(MPI_Comm handle, int* status) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  *status = comm->cartesian    ? MPI_CART
            : comm->graph      ? MPI_GRAPH
            : comm->neighbours ? MPI_DIST_GRAPH
                               : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
