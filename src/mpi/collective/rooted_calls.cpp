// Broadcast, gather and scatter.
#include <algorithm>
#include <string>
#include <utility>

#include "mpi/collective/gathered.hpp"
#include "mpi/collective/member_buffers.hpp"
#include "mpi/collective/names.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::mpi {
namespace {

using machine::Cost;

// As the root's call or another's: between groups the root's rank says nothing about
// this one's.
mpi_api::CommShape shape_at_root(const Arguments& arguments, int root) {
  const int other = root == 0 ? 1 : 0;
  return {arguments.partners(), arguments.is_root(root) ? root : other};
}

// On an inter-communicator: this rank is beside the root, and has nothing to do.
bool is_beside(const Arguments& arguments, int root) {
  return arguments && arguments.inter() && root == MPI_PROC_NULL;
}

// The plan of one that has nothing to do.
Planned nothing(const Arguments& arguments) {
  arguments.plan().by_messages = true;
  return arguments.planned();
}

void send_to(Plan& plan, int partner, const Piece& piece) {
  plan.outgoing.push_back({partner, kCollectiveTag, [piece] { return packed(piece); }});
}

void receive_from(Plan& plan, int partner, const Piece& piece) {
  plan.incoming.push_back({partner, kCollectiveTag, piece.bytes(),
                           [piece, partner](ByteSpan data) { deliver(data, piece, partner); }});
}

// A broadcast is as long for all.
Outcome check_length([[maybe_unused]] ByteSpan arrived, [[maybe_unused]] const Piece& place,
                     [[maybe_unused]] int root) {
  // Open MPI does not look.
#ifndef OPEN_MPI
  if (arrived.size() != place.bytes())
    return {MPI_ERR_OTHER, std::to_string(arrived.size()) + " bytes from rank " +
                               std::to_string(root) + ", but the arguments here expect " +
                               std::to_string(place.bytes())};
#endif
  return {};
}

Planned bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  arguments.count(count, "count");
  Datatype* type = arguments.type(datatype, "datatype");
  arguments.buffer(buffer, count, type, "buffer");
  arguments.not_in_place(buffer, "buffer");
  if (!arguments) return arguments.refuse();
  Plan& plan = arguments.plan();
  const Piece data = piece(buffer, count, type);
  if (arguments.inter()) {
    plan.by_messages = true;
    if (root != MPI_ROOT) receive_from(plan, root, data);
    for (int i = 0; root == MPI_ROOT && i < arguments.partners(); ++i) send_to(plan, i, data);
    return arguments.planned();
  }
  plan.call.cost = Cost::bcast;
  plan.call.root = root;
  plan.call.bytes = mpi_api::size_one(shape_of_members(arguments), count, type).count;
  (arguments.is_root(root) ? plan.sent : plan.room) = data;
  if (arguments.is_root(root))
    plan.contribute = [data] { return packed(data); };
  else
    plan.finish = [data, root](Gathered& gathered) {
      const ByteSpan arrived = gathered.of(root);
      const Outcome outcome = deliver(arrived, data, root);
      return outcome.error == MPI_SUCCESS ? check_length(arrived, data, root) : outcome;
    };
  return arguments.planned();
}

// `own` goes to the root (unless it is there already), which puts it and what
// the others send into `into`.
Planned plan_gather(const Arguments& arguments, int root, bool in_place, const Piece& own,
                    Pieces into) {
  Plan& plan = arguments.plan();
  if (arguments.inter()) {
    plan.by_messages = true;
    if (root != MPI_ROOT) send_to(plan, root, own);
    for (int i = 0; i < into.members(); ++i) receive_from(plan, i, into[i]);
    return arguments.planned();
  }
  if (!in_place) plan.contribute = [own] { return packed(own); };
  if (!in_place) plan.sent = own;
  plan.room = into.row();
  if (arguments.is_root(root))
    plan.finish = [into = std::move(into), in_place, root](Gathered& gathered) {
      Outcome outcome;
      for (int i = 0; i < into.members(); ++i) {
        if (in_place && i == root) continue;
        const Outcome one = deliver(gathered.of(i), into[i], i);
        if (outcome.error == MPI_SUCCESS) outcome = one;
      }
      return outcome;
    };
  return arguments.planned();
}

// How errors call the arguments that describe what is sent, and what is received.
struct Words {
  const char* buffer;
  const char* count;
  const char* counts;
  const char* type;
};
constexpr Words kSend{"the send buffer", "the send count", "the send counts", "the send type"};
constexpr Words kReceive{"the receive buffer", "the receive count", "the receive counts",
                         "the receive type"};

// This rank's own part of a gather or scatter; at the root it may be in place.
Piece own_piece(Arguments& arguments, const Words& words, const void* buffer, int count,
                MPI_Datatype datatype, int root) {
  if (!arguments) return {};
  const bool is_root = arguments.is_root(root);
  if (arguments.inter() && is_root) return {};
  if (!is_root) arguments.not_in_place(buffer, words.buffer);
  if (buffer == MPI_IN_PLACE) return {};
  arguments.count(count, words.count);
  const Datatype* type = arguments.type(datatype, words.type);
  arguments.buffer(buffer, count, type, words.buffer);
  return piece(buffer, count, type);
}

