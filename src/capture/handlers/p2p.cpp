#include <algorithm>
#include <utility>
#include <vector>

#include "capture/handlers/handlers.hpp"
#include "capture/handlers/pieces.hpp"
#include "capture/handlers/posting.hpp"

namespace foretrace::capture {
namespace {

bool test_request(MPI_Request* request, MPI_Status* status, int* result) {
  int done = 0;
  *result = PMPI_Test(request, &done, status);
  return done != 0 || *result != MPI_SUCCESS;
}

// A blocking call is made of tests under predict. MPICH gives an error that a test finds to the
// handler of MPI_COMM_WORLD, that of a blocking call to its communicator's: between begin and end
// of such a call, in any thread, world's does nothing.
class ErrorsOfTests {
 public:
  explicit ErrorsOfTests([[maybe_unused]] MPI_Comm comm) {
#ifdef MPICH_VERSION
    if (!sets_error_handlers || comm == MPI_COMM_WORLD) return;
    comm_ = comm;
    if (calls_++ > 0) return;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &worlds_);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  }
  // A poll may have thrown.
  ~ErrorsOfTests() {
    end();
  }
  ErrorsOfTests(const ErrorsOfTests&) = delete;
  ErrorsOfTests& operator=(const ErrorsOfTests&) = delete;

  // Nothing is tested any more. Before the event ends: it calls MPI, which may have to wait for
  // other threads in it.
  void end() {
    if (comm_ == MPI_COMM_NULL || std::exchange(over_, true) || --calls_ > 0) return;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, worlds_);
    PMPI_Errhandler_free(&worlds_);
  }
  // The end of the call, which returns that.
  int told(int result) const {
    if (comm_ != MPI_COMM_NULL && result != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm_, result);
    return result;
  }

 private:
  inline static int calls_ = 0;  // under way; the turn is ours
  inline static MPI_Errhandler worlds_ = MPI_ERRHANDLER_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool over_ = false;
};

// Other ranks are left to MPI, which refuses them in the program's own call.
bool is_partner(const CommInfo& comm, int rank) {
  return rank == MPI_PROC_NULL || comm.world(rank).valid();
}
bool is_source(const CommInfo& comm, int rank) {
  return rank == MPI_ANY_SOURCE || is_partner(comm, rank);
}

Blocked blocked_in(Fn fn, const CommInfo& comm, int peer, int tag) {
  return {name_of(fn), comm.world(peer), tag, 0, false};
}

// The sender's half of a blocking send under predict: when it leaves.
Time finish_send(Fn fn, Time s0, SendMode mode, const machine::MessageStamp& stamp,
                 std::uint64_t serial, CommInfo& comm, int dest, int tag, Time* wait) {
  const machine::Timing& timing = session.timing_with(comm.world(dest), stamp.untouched);
  if (!stamp.rendezvous) return timing.send_eager_leave(s0, mode, stamp.bytes);
  Blocked blocked = blocked_in(fn, comm, dest, tag);
  blocked.bytes = stamp.bytes.count;
  blocked.synchronous = mode == SendMode::synchronous;
  blocked.rendezvous = !blocked.synchronous;
  const Time r0 = session.piggyback.await_answer(serial, blocked);
  *wait = machine::Timing::rendezvous_delay(stamp.sent, r0);
  return timing.send_rendezvous_leave(stamp.sent, r0, stamp.bytes);
}

}  // namespace

Bytes received_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return Bytes(bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0);
}

void fill_send(trace::Event& event, CommInfo& comm, SendMode mode, Bytes bytes, int dest, int tag) {
  event.comm = session.comm_id(comm);
  event.mode = mode;
  event.send.peer = comm.world(dest);
  event.send.tag = tag;
  event.send.bytes = bytes;
}

void fill_expected(trace::Event& event, CommInfo& comm, int source, int tag) {
  event.comm = session.comm_id(comm);
  event.recv.peer = comm.world(source);
  event.recv.tag = tag == MPI_ANY_TAG ? 0 : tag;
  event.recv.any_source = source == MPI_ANY_SOURCE;
  event.recv.any_tag = tag == MPI_ANY_TAG;
}

