// Collectives in which all members get data from all: barrier, allgather, alltoall.
#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/collective/gathered.hpp"
#include "mpi/collective/member_buffers.hpp"
#include "mpi/collective/names.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::mpi {
namespace {

using machine::Cost;

Planned barrier(MPI_Comm comm) {
  Arguments arguments(comm);
  if (!arguments) return arguments.refuse();
  arguments.plan().call.cost = Cost::barrier;
  return arguments.planned();
}

// --- allgather ---------------------------------------------------------------------

// Up to this size of a contribution, all are put together once for all members.
constexpr std::uint64_t kTogether = 4096;
constexpr std::uint64_t kAllHeader = 64;

// All contributions, one after the other; empty if they differ in their sizes.
ByteSpan together(Gathered& gathered, int members, std::uint64_t each) {
  const std::uint64_t all = each * static_cast<std::uint64_t>(members);
  const ByteSpan common = gathered.common(kAllHeader + all, [&](std::byte* memory) {
    std::uint64_t found = each;
    for (int i = 0; i < members; ++i) {
      const ByteSpan one = gathered.of(i);
      if (one.size() != each)
        found = 0;
      else
        std::memcpy(memory + kAllHeader + static_cast<std::uint64_t>(i) * each, one.data(), each);
    }
    std::memcpy(memory, &found, sizeof(found));
  });
  std::uint64_t found = 0;
  std::memcpy(&found, common.data(), sizeof(found));
  return found == each ? common.subspan(kAllHeader, all) : ByteSpan();
}

Outcome take_all(Gathered& gathered, const Comm& comm, const Pieces& into, bool in_place) {
  const int members = into.members();
  const std::uint64_t each = into.alike() ? into[0].bytes() : 0;
  if (each > 0 && each <= kTogether && members > 4 && !comm.is_inter()) {
    const ByteSpan all = together(gathered, members, each);
    if (!all.empty()) {
      Piece row = into[0];
      row.count *= members;
      return deliver(all, row, 0);
    }
  }
  Outcome outcome;
  for (int i = 0; i < members; ++i) {
    if (in_place && i == comm.rank) continue;
    const Outcome one = deliver(gathered.of(place_of_partner(comm, i)), into[i], i);
    if (outcome.error == MPI_SUCCESS) outcome = one;
  }
  return outcome;
}

Planned plan_allgather(const Arguments& arguments, bool in_place, const Piece& own, Pieces into) {
  Plan& plan = arguments.plan();
  if (!in_place) plan.sent = own;
  plan.room = into.row();
  plan.contribute = [own] { return packed(own); };
  plan.finish = [comm = plan.comm, into = std::move(into), in_place](Gathered& gathered) {
    return take_all(gathered, *comm, into, in_place);
  };
  return arguments.planned();
}

// What this rank sends, if it is not in place.
Piece sent_piece(Arguments& arguments, const void* sendbuf, int sendcount, MPI_Datatype sendtype) {
  if (arguments.inter()) arguments.not_in_place(sendbuf, "the send buffer");
  if (sendbuf == MPI_IN_PLACE) return {};
  arguments.count(sendcount, "the send count");
  const Datatype* type = arguments.type(sendtype, "the send type");
  arguments.buffer(sendbuf, sendcount, type, "the send buffer");
  return piece(sendbuf, sendcount, type);
}

Planned allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Piece own = sent_piece(arguments, sendbuf, sendcount, sendtype);
  arguments.count(recvcount, "the receive count");
  const Datatype* type = arguments.type(recvtype, "the receive type");
  arguments.buffer(recvbuf, recvcount, type, "the receive buffer");
  arguments.not_in_place(recvbuf, "the receive buffer");
  if (!arguments) return arguments.refuse();
  Pieces into(piece(recvbuf, recvcount, type), arguments.partners());
  if (!arguments.inter()) arguments.distinct(sendbuf, into[arguments.comm()->rank].data, sendcount);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::allgather;
  call.bytes = mpi_api::size_gather(shape_of_partners(arguments), sendbuf, sendcount, own.type,
                                    recvcount, type)
                   .count;
  // The groups of an inter-communicator agree on the larger of the two directions.
  if (arguments.inter()) call.bytes = std::max(call.bytes, into[0].bytes());
  if (in_place) own = into[arguments.comm()->rank];
  return plan_allgather(arguments, in_place, own, std::move(into));
}