// All members' parts, which only the root describes: equal ones, or with a count for each.
Pieces all_pieces(Arguments& arguments, const Words& words, const void* buffer, int count,
                  MPI_Datatype datatype, const Datatype*& type) {
  arguments.count(count, words.count);
  type = arguments.type(datatype, words.type);
  arguments.buffer(buffer, count, type, words.buffer);
  arguments.not_in_place(buffer, words.buffer);
  return Pieces(piece(buffer, count, type), arguments.partners());
}
Pieces all_pieces(Arguments& arguments, const Words& words, const void* buffer, const int* counts,
                  const int* displs, MPI_Datatype datatype, const Datatype*& type) {
  Pieces pieces;
  arguments.counts(counts, arguments.partners(), words.counts);
  type = arguments.type(datatype, words.type);
  arguments.not_in_place(buffer, words.buffer);
  if (arguments) pieces = Pieces(buffer, counts, displs, type, arguments.partners());
  arguments.buffer(buffer, pieces.bytes() > 0, type, words.buffer);
  return pieces;
}

Planned gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = own_piece(arguments, kSend, sendbuf, sendcount, sendtype, root);
  Pieces into;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    into = all_pieces(arguments, kReceive, recvbuf, recvcount, recvtype, type);
    if (arguments) arguments.distinct(sendbuf, into[arguments.inter() ? 0 : root].data, sendcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::gather;
  call.root = root;
  call.bytes = mpi_api::size_gather(shape_of_members(arguments), sendbuf, sendcount, own.type,
                                    recvcount, type)
                   .count;
  return plan_gather(arguments, root, sendbuf == MPI_IN_PLACE, own, std::move(into));
}

// At the root the part of each, elsewhere the rank's own.
void tell_parts(const Arguments& arguments, int root, const Pieces& parts, const Piece& own) {
  trace::Counts counts;
  if (arguments.is_root(root))
    parts.add_to(counts);
  else
    counts.push_back(Bytes(own.bytes()));
  tell_counts(arguments, std::move(counts));
}

Planned gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = own_piece(arguments, kSend, sendbuf, sendcount, sendtype, root);
  Pieces into;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    into = all_pieces(arguments, kReceive, recvbuf, recvcounts, displs, recvtype, type);
    if (arguments) arguments.distinct(sendbuf, into[arguments.inter() ? 0 : root].data, sendcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::gatherv;
  call.root = root;
  call.bytes = mpi_api::size_gatherv(shape_at_root(arguments, root), sendcount, own.type,
                                     recvcounts, type, root)
                   .count;
  tell_parts(arguments, root, into, own);
  return plan_gather(arguments, root, sendbuf == MPI_IN_PLACE, own, std::move(into));
}

// The root sends each member its part of `from`; members put it into `own`.
Planned plan_scatter(const Arguments& arguments, int root, bool in_place, Pieces from,
                     const Piece& own) {
  Plan& plan = arguments.plan();
  const bool is_root = arguments.is_root(root);
  if (arguments.inter()) {
    plan.by_messages = true;
    if (!is_root) receive_from(plan, root, own);
    for (int i = 0; i < from.members(); ++i) send_to(plan, i, from[i]);
    return arguments.planned();
  }
  // Which function it is decides it, on all members alike.
  const bool alike = plan.call.cost == Cost::scatter;
  plan.sent = from.row();
  if (!in_place) plan.room = own;
  if (is_root) plan.contribute = [from = std::move(from)] { return packed(from); };
  if (!in_place)
    plan.finish = [own, root, alike, size = arguments.members(),
                   rank = plan.comm->rank](Gathered& gathered) {
      return deliver(part_of(gathered.of(root), alike, size, rank), own, root);
    };
  return arguments.planned();
}

Planned scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = own_piece(arguments, kReceive, recvbuf, recvcount, recvtype, root);
  Pieces from;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    from = all_pieces(arguments, kSend, sendbuf, sendcount, sendtype, type);
    if (arguments) arguments.distinct(from[arguments.inter() ? 0 : root].data, recvbuf, recvcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::scatter;
  call.root = root;
  call.bytes = mpi_api::size_scatter(shape_at_root(arguments, root), sendcount, type, recvbuf,
                                     recvcount, own.type, root)
                   .count;
  return plan_scatter(arguments, root, recvbuf == MPI_IN_PLACE, std::move(from), own);
}

Planned scatterv(const void* sendbuf, const int* sendcounts, const int* displs,
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = own_piece(arguments, kReceive, recvbuf, recvcount, recvtype, root);
  Pieces from;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    from = all_pieces(arguments, kSend, sendbuf, sendcounts, displs, sendtype, type);
    if (arguments) arguments.distinct(from[arguments.inter() ? 0 : root].data, recvbuf, recvcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::scatterv;
  call.root = root;
  call.bytes = mpi_api::size_scatterv(shape_at_root(arguments, root), sendcounts, type, recvcount,
                                      own.type, root)
                   .count;
  tell_parts(arguments, root, from, own);
  return plan_scatter(arguments, root, recvbuf == MPI_IN_PLACE, std::move(from), own);
}

}  // namespace

// --- the functions of MPI: MPI_X, MPI_IX, MPI_X_init --------------------------

int impl::Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return run(bcast(buffer, count, datatype, root, comm));
}
int impl::Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                 MPI_Request* request) {
  return post(bcast(buffer, count, datatype, root, comm), request);
}
int impl::Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info, MPI_Request* request) {
  return prepare(bcast(buffer, count, datatype, root, comm), request);
}

int impl::Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run(gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
int impl::Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request* request) {
  return post(gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              request);
}
int impl::Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info,
                      MPI_Request* request) {
  return prepare(gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                 request);
}

int impl::Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  return run(
      gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
}
int impl::Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Request* request) {
  return post(
      gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
      request);
}
int impl::Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(
      gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
      request);
}

int impl::Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run(scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
int impl::Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request* request) {
  return post(scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              request);
}
int impl::Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info,
                       MPI_Request* request) {
  return prepare(scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                 request);
}

int impl::Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  return run(
      scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
int impl::Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request* request) {
  return post(
      scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
      request);
}
int impl::Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(
      scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
      request);
}

}  // namespace foretrace::mpi