void fill_recv(trace::Event& event, CommInfo& comm, const MPI_Status& status, int source, int tag) {
  event.comm = session.comm_id(comm);
  event.recv.any_source = source == MPI_ANY_SOURCE;
  if (event.recv.any_source) session.note_wildcard();
  event.recv.any_tag = tag == MPI_ANY_TAG;
  if (source == MPI_PROC_NULL) return;
  event.recv.peer = comm.world(status.MPI_SOURCE);
  event.recv.tag = status.MPI_TAG;
  event.recv.bytes = received_bytes(status);
}

int send(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm, Real real,
         Post post) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  if (!info || !is_partner(*info, dest)) return plain_call(fn, real);
  const Bytes bytes = data.bytes();
  const std::uint16_t piece = dest == MPI_PROC_NULL ? 0 : piece_of(data, bytes);
  trace::Event& event = session.open(trace::EventKind::send, fn);
  fill_send(event, *info, mode, bytes, dest, tag);
  const bool untouched = note_sent(long_piece(data, bytes), bytes, event.send.peer);
  event.send.untouched = untouched;
  event.send.piece = piece;
  session.pack(event.send);
  session.may_split();
  if (!session.predicting() || dest == MPI_PROC_NULL) {
    const int result = wait_in(real);
    if (is_refused(result))
      session.close_as_call();
    else
      session.close();
    return result;
  }
  MPI_Request request;
  int result = post(&request);
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  const machine::MessageStamp stamp =
      stamp_of(event.send.peer, mode, bytes, event.enter, untouched);
  const std::uint64_t serial = session.piggyback.send_stamp(*info, event.send.peer, tag, stamp);
  Blocked blocked = blocked_in(fn, *info, dest, tag);
  blocked.bytes = bytes.count;
  blocked.synchronous = mode == SendMode::synchronous;
  blocked.rendezvous = stamp.rendezvous && !blocked.synchronous;
  blocked.eager = !stamp.rendezvous;
  session.piggyback.poll([&] { return test_request(&request, MPI_STATUS_IGNORE, &result); },
                         blocked);
  Time wait;
  const Time leave = finish_send(fn, event.enter, mode, stamp, serial, *info, dest, tag, &wait);
  session.close_at(leave, wait);
  return result;
}

int recv(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Status* status,
         RealStatus real, Post post) {
  Inside inside;
  if (!inside) return real(status);
  CommInfo* info = session.comms.find(comm);
  if (!info || !is_source(*info, source)) return plain_call(fn, [&] { return real(status); });
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const std::uint16_t piece = source == MPI_PROC_NULL ? 0 : piece_of(room);
  trace::Event& event = session.open(trace::EventKind::recv, fn);
  fill_expected(event, *info, source, tag);
  event.recv.piece = piece;
  note_room(room);
  session.may_split();
  int result = MPI_SUCCESS;
  if (!session.predicting() || source == MPI_PROC_NULL) {
    result = wait_in([&] { return real(status); });
    if (is_refused(result)) {
      session.close_as_call();
      return result;
    }
    fill_recv(event, *info, *status, source, tag);
    session.close();
    return result;
  }
  MPI_Request request;
  result = post(&request);
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  ErrorsOfTests errors(comm);
  PostedRecv posted = posted_recv(*info, source, tag, event.enter, request);
  session.piggyback.post(posted);
  session.piggyback.poll([&] { return test_request(&request, status, &result); },
                         blocked_in(fn, *info, source, tag));
  session.piggyback.settle(posted, info->world(status->MPI_SOURCE), status->MPI_TAG);
  fill_recv(event, *info, *status, source, tag);
  if (result != MPI_SUCCESS) event.recv.bytes = posted.stamp.bytes;  // longer than its buffer
  errors.end();
  close_receive(event, posted.stamp);
  return errors.told(result);
}

void send_by_itself(Fn fn, CommInfo& comm, int dest, int tag) {
  trace::Event& event = session.open(trace::EventKind::send, fn);
  fill_send(event, comm, SendMode::standard, Bytes(0), dest, tag);
  if (!session.predicting()) return session.close();
  const machine::MessageStamp stamp =
      stamp_of(event.send.peer, SendMode::standard, Bytes(0), event.enter, false);
  const std::uint64_t serial = session.piggyback.send_stamp(comm, event.send.peer, tag, stamp);
  Time wait;
  const Time leave =
      finish_send(fn, event.enter, SendMode::standard, stamp, serial, comm, dest, tag, &wait);
  session.close_at(leave, wait);
}

