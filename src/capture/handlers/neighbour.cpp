// Neighbourhood collectives: a message to and from each neighbour.
#include <vector>

#include "capture/handlers/posting.hpp"
#include "mpi_api/neighbours.hpp"

namespace foretrace::capture {
namespace {

using mpi_api::Neighbourhood;

Neighbourhood grid(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  std::vector<int> dims(static_cast<std::size_t>(dimensions));
  std::vector<int> periods(dims.size());
  std::vector<int> coords(dims.size());
  PMPI_Cart_get(comm, dimensions, dims.data(), periods.data(), coords.data());
  return mpi_api::grid_neighbourhood(dims, periods, coords);
}

Neighbourhood graph(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> edges(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(comm, rank, count, edges.data());
  return mpi_api::listed_neighbourhood(edges, edges);
}

Neighbourhood distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> sources(static_cast<std::size_t>(in));
  std::vector<int> destinations(static_cast<std::size_t>(out));
  std::vector<int> in_weights(sources.size());
  std::vector<int> out_weights(destinations.size());
  PMPI_Dist_graph_neighbors(comm, in, sources.data(), weighted ? in_weights.data() : MPI_UNWEIGHTED,
                            out, destinations.data(),
                            weighted ? out_weights.data() : MPI_UNWEIGHTED);
  return mpi_api::listed_neighbourhood(sources, destinations);
}

Neighbourhood neighbourhood(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  switch (topology) {
    case MPI_CART:
      return grid(comm);
    case MPI_GRAPH:
      return graph(comm);
    case MPI_DIST_GRAPH:
      return distributed_graph(comm);
    default:
      return {};
  }
}

void describe_messages(Request& whole, CommInfo& info, MPI_Comm comm, SizeOfPiece out,
                       SizeOfPiece in) {
  whole.several = true;
  CommInfo& hidden = session.comms.hidden(info);
  whole.comm = &hidden;
  const Neighbourhood near = neighbourhood(comm);
  for (std::size_t i = 0; i < near.in.size(); ++i) {
    const auto [partner, slot] = near.in[i];
    if (partner != MPI_PROC_NULL)
      describe_recv(add_part(whole), hidden, in(static_cast<int>(i)), partner,
                    mpi_api::kCollectiveTag + slot);
  }
  for (std::size_t i = 0; i < near.out.size(); ++i) {
    const auto [partner, slot] = near.out[i];
    if (partner != MPI_PROC_NULL)
      describe_send(add_part(whole), hidden, SendMode::standard, out(static_cast<int>(i)), partner,
                    mpi_api::kCollectiveTag + slot);
  }
}

}  // namespace

int neighbor(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request whole;
  describe_messages(whole, *info, comm, out, in);
  return run_messages(fn, *info, whole, real);
}

int ineighbor(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, MPI_Request* variable,
              Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& whole = session.requests.add();
  describe_messages(whole, *info, comm, out, in);
  return post_several(fn, whole, variable, real);
}

int neighbor_init(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, MPI_Request* variable,
                  Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return make_persistent(fn, variable, real,
                         [&](Request& whole) { describe_messages(whole, *info, comm, out, in); });
}

}  // namespace foretrace::capture
