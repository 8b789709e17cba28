// Graphs of which each process knows its own edges.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/comm/topology.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/info.hpp"

namespace foretrace::mpi {
namespace {

struct Edge {
  int source, destination, weight;
};

// Weights that are given; none are where an empty list has the header's mark.
bool has_weights(const int* weights) {
  return weights != MPI_UNWEIGHTED;
}

// Checks ranks and weights of one list.
int check_list(Comm* comm, int count, const int ranks[], const int weights[]) {
  if (count < 0) return raise(comm, MPI_ERR_ARG, std::to_string(count) + " neighbours");
  if (count > 0 && (!ranks || !weights || weights == MPI_WEIGHTS_EMPTY)) {
    return raise(comm, MPI_ERR_ARG, "null pointer");
  }
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm->size()) {
      return raise(comm, MPI_ERR_ARG,
                   "neighbour " + std::to_string(ranks[i]) + ", expected 0 to " +
                       std::to_string(comm->size() - 1));
    }
    if (has_weights(weights) && weights[i] < 0) {
      return raise(comm, MPI_ERR_ARG, "weight " + std::to_string(weights[i]));
    }
  }
  return MPI_SUCCESS;
}

int raise_no_dist_graph(Comm* comm) {
  return comm ? raise(comm, MPI_ERR_TOPOLOGY, "no distributed graph topology") : raise_no_comm();
}

Comm* find_dist_graph(MPI_Comm handle) {
  Comm* comm = get(handle);
  return comm && comm->neighbours ? comm : nullptr;
}

void assign(std::vector<int>& ranks, std::vector<int>& ranks_weights, int count, const int* from,
            const int* weights) {
  if (count <= 0) return;
  ranks.assign(from, from + count);
  if (has_weights(weights)) ranks_weights.assign(weights, weights + count);
}

// One member's contribution: the context (member 0's), then its edges.
Block lay_down(ContextId context, const std::vector<Edge>& edges) {
  Block block(sizeof context + edges.size() * sizeof(Edge));
  std::memcpy(block.data(), &context, sizeof context);
  if (!edges.empty()) {
    std::memcpy(block.data() + sizeof context, edges.data(), edges.size() * sizeof(Edge));
  }
  return block;
}

// Calls visit(edge) for all edges in a contribution.
template <class Visit>
void for_each_edge(std::span<const std::byte> bytes, const Visit& visit) {
  Edge edge;
  for (std::size_t at = sizeof(ContextId); at + sizeof edge <= bytes.size(); at += sizeof edge) {
    std::memcpy(&edge, bytes.data() + at, sizeof edge);
    visit(edge);
  }
}

// What all members said of this one, in the order of the members.
std::unique_ptr<Neighbours> find_own(const Gathered& gathered, const Comm& comm, bool weighted) {
  auto own = std::make_unique<Neighbours>();
  own->weighted = weighted;
  for (int member = 0; member < comm.size(); ++member) {
    for_each_edge(gathered.of(member), [&](const Edge& edge) {
      if (edge.destination == comm.rank) {
        own->sources.push_back(edge.source);
        if (weighted) own->source_weights.push_back(edge.weight);
      }
      if (edge.source == comm.rank) {
        own->destinations.push_back(edge.destination);
        if (weighted) own->destination_weights.push_back(edge.weight);
      }
    });
  }
  return own;
}

}  // namespace

namespace impl {

int Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                               const int sourceweights[], int outdegree, const int destinations[],
                               const int destweights[], MPI_Info info, int,
                               MPI_Comm* comm_dist_graph) {
  Comm* comm = get(comm_old);
  if (!comm) return raise_no_comm();
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (const int error = check_list(comm, indegree, sources, sourceweights)) return error;
  if (const int error = check_list(comm, outdegree, destinations, destweights)) return error;
  Comm* made = create_of_first(*comm, comm->size());
  made->info = copy_of(get(info));
  made->neighbours = std::make_unique<Neighbours>();
  Neighbours& own = *made->neighbours;
  own.weighted = has_weights(sourceweights) && has_weights(destweights);
  assign(own.sources, own.source_weights, indegree, sources, sourceweights);
  assign(own.destinations, own.destination_weights, outdegree, destinations, destweights);
  *comm_dist_graph = handle_of(made);
  return MPI_SUCCESS;
}

int Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int,
                      MPI_Comm* comm_dist_graph) {
  Comm* comm = get(comm_old);
  if (!comm) return raise_no_comm();
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (const int error = check_list(comm, n, sources, MPI_UNWEIGHTED)) return error;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return raise(comm, MPI_ERR_ARG, "degree " + std::to_string(degrees[i]));
    count += degrees[i];
  }
  if (const int error = check_list(comm, count, destinations, weights)) return error;

  const bool weighted = has_weights(weights);
  std::vector<Edge> edges;
  for (int i = 0, next = 0; i < n; ++i) {
    for (int j = 0; j < degrees[i]; ++j, ++next) {
      edges.push_back({sources[i], destinations[next], weighted ? weights[next] : 1});
    }
  }
  // One collective brings the context and everybody's edges.
  ContextId context = comm->rank == 0 ? define_context(comm->group->members) : 0;
  const Gathered gathered =
      collective({.comm = comm, .cost = machine::Cost::comm_create}, lay_down(context, edges));
  std::memcpy(&context, gathered.of(0).data(), sizeof context);
  Comm* made = make_comm(comm, context, retain(comm->group));
  made->info = copy_of(get(info));
  made->neighbours = find_own(gathered, *comm, weighted);
  *comm_dist_graph = handle_of(made);
  return MPI_SUCCESS;
}

int Dist_graph_neighbors_count(MPI_Comm handle, int* indegree, int* outdegree, int* weighted) {
  const Comm* comm = find_dist_graph(handle);
  if (!comm) return raise_no_dist_graph(get(handle));
  *indegree = static_cast<int>(comm->neighbours->sources.size());
  *outdegree = static_cast<int>(comm->neighbours->destinations.size());
  *weighted = comm->neighbours->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int Dist_graph_neighbors(MPI_Comm handle, int maxindegree, int sources[], int sourceweights[],
                         int maxoutdegree, int destinations[], int destweights[]) {
  Comm* comm = find_dist_graph(handle);
  if (!comm) return raise_no_dist_graph(get(handle));
  const Neighbours& own = *comm->neighbours;
  if (maxindegree < 0 || maxoutdegree < 0) {
    return raise(comm, MPI_ERR_ARG, "room for less than no neighbour");
  }
  copy_some(own.sources, maxindegree, sources);
  copy_some(own.destinations, maxoutdegree, destinations);
  if (own.weighted && sourceweights && has_weights(sourceweights)) {
    copy_some(own.source_weights, maxindegree, sourceweights);
  }
  if (own.weighted && destweights && has_weights(destweights)) {
    copy_some(own.destination_weights, maxoutdegree, destweights);
  }
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