void receive_by_itself(Fn fn, CommInfo& comm, int source, int tag) {
  trace::Event& event = session.open(trace::EventKind::recv, fn);
  fill_expected(event, comm, source, tag);
  if (!session.predicting()) return session.close();
  PostedRecv posted = posted_recv(comm, source, tag, event.enter, MPI_REQUEST_NULL);
  session.piggyback.post(posted);
  if (session.piggyback.needs_progress())
    session.piggyback.poll([&] { return posted.has_stamp; }, blocked_in(fn, comm, source, tag));
  session.piggyback.settle(posted, event.recv.peer, tag);
  close_receive(event, posted.stamp);
}

// Both halves under predict; each of the posting calls is made unless its
// partner is MPI_PROC_NULL.
static int exchange(Fn fn, trace::Event& event, CommInfo& comm, MPI_Comm handle, int dest,
                    int sendtag, int source, int recvtag, MPI_Status* status, Post post_send,
                    Post post_recv) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int result = post_recv(&requests[0]);
  PostedRecv posted = posted_recv(comm, source, recvtag, event.enter, requests[0]);
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  result = post_send(&requests[1]);
  if (result != MPI_SUCCESS) {
    PMPI_Cancel(&requests[0]);
    PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    session.close_as_call();
    return result;
  }
  if (source != MPI_PROC_NULL) session.piggyback.post(posted);
  machine::MessageStamp stamp;
  std::uint64_t serial = 0;
  if (dest != MPI_PROC_NULL) {
    stamp = stamp_of(event.send.peer, SendMode::standard, event.send.bytes, event.enter,
                     event.send.untouched);
    serial = session.piggyback.send_stamp(comm, event.send.peer, sendtag, stamp);
  }
  int send_result = MPI_SUCCESS;
  ErrorsOfTests errors(handle);
  session.piggyback.poll([&] { return test_request(&requests[0], status, &result); },
                         blocked_in(fn, comm, source, recvtag));
  if (source != MPI_PROC_NULL)
    Piggyback::set_matched(posted, comm.world(status->MPI_SOURCE), status->MPI_TAG);
  session.piggyback.poll(
      [&] { return test_request(&requests[1], MPI_STATUS_IGNORE, &send_result); },
      blocked_in(fn, comm, dest, sendtag));
  Time leave = event.enter;
  Time alone = event.enter;
  Time unpacking;
  if (source != MPI_PROC_NULL) {
    const WorldRank sender = comm.world(status->MPI_SOURCE);
    session.piggyback.settle(posted, sender, status->MPI_TAG);
    const machine::Timing& timing = session.timing_with(sender, posted.stamp.untouched);
    leave =
        received_at(sender, timing.sendrecv_recv_leave(event.enter, posted.stamp), posted.stamp);
    alone = timing.recv_alone(event.enter, alone, posted.stamp.bytes);
    unpacking = timing.unpacking(posted.stamp.bytes, Bytes(event.recv.piece));
  }
  // MPICH's test of a request to nobody does not fill the status in.
  if (source == MPI_PROC_NULL)
    PMPI_Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, status);
  fill_recv(event, comm, *status, source, recvtag);
  if (result != MPI_SUCCESS) event.recv.bytes = posted.stamp.bytes;
  if (dest != MPI_PROC_NULL) {
    Time wait;
    const Time sent =
        finish_send(fn, event.enter, SendMode::standard, stamp, serial, comm, dest, sendtag, &wait);
    leave = std::max(leave, sent);
    alone = std::max(alone, sent - wait);
  }
  errors.end();
  session.close_at(leave + unpacking, machine::wait_time(leave, alone));
  return errors.told(result != MPI_SUCCESS ? result : send_result);
}

