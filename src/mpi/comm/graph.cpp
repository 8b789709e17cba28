// Graphs that every process knows whole.
#include <algorithm>
#include <string>

#include "live_impl.hpp"
#include "mpi/comm/topology.hpp"

namespace foretrace::mpi {
namespace {

int raise_no_graph(Comm* comm) {
  return comm ? raise(comm, MPI_ERR_TOPOLOGY, "no graph topology") : raise_no_comm();
}

Comm* find_graph(MPI_Comm handle) {
  Comm* comm = get(handle);
  return comm && comm->graph ? comm : nullptr;
}

int check_graph(Comm* comm, int nnodes, const int index[], const int edges[]) {
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (nnodes < 0 || nnodes > comm->size()) {
    return raise(
        comm, MPI_ERR_ARG,
        std::to_string(nnodes) + " nodes on " + std::to_string(comm->size()) + " processes");
  }
  if (nnodes > 0 && (!index || (!edges && index[nnodes - 1] > 0))) {
    return raise(comm, MPI_ERR_ARG, "null pointer");
  }
  for (int i = 0; i < nnodes; ++i) {
    if (index[i] < (i ? index[i - 1] : 0)) {
      return raise(comm, MPI_ERR_ARG,
                   "index " + std::to_string(i) + " is less than the one before");
    }
  }
  for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; ++i) {
    if (edges[i] < 0 || edges[i] >= nnodes) {
      return raise(comm, MPI_ERR_ARG,
                   "edge to node " + std::to_string(edges[i]) + " of " + std::to_string(nnodes));
    }
  }
  return MPI_SUCCESS;
}

struct Range {
  int begin, end;
};
Range edges_of(const Graph& graph, int rank) {
  const auto place = static_cast<std::size_t>(rank);
  return {rank > 0 ? graph.index[place - 1] : 0, graph.index[place]};
}

}  // namespace

int raise_rank(Comm* comm, int rank) {
  return raise(
      comm, MPI_ERR_RANK,
      "rank " + std::to_string(rank) + ", expected 0 to " + std::to_string(comm->size() - 1));
}

void copy_some(const std::vector<int>& from, int room, int* to) {
  const auto count = std::min(from.size(), static_cast<std::size_t>(std::max(room, 0)));
  std::copy_n(from.begin(), count, to);
}

namespace impl {

int Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int,
                 MPI_Comm* comm_graph) {
  Comm* comm = get(comm_old);
  if (!comm) return raise_no_comm();
  if (const int error = check_graph(comm, nnodes, index, edges)) return error;
  Comm* made = create_of_first(*comm, nnodes);
  if (made) {
    made->graph = std::make_unique<Graph>();
    made->graph->index.assign(index, index + nnodes);
    const int count = nnodes > 0 ? index[nnodes - 1] : 0;
    if (count > 0) made->graph->edges.assign(edges, edges + count);
  }
  *comm_graph = handle_of(made);
  return MPI_SUCCESS;
}

int Graphdims_get(MPI_Comm handle, int* nnodes, int* nedges) {
  const Comm* comm = find_graph(handle);
  if (!comm) return raise_no_graph(get(handle));
  *nnodes = static_cast<int>(comm->graph->index.size());
  *nedges = static_cast<int>(comm->graph->edges.size());
  return MPI_SUCCESS;
}

int Graph_get(MPI_Comm handle, int maxindex, int maxedges, int index[], int edges[]) {
  const Comm* comm = find_graph(handle);
  if (!comm) return raise_no_graph(get(handle));
  copy_some(comm->graph->index, maxindex, index);
  copy_some(comm->graph->edges, maxedges, edges);
  return MPI_SUCCESS;
}

int Graph_neighbors_count(MPI_Comm handle, int rank, int* nneighbors) {
  Comm* comm = find_graph(handle);
  if (!comm) return raise_no_graph(get(handle));
  if (rank < 0 || rank >= comm->size()) return raise_rank(comm, rank);
  const Range range = edges_of(*comm->graph, rank);
  *nneighbors = range.end - range.begin;
  return MPI_SUCCESS;
}

int Graph_neighbors(MPI_Comm handle, int rank, int maxneighbors, int neighbors[]) {
  Comm* comm = find_graph(handle);
  if (!comm) return raise_no_graph(get(handle));
  if (rank < 0 || rank >= comm->size()) return raise_rank(comm, rank);
  const Range range = edges_of(*comm->graph, rank);
  for (int i = range.begin; i < range.end && i - range.begin < maxneighbors; ++i) {
    neighbors[i - range.begin] = comm->graph->edges[static_cast<std::size_t>(i)];
  }
  return MPI_SUCCESS;
}

int Graph_map(MPI_Comm handle, int nnodes, const int index[], const int edges[], int* newrank) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (const int error = check_graph(comm, nnodes, index, edges)) return error;
  *newrank = comm->rank < nnodes ? comm->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
