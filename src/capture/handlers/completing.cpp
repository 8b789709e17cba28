#include "capture/handlers/completing.hpp"

#include <algorithm>

#include "capture/predict/shadow.hpp"

namespace foretrace::capture {
namespace {

void release(Request& request) {
  request.active = request.in_call = request.told = false;
  if (request.persistent) return;
  discard_parts(request);
  if (request.shadow) shadows.let_go(*request.shadow);
  session.requests.remove(request);
}

// Part of a collective: nobody says what came, but it is what was posted.
bool is_described(const Request& request) {
  return request.part && !request.has_status;
}

// Of the communicator that was made.
void await_key(Request& request, const Blocked& blocked) {
  MPI_Request& travels = request.key_travels;
  if (!session.predicting()) {
    wait_in([&] { return PMPI_Wait(&travels, MPI_STATUS_IGNORE); });
    return;
  }
  session.piggyback.poll(
      [&] {
        int done = 0;
        return PMPI_Test(&travels, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
      },
      blocked);
}

void withdraw(Request& request) {
  if (request.receive) session.piggyback.withdraw(request.recv);
}

Blocked for_others() {
  return {name_of(Fn::MPI_Wait), WorldRank(), 0, 0, false};
}

Time end_of_collective(Request& request) {
  const machine::Timing& timing = session.timing_in(*request.comm);
  const Time latest = request.shadow->latest(for_others());
  const Bytes bytes = timing.charged(request.cost, request.bytes, request.shadow->largest());
  return timing.collective_leave(latest, request.cost, request.comm->size, bytes);
}

Time end_of_receive(const Request& request, WorldRank source) {
  const machine::MessageStamp& stamp = request.recv.stamp;
  return session.timing_with(source, stamp.untouched).irecv_end(request.posted, stamp);
}

Time end_of_send(const Request& request, Time r0) {
  const machine::Timing& timing =
      session.timing_with(request.comm->world(request.peer), request.untouched);
  return timing.isend_end(request.sent, r0, request.mode, request.bytes, request.rendezvous);
}

}  // namespace

WorldRank source_of(const Request& request, const MPI_Status& status) {
  return request.comm->world(is_described(request) ? request.peer : status.MPI_SOURCE);
}
int tag_of(const Request& request, const MPI_Status& status) {
  return is_described(request) ? request.tag : status.MPI_TAG;
}

bool ends_after(Request& request, const MPI_Status& status, Time now) {
  if (request.access) return request.end > now;
  if (request.collective) return end_of_collective(request) > now;
  if (request.to_nobody || (!request.receive && !request.rendezvous)) return false;
  if (!request.receive) {
    const Time r0 = *session.piggyback.find_answer(request.stamp_serial);
    return end_of_send(request, r0) > now;
  }
  const WorldRank source = source_of(request, status);
  session.piggyback.await_stamp(request.recv, source, tag_of(request, status));
  return end_of_receive(request, source) > now;
}

bool is_known_to_end_by(Request& request, Time now) {
  if (request.access || request.to_nobody) return false;
  if (request.collective) return request.shadow->is_known() && end_of_collective(request) <= now;
  if (!request.receive) return false;
  session.piggyback.progress();
  return request.recv.has_stamp && end_of_receive(request, request.recv.source) <= now;
}

bool waits_for_others(Request& request) {
  if (request.access || request.to_nobody) return false;
  if (request.collective) return !request.shadow->is_known();
  return !request.receive && request.rendezvous &&
         !session.piggyback.find_answer(request.stamp_serial);
}

void Completing::take(Request& request, const MPI_Status& status) {
  if (!request.told) take_parts(request, status);
  release(request);
}

void Completing::tell(Request& request, const MPI_Status& status) {
  take_parts(request, status);
  request.told = true;
}

void Completing::take_parts(Request& request, const MPI_Status& status) {
  if (!request.several) return take_one(request, status);
  for (Request* part : request.parts)
    if (part->receive) take_one(*part, status);
  for (Request* part : request.parts)
    if (!part->receive) take_one(*part, status);
}

void Completing::take_one(Request& request, const MPI_Status& status) {
  Taken taken;
  trace::Completion& completion = taken.completion;
  completion.request = request.serial;
  int cancelled = 0;
  if (request.cancelled) PMPI_Test_cancelled(&status, &cancelled);
  completion.cancelled = cancelled != 0;
  if (request.receive && !request.to_nobody && !cancelled) {
    completion.source = source_of(request, status);
    completion.tag = tag_of(request, status);
    completion.bytes = is_described(request) ? request.bytes : received_bytes(status);
  }
  if (request.access) {
    taken.what = Taken::What::collective_or_access;
    taken.end = request.end;
  } else if (request.collective) {
    end_collective(request, taken);
  } else if (session.predicting() && !request.to_nobody) {
    if (cancelled)
      withdraw(request);
    else
      end_message(request, taken);
  }
  if (cancelled)
    session.look_choices.withdraw({request.serial, 0, 0});
  else if (request.receive && !request.access && !request.collective)
    session.look_choices.take({request.serial, 0, 0}, taken.end, looks_);
  take_again(taken);
}

void Completing::take_again(const Taken& taken) {
  event_.completions.push_back(taken.completion);
  if (found_) found_->taken.push_back(taken);
  if (session.predicting()) advance(taken);
}

void Completing::end_collective(Request& request, Taken& taken) {
  if (session.predicting()) {
    taken.what = Taken::What::collective_or_access;
    taken.end = end_of_collective(request);
  }
  if (request.made == MPI_COMM_NULL) return;
  await_key(request, for_others());
  session.comms.adopt(request.made, request.made_key);
}

void Completing::end_message(Request& request, Taken& taken) {
  if (request.receive) {
    session.piggyback.settle(request.recv, taken.completion.source, taken.completion.tag);
    const machine::MessageStamp& stamp = request.recv.stamp;
    taken.what = Taken::What::receive;
    taken.partner = taken.completion.source;
    taken.untouched = stamp.untouched;
    taken.bytes = stamp.bytes;
    taken.piece = Bytes(request.in_pieces);
    taken.end = end_of_receive(request, taken.partner);
    session.choices.take(request.serial, taken.end);
    return;
  }
  taken.what = Taken::What::send;
  taken.partner = request.comm->world(request.peer);
  taken.untouched = request.untouched;
  taken.bytes = request.bytes;
  Time r0;
  if (request.rendezvous) {
    Blocked blocked{name_of(Fn::MPI_Wait), taken.partner, request.tag, request.bytes.count};
    blocked.synchronous = request.mode == SendMode::synchronous;
    blocked.rendezvous = !blocked.synchronous;
    r0 = session.piggyback.await_answer(request.stamp_serial, blocked);
  }
  taken.end = end_of_send(request, r0);
}

// Collectives and accesses cost nothing but time, which others in the same call do not add to.
void Completing::advance(const Taken& taken) {
  using enum Taken::What;
  if (taken.what == nothing) return;
  if (taken.what == collective_or_access) {
    ends_ = std::max(ends_, taken.end);
    return;
  }
  machine::Port& port = session.port_with(taken.partner);
  const machine::Timing& timing = session.timing_with(taken.partner, taken.untouched);
  if (taken.what == receive) {
    waits_.complete_receive(timing, port, taken.end, taken.bytes);
    unpacking_ += timing.unpacking(taken.bytes, taken.piece);
  } else {
    waits_.complete_send(timing, port, taken.end, taken.bytes);
  }
}

void Completing::finish() {
  if (session.predicting()) session.choices.finish(session.requests.newest(), chooses_);
  const Time leave = std::max(waits_.leave(), ends_);
  const Time wait = machine::wait_time(leave, waits_.alone());
  if (event_.completions.empty())
    session.close_as_call();
  else if (found_)
    session.close_found(leave + unpacking_, wait);
  else if (session.predicting())
    session.close_at(leave + unpacking_, wait);
  else
    session.close();
}

}  // namespace foretrace::capture