int sendrecv(Fn fn, const Data& data, int dest, int sendtag, const Data& room, int source,
             int recvtag, MPI_Comm comm, MPI_Status* status, RealStatus real, Post post_send,
             Post post_recv) {
  Inside inside;
  if (!inside) return real(status);
  CommInfo* info = session.comms.find(comm);
  if (!info || !is_partner(*info, dest) || !is_source(*info, source))
    return plain_call(fn, [&] { return real(status); });
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Bytes bytes = data.bytes();
  const std::uint16_t sent_piece = dest == MPI_PROC_NULL ? 0 : piece_of(data, bytes);
  const std::uint16_t received_piece = source == MPI_PROC_NULL ? 0 : piece_of(room);
  trace::Event& event = session.open(trace::EventKind::sendrecv, fn);
  fill_send(event, *info, SendMode::standard, bytes, dest, sendtag);
  event.send.untouched = note_sent(long_piece(data, bytes), bytes, event.send.peer);
  event.send.piece = sent_piece;
  session.pack(event.send);
  note_room(room);
  fill_expected(event, *info, source, recvtag);
  event.recv.piece = received_piece;
  session.may_split();
  if (session.predicting())
    return exchange(fn, event, *info, comm, dest, sendtag, source, recvtag, status, post_send,
                    post_recv);
  const int result = wait_in([&] { return real(status); });
  if (is_refused(result)) {
    session.close_as_call();
    return result;
  }
  fill_recv(event, *info, *status, source, recvtag);
  session.close();
  return result;
}

namespace {

// Whether what lies there does so by the addresses in its type alone.
bool is_at_bottom(const Data& data) {
  if (data.at) return false;
  MPI_Count begin = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_true_extent_x(data.type, &begin, &extent);
  return begin != 0;
}

// MPI_Pack; also of MPI_BOTTOM, which MPICH's refuses.
void pack(const Data& data, MPI_Comm comm, std::vector<char>& packed, int& packed_bytes) {
  const int count = static_cast<int>(data.count);
  int room = 0;
  if (PMPI_Pack_size(count, data.type, comm, &room) != MPI_SUCCESS) return;
  packed.resize(static_cast<std::size_t>(std::max(room, 1)));
  if (!is_at_bottom(data)) {
    PMPI_Pack(data.at, count, data.type, packed.data(), room, &packed_bytes, comm);
    return;
  }
  // The same addresses, seen from another one.
  MPI_Aint here = 0;
  PMPI_Get_address(packed.data(), &here);
  const MPI_Aint from_here = -here;
  MPI_Datatype seen = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(1, &count, &from_here, data.type, &seen);
  PMPI_Type_commit(&seen);
  PMPI_Pack(packed.data(), 1, seen, packed.data(), room, &packed_bytes, comm);
  PMPI_Type_free(&seen);
}

}  // namespace

int sendrecv_replace(Fn fn, const Data& data, int dest, int sendtag, int source, int recvtag,
                     MPI_Comm comm, MPI_Status* status, RealStatus real, Post post_recv) {
  // The outgoing data are packed aside, so that the buffer is free to receive.
  std::vector<char> packed;
  int packed_bytes = 0;
  const auto post_send = [&](MPI_Request* request) {
    return PMPI_Isend(packed.data(), packed_bytes, MPI_PACKED, dest, sendtag, comm, request);
  };
  if (session.active() && session.predicting() && is_of_program())
    pack(data, comm, packed, packed_bytes);
  return sendrecv(fn, data, dest, sendtag, data, source, recvtag, comm, status, real, post_send,
                  post_recv);
}

int isend(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm,
          MPI_Request* request, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& posted = session.requests.add();
  describe_send(posted, *info, mode, data, dest, tag);
  return post_request(fn, posted, request, real);
}

int irecv(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Request* request,
          Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& posted = session.requests.add();
  describe_recv(posted, *info, room, source, tag);
  if (!session.sent_data.is_empty()) posted.piece = in_one_piece(room);
  return post_request(fn, posted, request, real);
}

int isendrecv(Fn fn, const Data& data, int dest, int sendtag, const Data& room, int source,
              int recvtag, MPI_Comm comm, MPI_Request* request, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& both = session.requests.add();
  both.several = true;
  both.comm = info;
  Request& sends = add_part(both);
  describe_send(sends, *info, SendMode::standard, data, dest, sendtag);
  Request& receives = add_part(both);
  describe_recv(receives, *info, room, source, recvtag);
  receives.piece = in_one_piece(room);
  // MPICH says nothing of what came; where the program named it, it is known.
  receives.has_status = source == MPI_ANY_SOURCE || recvtag == MPI_ANY_TAG;
  return post_several(fn, both, request, real);
}

}  // namespace foretrace::capture