Planned allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Piece own = sent_piece(arguments, sendbuf, sendcount, sendtype);
  arguments.counts(recvcounts, arguments.partners(), "the receive counts");
  const Datatype* type = arguments.type(recvtype, "the receive type");
  arguments.not_in_place(recvbuf, "the receive buffer");
  if (!arguments) return arguments.refuse();
  Pieces into(recvbuf, recvcounts, displs, type, arguments.partners());
  arguments.buffer(recvbuf, into.bytes() > 0, type, "the receive buffer");
  if (!arguments.inter()) arguments.distinct(sendbuf, into[arguments.comm()->rank].data, sendcount);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::allgatherv;
  call.bytes = mpi_api::size_mean(shape_of_partners(arguments), recvcounts, type).count;
  trace::Counts counts;
  into.add_to(counts);
  tell_counts(arguments, std::move(counts));
  // The groups of an inter-communicator cannot agree on one size; there is no
  // need to in an alltoallv, which does the same.
  if (arguments.inter()) call.cost = Cost::alltoallv;
  if (in_place) own = into[arguments.comm()->rank];
  return plan_allgather(arguments, in_place, own, std::move(into));
}

// --- alltoall ----------------------------------------------------------------------

// `from` in place is `into`: it is packed before anything arrives.
Planned plan_alltoall(const Arguments& arguments, bool in_place, Pieces from, Pieces into) {
  Plan& plan = arguments.plan();
  if (!in_place) plan.sent = from.row();
  plan.room = into.row();
  plan.contribute = [from = std::move(from)] { return packed(from); };
  plan.finish = [comm = plan.comm, into = std::move(into)](Gathered& gathered) {
    Outcome outcome;
    for (int i = 0; i < into.members(); ++i) {
      const ByteSpan part =
          part_of(gathered.of(place_of_partner(*comm, i)), into.alike(), comm->size(), comm->rank);
      const Outcome one = deliver(part, into[i], i);
      if (outcome.error == MPI_SUCCESS) outcome = one;
    }
    return outcome;
  };
  return arguments.planned();
}

void tell_both(const Arguments& arguments, const Pieces& from, const Pieces& into) {
  trace::Counts counts;
  from.add_to(counts);
  into.add_to(counts);
  tell_counts(arguments, std::move(counts));
}

Planned alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const Piece first = sent_piece(arguments, sendbuf, sendcount, sendtype);
  arguments.count(recvcount, "the receive count");
  const Datatype* type = arguments.type(recvtype, "the receive type");
  arguments.buffer(recvbuf, recvcount, type, "the receive buffer");
  arguments.not_in_place(recvbuf, "the receive buffer");
  arguments.distinct(sendbuf, recvbuf, recvcount);
  if (!arguments) return arguments.refuse();
  const Pieces into(piece(recvbuf, recvcount, type), arguments.partners());
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::alltoall;
  call.bytes = mpi_api::size_gather(shape_of_partners(arguments), sendbuf, sendcount, first.type,
                                    recvcount, type)
                   .count;
  if (arguments.inter()) call.bytes = std::max(call.bytes, into[0].bytes());
  const bool in_place = sendbuf == MPI_IN_PLACE;
  return plan_alltoall(arguments, in_place, in_place ? into : Pieces(first, into.members()), into);
}

