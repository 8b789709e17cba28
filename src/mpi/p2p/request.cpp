#include "mpi/p2p/request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/comm/comm.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/completion.hpp"

namespace foretrace::mpi {

using trace::EventKind;

Request::Request() : Object(ObjectKind::request) {}

Request::~Request() {
  if (more_) {
    for (Request* part : more_->parts) release(part);
    for (Object* object : more_->keep) release(object);
  }
  release(comm);
  release(type);
  mailbox.forget(incoming);
}

Request::More& Request::more() {
  if (!more_) more_ = std::make_unique<More>();
  return *more_;
}

Request::Generalized* Request::generalized() const {
  return more_ ? more_->generalized.get() : nullptr;
}

std::span<Request* const> Request::parts() const {
  return more_ ? std::span<Request* const>(more_->parts) : std::span<Request* const>();
}

bool Request::settled() const {
  if (serial != 0) return false;
  return !more_ || (more_->unready == 0 && std::ranges::all_of(more_->parts, &Request::settled) &&
                    is_complete(*this));
}

bool Request::is_open_collective() const {
  return active && (what == What::collective || (what == What::several && more_->collective));
}

void post_again(Request& request, Block data) {
  const bool sends = request.what == Request::What::send;
  Record record = line.record(sends ? EventKind::isend : EventKind::irecv);
  record.comm = request.comm->context | (request.hidden ? kHidden : 0);
  record.request = request.serial = line.new_serial();
  request.active = true;
  if (sends) {
    record.mode = static_cast<std::uint8_t>(request.mode);
    record.send_peer = request.peer == MPI_PROC_NULL ? -1 : request.comm->world(request.peer);
    record.send_tag = request.tag;
    record.send_bytes = request.capacity;
    record.untouched = request.untouched;
    record.set_send_piece(request.in_pieces);
    request.sent = record.send_peer >= 0 ? hand_over(record, std::move(data)) : kNoClock;
    request.capacity = record.send_bytes;
    request.rendezvous = is_rendezvous(record);
    note_open_send(request);
  } else {
    set_source(record, *request.comm, request.peer, request.tag);
    record.recv_bytes = request.capacity == kAnySize ? 0 : request.capacity;
    record.set_recv_piece(request.in_pieces);
    if (request.has_more()) record.taken = request.more().taken;
    mailbox.expect(request.incoming, record);
  }
  line.post(record);
}

void set_source(Record& record, const Comm& comm, int source, int tag) {
  record.any_source = source == MPI_ANY_SOURCE;
  record.recv_peer = source == MPI_PROC_NULL || source == MPI_ANY_SOURCE ? -1 : comm.world(source);
  record.any_tag = tag == MPI_ANY_TAG;
  record.recv_tag = tag == MPI_ANY_TAG ? sim::kAnyTag : tag;
}

Request* post_send(Comm& comm, int partner, int tag, bool hidden, machine::SendMode mode,
                   Block data) {
  auto* request = new Request;
  request->what = Request::What::send;
  request->comm = retain(&comm);
  request->peer = partner;
  request->tag = tag;
  request->hidden = hidden;
  request->mode = mode;
  post_again(*request, std::move(data));
  return request;
}

Request* post_receive(Comm& comm, int partner, int tag, bool hidden, std::uint64_t capacity,
                      std::function<void(std::span<const std::byte>)> arrived) {
  auto* request = new Request;
  request->what = Request::What::receive;
  request->comm = retain(&comm);
  request->peer = partner;
  request->tag = tag;
  request->hidden = hidden;
  request->capacity = capacity;
  request->more().arrived = std::move(arrived);
  post_again(*request, {});
  return request;
}

Request* post_several(Comm& comm, std::vector<Request*> parts, std::function<void()> finish,
                      const std::vector<Object*>& keep) {
  auto* request = new Request;
  request->what = Request::What::several;
  request->active = true;
  request->comm = retain(&comm);
  Request::More& more = request->more();
  more.parts = std::move(parts);
  more.finish_parts = std::move(finish);
  for (Object* object : keep) more.keep.push_back(retain(object));
  return request;
}

Request* done_request(const MPI_Status& status, int error) {
  auto* request = new Request;
  request->active = true;
  request->status = status;
  request->error = error;
  return request;
}

Request* persistent_request(Comm& comm, std::function<void(Request&)> start,
                            const std::vector<Object*>& keep) {
  auto* request = new Request;
  request->persistent = true;
  request->comm = retain(&comm);
  request->more().start = std::move(start);
  for (Object* object : keep) request->more().keep.push_back(retain(object));
  return request;
}

void adopt(Request& persistent, Request* posted) {
  persistent.what = posted->what;
  persistent.active = true;
  persistent.cancelled = false;
  persistent.error = posted->error;
  persistent.status = posted->status;
  persistent.serial = std::exchange(posted->serial, 0);
  persistent.type = persistent.type ? persistent.type : std::exchange(posted->type, nullptr);
  persistent.buffer = posted->buffer;
  persistent.count = posted->count;
  persistent.peer = posted->peer;
  persistent.tag = posted->tag;
  persistent.hidden = posted->hidden;
  persistent.rendezvous = posted->rendezvous;
  persistent.sent = posted->sent;
  mailbox.move(posted->incoming, persistent.incoming);
  persistent.capacity = posted->capacity;
  Request::More& mine = persistent.more();
  Request::More& other = posted->more();
  mine.arrived = std::move(other.arrived);
  mine.finish = std::move(other.finish);
  mine.entries = other.entries;
  for (Request* part : mine.parts) release(part);
  mine.parts = std::exchange(other.parts, {});
  mine.finish_parts = std::move(other.finish_parts);
  mine.finished = false;
  mine.collective = other.collective;
  release(posted);
}

void wait_for(Request* request) {
  complete(sim::Completing::all, {&request, 1});
  release(request);
}

}  // namespace foretrace::mpi
