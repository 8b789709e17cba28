#include "capture/handlers/posting.hpp"

#include "capture/handlers/pieces.hpp"
#include "capture/predict/shadow.hpp"
#include "mpi_api/neighbours.hpp"

namespace foretrace::capture {

bool is_refused(int result) {
  if (result == MPI_SUCCESS) return false;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(result, &error_class);
  switch (error_class) {
    case MPI_ERR_ARG:
    case MPI_ERR_BUFFER:
    case MPI_ERR_COMM:
    case MPI_ERR_COUNT:
    case MPI_ERR_GROUP:
    case MPI_ERR_OP:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
    case MPI_ERR_TAG:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_TYPE:
      return true;
    default:
      return false;
  }
}

namespace {

// Of one element of a datatype.
struct Extents {
  MPI_Count size = 0;
  MPI_Count begin = 0, extent = 0;
  MPI_Count true_begin = 0, true_extent = 0;
};

Extents extents_of(MPI_Datatype type) {
  Extents of;
  of.size = static_cast<MPI_Count>(mpi_api::type_bytes(type));
  if (of.size == 0) return of;
  PMPI_Type_get_extent_x(type, &of.begin, &of.extent);
  PMPI_Type_get_true_extent_x(type, &of.true_begin, &of.true_extent);
  return of;
}

}  // namespace

const void* in_one_piece(const Data& data) {
  if (data.at == nullptr || data.at == MPI_IN_PLACE || !session.follows_data()) return nullptr;
  const Extents of = extents_of(data.type);
  const bool begins_there = of.begin == 0 && of.true_begin == 0;
  const bool is_dense = of.size != 0 && of.extent == of.size && of.true_extent == of.size;
  return begins_there && is_dense ? data.at : nullptr;
}

const void* long_piece(const Data& data, Bytes bytes) {
  return bytes.count < SentData::kLeast ? nullptr : in_one_piece(data);
}

bool note_sent(const void* piece, Bytes bytes, WorldRank to) {
  return piece && to.valid() &&
         session.sent_data.send(piece, bytes.count, static_cast<std::uint64_t>(to.value));
}

void note_room(const void* piece, Bytes bytes) {
  if (piece) session.sent_data.receive(piece, bytes.count);
}

void note_room(const Data& room) {
  if (!session.sent_data.is_empty()) note_room(in_one_piece(room), room.bytes());
}

machine::MessageStamp stamp_of(WorldRank to, SendMode mode, Bytes bytes, Time s0, bool untouched) {
  const machine::Timing& timing = session.timing_with(to, untouched);
  return {session.port_with(to).depart(s0, timing.gap(bytes)), bytes,
          timing.is_rendezvous(mode, bytes), untouched};
}

Time received_at(WorldRank source, Time end, const machine::MessageStamp& message) {
  const machine::Timing& timing = session.timing_with(source, message.untouched);
  return session.port_with(source).move(end, timing.receiving_takes(message.bytes));
}

void close_receive(const trace::Event& event, const machine::MessageStamp& stamp) {
  const WorldRank source = event.recv.peer;
  const machine::Timing& timing = session.timing_with(source, stamp.untouched);
  const Time leave = received_at(source, timing.recv_leave(event.enter, stamp), stamp);
  const Time alone = timing.recv_alone(event.enter, event.enter, stamp.bytes);
  session.close_at(leave + timing.unpacking(stamp.bytes, Bytes(event.recv.piece)),
                   machine::wait_time(leave, alone));
}

PostedRecv posted_recv(CommInfo& comm, int source, int tag, Time r0, MPI_Request handle) {
  PostedRecv recv;
  recv.comm = &comm;
  recv.source = comm.world(source);
  recv.tag = tag;
  recv.posted = r0;
  recv.handle = handle;
  return recv;
}

void describe_send(Request& request, CommInfo& comm, SendMode mode, Bytes bytes, int dest,
                   int tag) {
  request.comm = &comm;
  request.mode = mode;
  request.bytes = bytes;
  request.peer = dest;
  request.tag = tag;
  request.to_nobody = dest == MPI_PROC_NULL;
}

void describe_send(Request& request, CommInfo& comm, SendMode mode, const Data& data, int dest,
                   int tag) {
  describe_send(request, comm, mode, data.bytes(), dest, tag);
  request.piece = long_piece(data, request.bytes);
  request.in_pieces = dest == MPI_PROC_NULL ? 0 : piece_of(data, request.bytes);
}

void describe_recv(Request& request, CommInfo& comm, Bytes bytes, int source, int tag) {
  describe_send(request, comm, SendMode::standard, bytes, source, tag);
  request.receive = true;
}

void describe_recv(Request& request, CommInfo& comm, const Data& room, int source, int tag) {
  describe_recv(request, comm, room.bytes(), source, tag);
  request.in_pieces = source == MPI_PROC_NULL ? 0 : piece_of(room, request.bytes);
}

void describe_collective(Request& request, Fn fn, CommInfo& comm, MPI_Comm handle, Cost cost,
                         int root, Bytes bytes) {
  request.fn = fn;
  request.collective = true;
  request.comm = &comm;
  request.on = comm.is_inter() ? comm.together : handle;
  request.cost = cost;
  request.root = root;
  request.bytes = bytes;
}

// Two groups would have two lists.
void tell_counts(trace::Counts& told, const CommInfo& comm, Cost cost, CountsOf counts) {
  told.clear();
  if (!comm.is_inter()) counts(comm.shape(), told);
  if (!trace::are_told(cost, told)) told.clear();
}

Cost cost_between(Cost cost, const CommInfo& comm) {
  // The two groups cannot agree on one size; there is no need to in an alltoallv,
  // which does the same.
  return comm.is_inter() && cost == Cost::allgatherv ? Cost::alltoallv : cost;
}

bool is_messages(Cost cost, const CommInfo& comm) {
  const machine::Dependence dependence = machine::dependence_of(cost);
  return comm.is_inter() && (dependence == machine::Dependence::all_for_root ||
                             dependence == machine::Dependence::root_for_all);
}

void describe_between(Request& whole, CommInfo& comm, Cost cost, int root, SizeOfPiece between) {
  CommInfo& hidden = session.comms.hidden(comm);
  whole.several = true;
  whole.comm = &hidden;
  if (root == MPI_PROC_NULL) return;
  const bool is_root = root == MPI_ROOT;
  const bool to_root = machine::dependence_of(cost) == machine::Dependence::root_for_all;
  const int first = is_root ? 0 : root;
  const int last = is_root ? static_cast<int>(comm.remote.size()) - 1 : root;
  for (int partner = first; partner <= last; ++partner) {
    if (is_root == to_root)
      describe_recv(add_part(whole), hidden, between(partner), partner, mpi_api::kCollectiveTag);
    else
      describe_send(add_part(whole), hidden, SendMode::standard, between(partner), partner,
                    mpi_api::kCollectiveTag);
  }
}

namespace {

trace::EventKind kind_of(const Request& request) {
  if (request.collective) return trace::EventKind::icollective;
  return request.receive ? trace::EventKind::irecv : trace::EventKind::isend;
}

void begin_posting(Fn fn, Request& request) {
  request.serial = session.requests.next_serial();
  request.active = true;
  request.cancelled = false;
  CommInfo& comm = *request.comm;
  trace::Event& event = session.open(kind_of(request), fn);
  event.request = request.serial;
  request.posted = event.enter;
  session.may_split();
  if (request.collective) {
    event.comm = session.comm_id(comm);
    event.collective = request.cost;
    event.bytes = request.bytes;
    event.root = LocalRank(request.root);
    session.thread().counts = request.counts;
    return;
  }
  if (!request.receive) {
    fill_send(event, comm, request.mode, request.bytes, request.peer, request.tag);
    event.send.untouched = request.untouched =
        note_sent(request.piece, request.bytes, event.send.peer);
    event.send.piece = request.in_pieces;
    session.pack(event.send);
    request.posted = event.enter;
    return;
  }
  fill_expected(event, comm, request.peer, request.tag);
  if (event.recv.any_source) session.note_wildcard();
  event.recv.bytes = request.bytes;
  event.recv.piece = request.in_pieces;
  event.taken = request.taken;
  note_room(request.piece, request.bytes);
}

void end_receive(Request& request) {
  if (request.probed) {
    session.piggyback.set_posted(*request.probed, request.posted);
    request.recv = *request.probed;
  } else {
    request.recv =
        posted_recv(*request.comm, request.peer, request.tag, request.posted, request.handle);
    session.piggyback.post(request.recv);
  }
  // From any source: the outer path.
  const machine::Timing& timing = session.timing_with(request.comm->world(request.peer));
  session.close_at(timing.irecv_post_leave(request.posted, request.bytes), Time());
}

void end_send(Request& request) {
  const WorldRank to = request.comm->world(request.peer);
  const machine::MessageStamp stamp =
      stamp_of(to, request.mode, request.bytes, request.posted, request.untouched);
  request.sent = stamp.sent;
  request.rendezvous = stamp.rendezvous;
  request.stamp_serial = session.piggyback.send_stamp(*request.comm, to, request.tag, stamp);
  session.close_at(
      session.timing_with(to, request.untouched).isend_post_leave(request.posted, request.bytes),
      Time());
}

void end_collective(Request& request) {
  if (request.persistent) {
    request.shadow->restart(request.posted, request.bytes);
  } else {
    request.shadow = &shadows.add();
    request.shadow->post({request.comm, request.on, request.cost, request.root, request.fn},
                         request.posted, request.bytes);
  }
  session.close_at(
      session.timing_in(*request.comm)
          .icollective_post_leave(request.posted, request.cost, request.comm->size, request.bytes),
      Time());
}

void end_posting(Request& request) {
  if (!session.predicting() || request.to_nobody)
    session.close();
  else if (request.collective)
    end_collective(request);
  else if (request.receive)
    end_receive(request);
  else
    end_send(request);
}

}  // namespace

int post_request(Fn fn, Request& request, MPI_Request* variable, Real real) {
  if (request.several) return post_several(fn, request, variable, real);
  begin_posting(fn, request);
  const int result = real();
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    if (!request.persistent) session.requests.discard(request);
    request.active = false;
    return result;
  }
  if (!request.persistent) session.requests.index(request, variable);
  // Functions that copy attributes may have called before it (MPI_Comm_idup).
  request.posted = session.thread().event.enter;
  end_posting(request);
  return result;
}