Planned alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                  MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  Arguments arguments(comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const int partners = arguments.partners();
  const Datatype* outward = nullptr;
  if (arguments.inter()) arguments.not_in_place(sendbuf, "the send buffer");
  if (!in_place) {
    arguments.counts(sendcounts, partners, "the send counts");
    outward = arguments.type(sendtype, "the send type");
  }
  arguments.counts(recvcounts, partners, "the receive counts");
  const Datatype* type = arguments.type(recvtype, "the receive type");
  arguments.not_in_place(recvbuf, "the receive buffer");
  if (!arguments) return arguments.refuse();
  const Pieces into(recvbuf, recvcounts, rdispls, type, partners);
  const Pieces from = in_place ? into : Pieces(sendbuf, sendcounts, sdispls, outward, partners);
  arguments.buffer(recvbuf, into.bytes() > 0, type, "the receive buffer");
  if (!in_place) arguments.buffer(sendbuf, from.bytes() > 0, outward, "the send buffer");
  arguments.distinct(sendbuf, recvbuf, into.bytes() > 0);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::alltoallv;
  call.bytes = mpi_api::size_alltoallv(shape_of_partners(arguments), sendbuf, sendcounts, outward,
                                       recvcounts, type)
                   .count;
  tell_both(arguments, from, into);
  return plan_alltoall(arguments, in_place, from, into);
}

Planned alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls,
                  const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                  const int* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Arguments arguments(comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const int partners = arguments.partners();
  std::vector<Datatype*> outward;
  if (arguments.inter()) arguments.not_in_place(sendbuf, "the send buffer");
  if (!in_place) {
    arguments.counts(sendcounts, partners, "the send counts");
    outward = arguments.types(sendtypes, sendcounts, partners, "a send type");
  }
  arguments.counts(recvcounts, partners, "the receive counts");
  const std::vector<Datatype*> inward =
      arguments.types(recvtypes, recvcounts, partners, "a receive type");
  arguments.not_in_place(recvbuf, "the receive buffer");
  arguments.distinct(sendbuf, recvbuf, 1);
  if (!arguments) return arguments.refuse();
  const Pieces into(recvbuf, recvcounts, rdispls, inward, partners);
  const Pieces from = in_place ? into : Pieces(sendbuf, sendcounts, sdispls, outward, partners);
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::alltoallw;
  call.bytes = mpi_api::size_alltoallw(shape_of_partners(arguments), sendbuf, sendcounts,
                                       outward.data(), recvcounts, inward.data())
                   .count;
  tell_both(arguments, from, into);
  return plan_alltoall(arguments, in_place, from, into);
}

}  // namespace

// --- the functions of MPI: MPI_X, MPI_IX, MPI_X_init --------------------------

int impl::Barrier(MPI_Comm comm) {
  return run(barrier(comm));
}
int impl::Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return post(barrier(comm), request);
}
int impl::Barrier_init(MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(barrier(comm), request);
}

int impl::Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run(allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
int impl::Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return post(allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}
int impl::Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                         MPI_Request* request) {
  return prepare(allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                 request);
}

int impl::Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  return run(allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}
int impl::Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                      MPI_Comm comm, MPI_Request* request) {
  return post(allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
              request);
}
int impl::Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(
      allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
      request);
}

int impl::Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run(alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
int impl::Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return post(alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}
int impl::Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                        MPI_Request* request) {
  return prepare(alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                 request);
}

int impl::Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run(alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                       recvtype, comm));
}
int impl::Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                     const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request* request) {
  return post(alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                        recvtype, comm),
              request);
}
int impl::Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                         const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info,
                         MPI_Request* request) {
  return prepare(alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                           recvtype, comm),
                 request);
}

int impl::Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return run(alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                       recvtypes, comm));
}
int impl::Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                     const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                     MPI_Request* request) {
  return post(alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                        recvtypes, comm),
              request);
}
int impl::Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                         const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                         MPI_Info, MPI_Request* request) {
  return prepare(alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                           recvtypes, comm),
                 request);
}

}  // namespace foretrace::mpi
