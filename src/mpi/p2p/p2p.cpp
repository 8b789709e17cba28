// Sends, receives and what starts them.
#include <memory>
#include <string>

#include "live_impl.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/buffers.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/message.hpp"
#include "mpi/core/sent.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/completion.hpp"

namespace foretrace::mpi {
namespace {

using machine::SendMode;
using trace::EventKind;

Block packed(const void* buf, MPI_Count count, const Datatype& type) {
  Block block(packed_bytes(count, type));
  if (block.bytes() > 0) pack_out(buf, count, type, block.data());
  return block;
}

void fill_send(Record& record, const Checked& checked, const void* buf, int count, int dest,
               int tag, SendMode mode) {
  record.comm = checked.comm->context;
  record.mode = static_cast<std::uint8_t>(mode);
  record.send_bytes = packed_bytes(count, *checked.type);
  record.send_tag = tag;
  if (dest == MPI_PROC_NULL) return;
  record.send_peer = checked.comm->world(dest);
  record.untouched = note_message(buf, count, *checked.type, record.send_peer, mode);
  record.set_send_piece(piece_of(count, *checked.type));
  hand_over(record, packed(buf, count, *checked.type));
}

void fill_recv(Record& record, const Checked& checked, const void* buf, int count, int source,
               int tag) {
  note_room(buf, count, *checked.type);
  record.comm = checked.comm->context;
  record.recv_bytes = packed_bytes(count, *checked.type);
  set_source(record, *checked.comm, source, tag);
  if (source != MPI_PROC_NULL) record.set_recv_piece(piece_of(count, *checked.type));
}

// Moves the message of a blocking receive to its place.
int deliver(Result message, const Checked& checked, void* buf, int count, MPI_Status* status) {
  MPI_Status own;
  MPI_Status& result = is_ignored(status) ? own : *status;
  const int before = result.MPI_ERROR;
  int error = MPI_SUCCESS;
  if (message.source < 0) {
    set_null_status(result);
  } else {
    const Block data = Block::take(message.payload, message.bytes);
    const std::uint64_t capacity = packed_bytes(count, *checked.type);
    if (message.bytes > capacity) {
      error = raise(checked.comm, MPI_ERR_TRUNCATE,
                    "a message of " + std::to_string(message.bytes) + " bytes from rank " +
                        std::to_string(partner_of(*checked.comm, message.source)) + " with tag " +
                        std::to_string(message.tag) + " does not fit a buffer of " +
                        std::to_string(capacity));
      message.bytes = capacity;
    }
    if (message.bytes > 0) unpack_in(data.data(), message.bytes, buf, count, *checked.type);
    set_status(result, *checked.comm, message);
  }
  // Calls for one message do not touch it.
  result.MPI_ERROR = before;
  return error;
}

// Buffered sends want room in the program's buffer.
int check_room(SendMode mode, const Checked& checked, int count, int dest) {
  if (mode != SendMode::buffered || dest == MPI_PROC_NULL ||
      fits_buffer(*checked.comm, packed_bytes(count, *checked.type)))
    return MPI_SUCCESS;
  return raise(checked.comm, MPI_ERR_BUFFER, "the message does not fit the attached buffer");
}

Request* describe_send(SendMode mode, const Checked& checked, const void* buf, int count, int dest,
                       int tag) {
  auto* request = new Request;
  request->what = Request::What::send;
  request->mode = mode;
  request->comm = retain(checked.comm);
  request->type = retain(checked.type);
  request->buffer = const_cast<void*>(buf);
  request->count = count;
  request->peer = dest;
  request->tag = tag;
  request->capacity = packed_bytes(count, *checked.type);
  if (request->peer != MPI_PROC_NULL) request->in_pieces = piece_of(count, *checked.type);
  return request;
}

void post_transfer(Request& request) {
  const bool sends = request.what == Request::What::send && request.peer != MPI_PROC_NULL;
  if (sends)
    request.untouched = note_message(request.buffer, request.count, *request.type,
                                     request.comm->world(request.peer), request.mode);
  else if (request.what == Request::What::receive)
    note_room(request.buffer, request.count, *request.type);
  post_again(request, sends ? packed(request.buffer, request.count, *request.type) : Block());
}

int send(SendMode mode, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
         MPI_Comm comm) {
  const Checked checked = check_send(buf, count, datatype, dest, tag, comm);
  if (!checked) return checked.error;
  if (const int error = check_room(mode, checked, count, dest)) return error;
  if (threads_multiple() && dest != MPI_PROC_NULL) {
    // A rendezvous must not keep other threads out.
    Request* posted = describe_send(mode, checked, buf, count, dest, tag);
    post_transfer(*posted);
    MPI_Request request = handle_of(posted);
    return impl::Wait(&request, MPI_STATUS_IGNORE);
  }
  Record record = line.record(EventKind::send);
  fill_send(record, checked, buf, count, dest, tag, mode);
  line.post(record);
  if (is_rendezvous(record)) line.hangs_on_receiver();
  return MPI_SUCCESS;
}

int isend(SendMode mode, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request* request) {
  const Checked checked = check_send(buf, count, datatype, dest, tag, comm);
  if (!checked) return checked.error;
  if (const int error = check_room(mode, checked, count, dest)) return error;
  Request* posted = describe_send(mode, checked, buf, count, dest, tag);
  post_transfer(*posted);
  *request = handle_of(posted);
  return MPI_SUCCESS;
}

int send_init(SendMode mode, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
              MPI_Comm comm, MPI_Request* request) {
  const Checked checked = check_send(buf, count, datatype, dest, tag, comm);
  if (!checked) return checked.error;
  Request* made = describe_send(mode, checked, buf, count, dest, tag);
  made->persistent = true;
  made->more().start = post_transfer;
  *request = handle_of(made);
  return MPI_SUCCESS;
}

}  // namespace

Request* describe_recv(const Checked& checked, void* buf, int count, int source, int tag) {
  auto* request = new Request;
  request->what = Request::What::receive;
  request->comm = retain(checked.comm);
  request->type = retain(checked.type);
  request->buffer = buf;
  request->count = count;
  request->peer = source;
  request->tag = tag;
  request->capacity = packed_bytes(count, *checked.type);
  if (request->peer != MPI_PROC_NULL) request->in_pieces = piece_of(count, *checked.type);
  return request;
}

int receive_now(const Checked& checked, void* buf, int count, int source, int tag,
                std::uint64_t taken, MPI_Status* status) {
  if (threads_multiple()) {
    Request* posted = describe_recv(checked, buf, count, source, tag);
    if (taken != 0) posted->more().taken = taken;
    post_transfer(*posted);
    MPI_Request request = handle_of(posted);
    return impl::Wait(&request, status);
  }
  Record record = line.record(EventKind::recv);
  fill_recv(record, checked, buf, count, source, tag);
  record.taken = taken;
  return deliver(receive(record), checked, buf, count, status);
}

namespace impl {

int Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(SendMode::standard, buf, count, datatype, dest, tag, comm);
}
int Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(SendMode::synchronous, buf, count, datatype, dest, tag, comm);
}
int Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(SendMode::buffered, buf, count, datatype, dest, tag, comm);
}
int Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(SendMode::ready, buf, count, datatype, dest, tag, comm);
}

int Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
          MPI_Request* request) {
  return isend(SendMode::standard, buf, count, datatype, dest, tag, comm, request);
}
int Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request* request) {
  return isend(SendMode::synchronous, buf, count, datatype, dest, tag, comm, request);
}
int Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request* request) {
  return isend(SendMode::buffered, buf, count, datatype, dest, tag, comm, request);
}
int Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request* request) {
  return isend(SendMode::ready, buf, count, datatype, dest, tag, comm, request);
}

int Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return send_init(SendMode::standard, buf, count, datatype, dest, tag, comm, request);
}
int Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return send_init(SendMode::synchronous, buf, count, datatype, dest, tag, comm, request);
}
int Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return send_init(SendMode::buffered, buf, count, datatype, dest, tag, comm, request);
}
int Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return send_init(SendMode::ready, buf, count, datatype, dest, tag, comm, request);
}

int Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  const Checked checked = check_recv(buf, count, datatype, source, tag, comm);
  if (!checked) return checked.error;
  return receive_now(checked, buf, count, source, tag, 0, status);
}

int Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const Checked checked = check_recv(buf, count, datatype, source, tag, comm);
  if (!checked) return checked.error;
  Request* posted = describe_recv(checked, buf, count, source, tag);
  post_transfer(*posted);
  *request = handle_of(posted);
  return MPI_SUCCESS;
}

int Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const Checked checked = check_recv(buf, count, datatype, source, tag, comm);
  if (!checked) return checked.error;
  Request* made = describe_recv(checked, buf, count, source, tag);
  made->persistent = true;
  made->more().start = post_transfer;
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int Start(MPI_Request* request) {
  Request* object = get(*request);
  if (!object || !object->persistent || object->active)
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_REQUEST,
                 object && object->active ? "the request is active already"
                                          : "expected a persistent request");
  object->error = MPI_SUCCESS;
  object->cancelled = false;
  object->active = true;
  object->more().start(*object);
  return MPI_SUCCESS;
}

int Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    if (const int error = Start(&requests[i]); error != MPI_SUCCESS) return error;
  return MPI_SUCCESS;
}

int Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) {
  const Checked out = check_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (!out) return out.error;
  const Checked in = check_recv(recvbuf, recvcount, recvtype, source, recvtag, comm);
  if (!in) return in.error;
  if (threads_multiple()) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &requests[0]);
    Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &requests[1]);
    const int error = Waitall(2, requests, statuses);
    if (!is_ignored(status)) *status = statuses[0];
    return error == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : error;
  }
  Record record = line.record(EventKind::sendrecv);
  fill_send(record, out, sendbuf, sendcount, dest, sendtag, SendMode::standard);
  fill_recv(record, in, recvbuf, recvcount, source, recvtag);
  return deliver(receive(record), in, recvbuf, recvcount, status);
}

// The message is packed when it is posted, so that its buffer may be the other's.
int Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  return Sendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                  status);
}

#if MPI_VERSION >= 4
int Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
              void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request) {
  const Checked out = check_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (!out) return out.error;
  const Checked in = check_recv(recvbuf, recvcount, recvtype, source, recvtag, comm);
  if (!in) return in.error;
  Request* receives = describe_recv(in, recvbuf, recvcount, source, recvtag);
  Request* sends = describe_send(SendMode::standard, out, sendbuf, sendcount, dest, sendtag);
  post_transfer(*sends);
  post_transfer(*receives);
  Request* both = post_several(*in.comm, {receives, sends}, {}, {});
  both->more().finish_parts = [both, receives] { both->status = receives->status; };
  *request = handle_of(both);
  return MPI_SUCCESS;
}

int Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                      int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return Isendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                   request);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
