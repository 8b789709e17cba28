// Neighbourhood collectives, as messages between neighbours.
//
// The n-th message to a neighbour meets the n-th receive that names this rank,
// in the order in which the topology lists them. In a Cartesian grid, where the
// two neighbours of a dimension may be the same rank, what goes down comes from
// above (MPI 4.0, 8.6): there each message's tag is the receiver's slot.
#include <cstddef>
#include <utility>

#include "live/mpi/collective_data.hpp"
#include "live/mpi/collective_names.hpp"

namespace foretrace::live {
namespace {

// The partners of this rank, in the order of the buffers' parts, and the tags.
struct Neighbourhood {
  struct Link {
    int partner;
    int tag;
  };
  std::vector<Link> in, out;
};

Neighbourhood grid(const Cartesian& grid) {
  Neighbourhood found;
  const std::size_t dimensions = grid.dims.size();
  for (std::size_t d = 0; d < dimensions; ++d)
    for (const int step : {-1, 1}) {
      int partner = 0;
      bool outside = false;
      for (std::size_t i = 0; i < dimensions; ++i) {
        int at = grid.coords[i] + (i == d ? step : 0);
        if (at < 0 || at >= grid.dims[i]) {
          outside = !grid.periods[i];
          at = (at + grid.dims[i]) % grid.dims[i];
        }
        partner = partner * grid.dims[i] + at;
      }
      if (outside) partner = MPI_PROC_NULL;
      const int slot = static_cast<int>(found.in.size());
      found.in.push_back({partner, kCollectiveTag + slot});
      found.out.push_back({partner, kCollectiveTag + (slot ^ 1)});
    }
  return found;
}

Neighbourhood listed(const std::vector<int>& sources, const std::vector<int>& destinations) {
  Neighbourhood found;
  for (const int source : sources) found.in.push_back({source, kCollectiveTag});
  for (const int destination : destinations) found.out.push_back({destination, kCollectiveTag});
  return found;
}

// The communicator's neighbourhood; an error if it has no topology.
Neighbourhood neighbourhood(Arguments& arguments) {
  if (!arguments) return {};
  const Comm& comm = *arguments.comm();
  if (comm.cartesian) return grid(*comm.cartesian);
  if (comm.neighbours) return listed(comm.neighbours->sources, comm.neighbours->destinations);
  if (comm.graph) {
    const Graph& graph = *comm.graph;
    const auto rank = static_cast<std::size_t>(comm.rank);
    const int begin = rank > 0 ? graph.index[rank - 1] : 0;
    const std::vector<int> edges(graph.edges.begin() + begin,
                                 graph.edges.begin() + graph.index[rank]);
    return listed(edges, edges);
  }
  arguments.fail(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  return {};
}

int count_of(const std::vector<Neighbourhood::Link>& links) {
  return static_cast<int>(links.size());
}

// `from` and `into` have a piece for each neighbour; `from` of one member goes to all.
Planned plan_neighbours(const Arguments& arguments, const Neighbourhood& neighbours,
                        const Pieces& from, const Pieces& into) {
  Plan& plan = arguments.plan();
  plan.by_messages = true;
  for (int i = 0; i < count_of(neighbours.in); ++i) {
    const auto [partner, tag] = neighbours.in[static_cast<std::size_t>(i)];
    if (partner == MPI_PROC_NULL) continue;
    const Piece place = into[i];
    plan.incoming.push_back(
        {partner, tag, place.bytes(),
         [place, partner = partner](ByteSpan data) { deliver(data, place, partner); }});
  }
  for (int i = 0; i < count_of(neighbours.out); ++i) {
    const auto [partner, tag] = neighbours.out[static_cast<std::size_t>(i)];
    if (partner == MPI_PROC_NULL) continue;
    const Piece sent = from[from.members() == 1 ? 0 : i];
    plan.outgoing.push_back({partner, tag, [sent] { return packed(sent); }});
  }
  return arguments.planned();
}

// One of the two buffers of a call, of pieces that are alike.
Pieces alike(Arguments& arguments, const void* buffer, int count, MPI_Datatype datatype,
             int members, const char* what) {
  arguments.not_in_place(buffer, what);
  arguments.count(count, what);
  const Datatype* type = arguments.type(datatype, what);
  if (members > 0) arguments.buffer(buffer, count, type, what);
  return arguments ? Pieces(piece(buffer, count, type), members) : Pieces();
}

// Of pieces of one type.
Pieces various(Arguments& arguments, const void* buffer, const int* counts,
               const int* displacements, MPI_Datatype datatype, int members, const char* what) {
  arguments.not_in_place(buffer, what);
  arguments.counts(counts, members, what);
  const Datatype* type = arguments.type(datatype, what);
  return arguments ? Pieces(buffer, counts, displacements, type, members) : Pieces();
}

// Of pieces of several types.
Pieces mixed(Arguments& arguments, const void* buffer, const int* counts,
             const MPI_Aint* displacements, const MPI_Datatype* datatypes, int members,
             const char* what) {
  arguments.not_in_place(buffer, what);
  arguments.counts(counts, members, what);
  const std::vector<Datatype*> types = arguments.types(datatypes, counts, members, what);
  return arguments ? Pieces(buffer, counts, displacements, types, members) : Pieces();
}

constexpr const char* kSend = "the send argument";
constexpr const char* kReceive = "the receive argument";

Planned neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const Neighbourhood near = neighbourhood(arguments);
  const Pieces from = alike(arguments, sendbuf, sendcount, sendtype, 1, kSend);
  const Pieces into = alike(arguments, recvbuf, recvcount, recvtype, count_of(near.in), kReceive);
  if (!arguments) return arguments.refuse();
  return plan_neighbours(arguments, near, from, into);
}

Planned neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* displs,
                            MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const Neighbourhood near = neighbourhood(arguments);
  const Pieces from = alike(arguments, sendbuf, sendcount, sendtype, 1, kSend);
  const Pieces into =
      various(arguments, recvbuf, recvcounts, displs, recvtype, count_of(near.in), kReceive);
  if (!arguments) return arguments.refuse();
  return plan_neighbours(arguments, near, from, into);
}

Planned neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const Neighbourhood near = neighbourhood(arguments);
  const Pieces from = alike(arguments, sendbuf, sendcount, sendtype, count_of(near.out), kSend);
  const Pieces into = alike(arguments, recvbuf, recvcount, recvtype, count_of(near.in), kReceive);
  if (!arguments) return arguments.refuse();
  return plan_neighbours(arguments, near, from, into);
}