Request& add_part(Request& whole) {
  Request& part = session.requests.add();
  part.part = true;
  whole.parts.push_back(&part);
  return part;
}

void discard_parts(Request& whole) {
  for (Request* part : whole.parts) session.requests.discard(*part);
  whole.parts.clear();
}

int post_several(Fn fn, Request& whole, MPI_Request* variable, Real real) {
  int result = MPI_SUCCESS;
  if (whole.parts.empty()) result = plain_state(fn, real);
  for (std::size_t i = 0; i < whole.parts.size() && result == MPI_SUCCESS; ++i) {
    Request& part = *whole.parts[i];
    begin_posting(fn, part);
    if (i == 0) result = real();
    if (result != MPI_SUCCESS) {
      session.close_as_call();
      break;
    }
    if (variable) part.handle = *variable;
    end_posting(part);
  }
  if (result != MPI_SUCCESS) {
    if (whole.persistent) return result;
    discard_parts(whole);
    if (variable) session.requests.discard(whole);
    return result;
  }
  whole.active = true;
  whole.cancelled = false;
  if (variable && !whole.persistent) session.requests.index(whole, variable);
  return result;
}

int post_part(Fn fn, Request& part, MPI_Request handle, Real real) {
  begin_posting(fn, part);
  const int result = real();
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  part.handle = handle;
  end_posting(part);
  return result;
}

int run_messages(Fn fn, const CommInfo& comm, Request& whole, Real real) {
  const int result = post_several(fn, whole, nullptr, [&] {
    // None may disappear into the real call while others wait for its answer.
    if (session.predicting() && session.piggyback.needs_progress())
      session.piggyback.exchange_starts(comm, Time(), Bytes(0), -1, fn);
    return wait_in(real);
  });
  if (result != MPI_SUCCESS) return result;
  if (!whole.parts.empty()) complete_parts(fn, whole, [] { return MPI_SUCCESS; });
  discard_parts(whole);
  return result;
}

int make_persistent(Fn fn, MPI_Request* variable, Real real, FunctionRef<void(Request&)> describe) {
  const int result = plain_call(fn, real);
  if (result != MPI_SUCCESS) return result;
  Request& request = session.requests.add();
  request.persistent = true;
  describe(request);
  session.requests.index(request, variable);
  return result;
}

}  // namespace foretrace::capture
