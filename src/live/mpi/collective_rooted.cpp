// Broadcast, gather and scatter.
#include <algorithm>
#include <utility>

#include "live/mpi/collective_data.hpp"
#include "live/mpi/collective_names.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::live {
namespace {

using machine::Cost;

mpi_api::CommShape shape(const Arguments& arguments) {
  return {arguments.members(), arguments.comm()->rank};
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
  plan.call.bytes = mpi_api::size_one(shape(arguments), count, type).count;
  if (arguments.is_root(root))
    plan.contribute = [data] { return packed(data); };
  else
    plan.finish = [data, root](Gathered& gathered) {
      return deliver(gathered.of(root), data, root);
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

// What this rank sends in a gather; at the root it may be in place.
Piece gathered_piece(Arguments& arguments, const void* sendbuf, int sendcount,
                     MPI_Datatype sendtype, int root) {
  if (!arguments) return {};
  const bool is_root = arguments.is_root(root);
  if (arguments.inter() && is_root) return {};
  if (!is_root) arguments.not_in_place(sendbuf, "the send buffer");
  if (sendbuf == MPI_IN_PLACE) return {};
  arguments.count(sendcount, "the send count");
  const Datatype* type = arguments.type(sendtype, "the send type");
  arguments.buffer(sendbuf, sendcount, type, "the send buffer");
  return piece(sendbuf, sendcount, type);
}

Planned gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = gathered_piece(arguments, sendbuf, sendcount, sendtype, root);
  Pieces into;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    arguments.count(recvcount, "the receive count");
    type = arguments.type(recvtype, "the receive type");
    arguments.buffer(recvbuf, recvcount, type, "the receive buffer");
    arguments.not_in_place(recvbuf, "the receive buffer");
    into = Pieces(piece(recvbuf, recvcount, type), arguments.partners());
    if (arguments) arguments.distinct(sendbuf, into[arguments.inter() ? 0 : root].data, sendcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::gather;
  call.root = root;
  call.bytes =
      mpi_api::size_gather(shape(arguments), sendbuf, sendcount, own.type, recvcount, type).count;
  return plan_gather(arguments, root, sendbuf == MPI_IN_PLACE, own, std::move(into));
}

Planned gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = gathered_piece(arguments, sendbuf, sendcount, sendtype, root);
  Pieces into;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    arguments.counts(recvcounts, arguments.partners(), "the receive counts");
    type = arguments.type(recvtype, "the receive type");
    arguments.not_in_place(recvbuf, "the receive buffer");
    if (arguments) into = Pieces(recvbuf, recvcounts, displs, type, arguments.partners());
    arguments.buffer(recvbuf, into.bytes() > 0, type, "the receive buffer");
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::gatherv;
  call.root = root;
  call.bytes =
      mpi_api::size_gatherv(shape(arguments), sendcount, own.type, recvcounts, type, root).count;
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
  if (is_root) plan.contribute = [from = std::move(from)] { return packed(from); };
  if (!in_place)
    plan.finish = [own, root, alike, size = arguments.members(),
                   rank = plan.comm->rank](Gathered& gathered) {
      return deliver(part_of(gathered.of(root), alike, size, rank), own, root);
    };
  return arguments.planned();
}

// Where this rank wants its part of a scatter; the root's may be in place.
Piece scattered_piece(Arguments& arguments, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                      int root) {
  if (!arguments) return {};
  const bool is_root = arguments.is_root(root);
  if (arguments.inter() && is_root) return {};
  if (!is_root) arguments.not_in_place(recvbuf, "the receive buffer");
  if (recvbuf == MPI_IN_PLACE) return {};
  arguments.count(recvcount, "the receive count");
  const Datatype* type = arguments.type(recvtype, "the receive type");
  arguments.buffer(recvbuf, recvcount, type, "the receive buffer");
  return piece(recvbuf, recvcount, type);
}

Planned scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = scattered_piece(arguments, recvbuf, recvcount, recvtype, root);
  Pieces from;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    arguments.count(sendcount, "the send count");
    type = arguments.type(sendtype, "the send type");
    arguments.buffer(sendbuf, sendcount, type, "the send buffer");
    arguments.not_in_place(sendbuf, "the send buffer");
    from = Pieces(piece(sendbuf, sendcount, type), arguments.partners());
    if (arguments) arguments.distinct(from[arguments.inter() ? 0 : root].data, recvbuf, recvcount);
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::scatter;
  call.root = root;
  call.bytes =
      mpi_api::size_scatter(shape(arguments), sendcount, type, recvbuf, recvcount, own.type, root)
          .count;
  return plan_scatter(arguments, root, recvbuf == MPI_IN_PLACE, std::move(from), own);
}

Planned scatterv(const void* sendbuf, const int* sendcounts, const int* displs,
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (is_beside(arguments, root)) return nothing(arguments);
  const Piece own = scattered_piece(arguments, recvbuf, recvcount, recvtype, root);
  Pieces from;
  const Datatype* type = nullptr;
  if (arguments && arguments.is_root(root)) {
    arguments.counts(sendcounts, arguments.partners(), "the send counts");
    type = arguments.type(sendtype, "the send type");
    arguments.not_in_place(sendbuf, "the send buffer");
    if (arguments) from = Pieces(sendbuf, sendcounts, displs, type, arguments.partners());
    arguments.buffer(sendbuf, from.bytes() > 0, type, "the send buffer");
  }
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::scatterv;
  call.root = root;
  call.bytes =
      mpi_api::size_scatterv(shape(arguments), sendcounts, type, recvcount, own.type, root).count;
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

}  // namespace foretrace::live