Planned neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                           MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                           const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const Neighbourhood near = neighbourhood(arguments);
  const Pieces from =
      various(arguments, sendbuf, sendcounts, sdispls, sendtype, count_of(near.out), kSend);
  const Pieces into =
      various(arguments, recvbuf, recvcounts, rdispls, recvtype, count_of(near.in), kReceive);
  if (!arguments) return arguments.refuse();
  return plan_neighbours(arguments, near, from, into);
}

Planned neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                           const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Arguments arguments(comm);
  const Neighbourhood near = neighbourhood(arguments);
  const Pieces from =
      mixed(arguments, sendbuf, sendcounts, sdispls, sendtypes, count_of(near.out), kSend);
  const Pieces into =
      mixed(arguments, recvbuf, recvcounts, rdispls, recvtypes, count_of(near.in), kReceive);
  if (!arguments) return arguments.refuse();
  return plan_neighbours(arguments, near, from, into);
}

}  // namespace

// --- the functions of MPI: MPI_X, MPI_IX, MPI_X_init --------------------------

int impl::Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run(neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
int impl::Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  return post(neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              request);
}
int impl::Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(
      neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
      request);
}

int impl::Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
  return run(neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, comm));
}
int impl::Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return post(neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                  recvtype, comm),
              request);
}
int impl::Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const int recvcounts[], const int displs[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                                   MPI_Request* request) {
  return prepare(neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, comm),
                 request);
}

int impl::Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run(neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
int impl::Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  return post(neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              request);
}
int impl::Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info, MPI_Request* request) {
  return prepare(
      neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}

int impl::Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run(neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm));
}
int impl::Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  return post(neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                 rdispls, recvtype, comm),
              request);
}
int impl::Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info, MPI_Request* request) {
  return prepare(neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                    rdispls, recvtype, comm),
                 request);
}

int impl::Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm) {
  return run(neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm));
}
int impl::Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                              MPI_Comm comm, MPI_Request* request) {
  return post(neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                 rdispls, recvtypes, comm),
              request);
}
int impl::Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                  const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                  void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                  const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info,
                                  MPI_Request* request) {
  return prepare(neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm),
                 request);
}

}  // namespace foretrace::live
