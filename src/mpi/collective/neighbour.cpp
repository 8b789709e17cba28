// Neighbourhood collectives, as messages between neighbours.
//
// mpi_api/neighbours.hpp says who they are.
#include <cstddef>
#include <utility>

#include "mpi/collective/member_buffers.hpp"
#include "mpi/collective/names.hpp"
#include "mpi_api/neighbours.hpp"

namespace foretrace::mpi {
namespace {

using mpi_api::listed_neighbourhood;
using mpi_api::Neighbourhood;

// The communicator's neighbourhood; an error if it has no topology.
Neighbourhood neighbourhood(Arguments& arguments) {
  if (!arguments) return {};
  const Comm& comm = *arguments.comm();
  if (comm.cartesian)
    return mpi_api::grid_neighbourhood(comm.cartesian->dims, comm.cartesian->periods,
                                       comm.cartesian->coords);
  if (comm.neighbours)
    return listed_neighbourhood(comm.neighbours->sources, comm.neighbours->destinations);
  if (comm.graph) {
    const Graph& graph = *comm.graph;
    const auto rank = static_cast<std::size_t>(comm.rank);
    const int begin = rank > 0 ? graph.index[rank - 1] : 0;
    const std::vector<int> edges(graph.edges.begin() + begin,
                                 graph.edges.begin() + graph.index[rank]);
    return listed_neighbourhood(edges, edges);
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
    const auto [partner, slot] = neighbours.in[static_cast<std::size_t>(i)];
    if (partner == MPI_PROC_NULL) continue;
    const Piece place = into[i];
    plan.incoming.push_back(
        {partner, kCollectiveTag + slot, place.bytes(),
         [place, partner = partner](ByteSpan data) { deliver(data, place, partner); }});
  }
  for (int i = 0; i < count_of(neighbours.out); ++i) {
    const auto [partner, slot] = neighbours.out[static_cast<std::size_t>(i)];
    if (partner == MPI_PROC_NULL) continue;
    const Piece sent = from[from.members() == 1 ? 0 : i];
    plan.outgoing.push_back({partner, kCollectiveTag + slot, [sent] { return packed(sent); }});
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

}  // namespace foretrace::mpi
