#include "formats/rank_events.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::formats {

using mpi_api::is_in_any;
using trace::Event;
using trace::EventKind;

namespace {

machine::SendMode mode_called(std::string_view name) {
  if (is_in_any(name, {"synchronous"})) return machine::SendMode::synchronous;
  if (is_in_any(name, {"buffered"})) return machine::SendMode::buffered;
  if (is_in_any(name, {"ready"})) return machine::SendMode::ready;
  return machine::SendMode::standard;
}

// What a call without any record of its own is. Calls with MPI_PROC_NULL have none.
EventKind kind_without_record(std::string_view name) {
  if (is_in_any(name, {"inits"})) return EventKind::init;
  if (name == "MPI_Finalize") return EventKind::finalize;
  if (is_in_any(name, {"nonblocking"})) return EventKind::call;
  const bool receives = is_in_any(name, {"receives"});
  if (is_in_any(name, {"sends"})) return receives ? EventKind::sendrecv : EventKind::send;
  return receives ? EventKind::recv : EventKind::call;
}

// Whether what calls of that name are about (a message, a collective, an access) decides what
// time they take, so that a record should tell it.
bool should_have_record(std::string_view name) {
  if (is_in_any(name, {"comm_frees"})) return false;  // nobody waits
  return is_in_any(name, {"collectives", "comm_meetings", "waits", "with_others"});
}

}  // namespace

RankEvents::RankEvents(trace::TraceWriter& writer, WorldRank rank,
                       const std::vector<trace::Communicator>& comms, bool own, Missing& missing)
    : writer_(writer), rank_(rank), comms_(comms), own_(own), missing_(missing), begun_(own) {}

// --- regions

void RankEvents::begin(Time at) {
  begun_ = true;
  Event event;
  event.kind = EventKind::init;
  event.name = name_id("MPI_Init");
  event.enter = event.leave = at;
  last_leave_ = at;
  add(std::move(event));
  for (const std::string& name : outer_) phase(at, name, true, {});
  outer_.clear();
}

void RankEvents::enter(Time at, const std::string& name, bool is_mpi, CallHints hints) {
  if (depth_ > 0) {
    if (is_mpi) ++depth_;
    return;
  }
  if (!is_mpi) {
    if (begun_)
      phase(at, name, true, std::move(hints));
    else
      outer_.push_back(name);
    return;
  }
  depth_ = 1;
  call_ = name;
  entered_ = at;
  hints_ = std::move(hints);
  records_.clear();
}

void RankEvents::leave(Time at, const std::string& name, bool is_mpi) {
  if (depth_ > 0) {
    if (is_mpi && --depth_ == 0) close_call(at);
    return;
  }
  if (is_mpi) {
    missing_.add("a call of " + name + " that ended without having begun");
  } else if (begun_) {
    phase(at, name, false, {});
  } else {
    const auto open = std::ranges::find(outer_, name);
    if (open != outer_.end()) outer_.erase(open);
  }
}

void RankEvents::phase(Time at, const std::string& name, bool begins, CallHints hints) {
  hints_ = std::move(hints);
  entered_ = left_ = std::max(at, last_leave_);
  call_ = name;
  first_of_call_ = true;
  add(start_event(begins ? EventKind::phase_begin : EventKind::phase_end));
}

void RankEvents::mark(Time at, const std::string& name, double value, CallHints hints) {
  if (!begun_ || depth_ > 0) return missing_.add("a value of " + name + " within an MPI call");
  hints_ = std::move(hints);
  entered_ = left_ = std::max(at, last_leave_);
  call_ = name;
  first_of_call_ = true;
  Event event = start_event(EventKind::mark);
  event.value = value;
  add(std::move(event));
}

// --- records

void RankEvents::take_record(const Record& record) {
  if (depth_ == 0)
    missing_.add("a message or collective outside of every MPI call");
  else
    records_.push_back(record);
}

void RankEvents::sent(const ForeignMessage& message) {
  take_record({What::send, 0, message, {}});
}
void RankEvents::received(const ForeignMessage& message) {
  take_record({What::recv, 0, message, {}});
}
void RankEvents::posted_send(std::uint64_t request, const ForeignMessage& message) {
  take_record({What::isend, request, message, {}});
}
void RankEvents::posted_receive(std::uint64_t request) {
  take_record({What::irecv, request, {}, {}});
}
void RankEvents::posted_collective(std::uint64_t request) {
  take_record({What::icollective, request, {}, {}});
}
void RankEvents::collective(const ForeignCollective& what) {
  take_record({What::collective, 0, {}, what});
}
void RankEvents::completed(std::uint64_t request) {
  take_record({What::done, request, {}, {}});
}
void RankEvents::completed_receive(std::uint64_t request, const ForeignMessage& message) {
  take_record({What::recv_done, request, message, {}});
}
void RankEvents::completed_collective(std::uint64_t request, const ForeignCollective& what) {
  take_record({What::collective_done, request, {}, what});
}
void RankEvents::cancelled(std::uint64_t request) {
  take_record({What::cancelled, request, {}, {}});
}

std::size_t RankEvents::count(What what) const {
  return static_cast<std::size_t>(std::ranges::count(records_, what, &Record::what));
}

// --- calls to events

Event RankEvents::start_event(EventKind kind) {
  Event event;
  event.kind = kind;
  event.name = name_id(call_);
  if (hints_.site) event.site = site_id(*hints_.site);
  // Of several events of one call the first has its time, and counts as the call.
  event.enter = first_of_call_ ? entered_ : left_;
  event.leave = left_;
  event.count = first_of_call_ ? hints_.count : 0;
  if (first_of_call_) {
    event.compute = hints_.compute ? *hints_.compute : entered_ - last_leave_;
    event.steps = hints_.steps;
    event.wait = hints_.wait;
  }
  first_of_call_ = false;
  last_leave_ = left_;
  return event;
}

void RankEvents::close_call(Time at) {
  entered_ = std::max(entered_, last_leave_);
  left_ = std::max(at, entered_);
  first_of_call_ = true;
  if (!begun_) {
    if (kind_without_record(call_) == EventKind::init) return begin(left_);
    missing_.add("the rank's MPI_Init; it begins with its first call");
    begin(entered_);
  }
  add_posts();
  add_blocking();
  add_completions();
  if (first_of_call_) add_recordless();
}

void RankEvents::add_posts() {
  for (const Record& record : records_) {
    if (record.what == What::irecv) add_irecv(record);
    if (record.what == What::isend) {
      Event event = start_event(EventKind::isend);
      event.mode = hints_.mode.value_or(mode_called(call_));
      event.request = serial_of(record.request);
      event.comm = comm_id(record.message.comm);
      event.send = {record.message.peer, record.message.tag, record.message.bytes};
      requests_[record.request] = {event.request, flushed_ + pending_.size(), What::isend};
      add(std::move(event));
    }
    if (record.what == What::icollective) {
      Event event = start_event(EventKind::icollective);
      event.request = serial_of(record.request);
      requests_[record.request] = {event.request, flushed_ + pending_.size(), What::icollective};
      const bool known = hints_.comm && hints_.cost && hints_.bytes;
      if (known) {
        event.comm = comm_id(*hints_.comm);
        event.collective = *hints_.cost;
        event.bytes = *hints_.bytes;
        event.root = hints_.root;
      }
      add(std::move(event), !known);
    }
  }
}

void RankEvents::add_irecv(const Record& record) {
  Event event = start_event(EventKind::irecv);
  event.request = serial_of(record.request);
  event.taken = hints_.taken;
  const bool known = hints_.posted && hints_.comm;
  if (known) {
    event.comm = comm_id(*hints_.comm);
    event.recv = *hints_.posted;
  }
  event.recv.any_source = hints_.any_source;
  event.recv.any_tag = hints_.any_tag;
  requests_[record.request] = {event.request, flushed_ + pending_.size(), What::irecv};
  add(std::move(event), !known);
}

void RankEvents::add_sendrecv() {
  Event event = start_event(EventKind::sendrecv);
  event.mode = hints_.mode.value_or(machine::SendMode::standard);
  std::size_t comm = hints_.comm.value_or(0);
  for (const Record& record : records_) {
    if (record.what != What::send && record.what != What::recv) continue;
    comm = record.message.comm;
    trace::Endpoint& half = record.what == What::send ? event.send : event.recv;
    half = {record.message.peer, record.message.tag, record.message.bytes};
  }
  if (hints_.posted && !event.recv.peer.valid()) event.recv = *hints_.posted;
  event.recv.any_source = hints_.any_source;
  event.recv.any_tag = hints_.any_tag;
  event.comm = comm_id(comm);
  add(std::move(event));
}

void RankEvents::add_message(const Record& record) {
  const bool sends = record.what == What::send;
  Event event = start_event(sends ? EventKind::send : EventKind::recv);
  event.comm = comm_id(record.message.comm);
  trace::Endpoint& end = sends ? event.send : event.recv;
  end = {record.message.peer, record.message.tag, record.message.bytes};
  if (sends) {
    event.mode = hints_.mode.value_or(mode_called(call_));
  } else {
    end.any_source = hints_.any_source;
    end.any_tag = hints_.any_tag;
    event.taken = hints_.taken;
  }
  add(std::move(event));
}

void RankEvents::add_collective(const ForeignCollective& what) {
  Event event = start_event(EventKind::collective);
  event.comm = comm_id(what.comm);
  event.collective = what.cost;
  event.bytes = hints_.bytes.value_or(what.bytes);
  event.reduction = hints_.reduction;
  event.root = what.root;
  add(std::move(event));
}

void RankEvents::add_blocking() {
  const std::size_t sends = count(What::send);
  const std::size_t receives = count(What::recv);
  const bool exchange = hints_.kind
                            ? hints_.kind == EventKind::sendrecv
                            : call_.starts_with("MPI_Sendrecv") || (sends == 1 && receives == 1);
  if (exchange && sends <= 1 && receives <= 1 && sends + receives > 0) {
    add_sendrecv();
  } else {
    for (const Record& record : records_)
      if (record.what == What::send || record.what == What::recv) add_message(record);
  }
  for (const Record& record : records_)
    if (record.what == What::collective) add_collective(record.collective);
}

trace::Completion RankEvents::completion_of(const Record& record) {
  trace::Completion done;
  const auto found = requests_.find(record.request);
  if (found == requests_.end()) {
    missing_.add("the beginning of a request that was completed");
    return done;
  }
  done.request = found->second.serial;
  done.cancelled = record.what == What::cancelled;
  if (record.what == What::recv_done) {
    done.source = record.message.peer;
    done.tag = record.message.tag;
    done.bytes = record.message.bytes;
  }
  resolve(found->second, record);
  requests_.erase(found);
  return done;
}

// What was not known of the posting is what came of it.
void RankEvents::resolve(const Request& request, const Record& record) {
  if (request.place < flushed_) return;
  Pending& pending = pending_[static_cast<std::size_t>(request.place - flushed_)];
  if (!pending.open) return;
  pending.open = false;
  if (record.what == What::recv_done) {
    pending.event.comm = comm_id(record.message.comm);
    pending.event.recv.peer = record.message.peer;
    pending.event.recv.tag = record.message.tag;
    pending.event.recv.bytes = record.message.bytes;
  } else if (record.what == What::collective_done) {
    pending.event.comm = comm_id(record.collective.comm);
    pending.event.collective = record.collective.cost;
    pending.event.bytes = record.collective.bytes;
    pending.event.root = record.collective.root;
  } else if (pending.event.kind == EventKind::icollective) {
    pending.event.kind = EventKind::call;
  } else {
    pending.event.comm = comm_id(0);
  }
}

void RankEvents::add_completions() {
  std::vector<trace::Completion> done;
  for (const Record& record : records_) {
    if (record.what < What::done) continue;
    trace::Completion one = completion_of(record);
    if (one.request != 0) done.push_back(one);
  }
  if (done.empty()) return;
  Event event = start_event(EventKind::complete);
  event.completions = std::move(done);
  add(std::move(event));
}

void RankEvents::add_recordless() {
  const EventKind kind = hints_.kind.value_or(kind_without_record(call_));
  Event event = start_event(kind);
  if (trace::uses_comm(kind) || (kind == EventKind::call && hints_.comm))
    event.comm = comm_id(hints_.comm.value_or(0));
  if (own_) {
    event.mode = hints_.mode.value_or(mode_called(call_));
    if (kind != EventKind::send && kind != EventKind::isend && kind != EventKind::sendrecv)
      event.mode = machine::SendMode::standard;
    if (hints_.posted) event.recv = *hints_.posted;
    event.recv.any_source = hints_.any_source;
    event.recv.any_tag = hints_.any_tag;
    event.taken = hints_.taken;
    event.request = hints_.request;
    event.send.peer = hints_.peer;
    event.collective = hints_.cost.value_or(machine::Cost::kCount);
    event.bytes = hints_.bytes.value_or(Bytes());
    event.root = hints_.root;
    event.code = hints_.code;
    event.one_sided = hints_.one_sided;
    event.reduction = hints_.reduction;
    if (event.request != 0) requests_[event.request] = {event.request, 0, What::isend};
  } else if (kind == EventKind::send || kind == EventKind::recv || kind == EventKind::sendrecv) {
    event.mode = mode_called(call_);
    missing_.add(call_ + " without a message; taken as one with MPI_PROC_NULL");
  } else if (should_have_record(call_)) {
    missing_.add(call_ + " without what it was about; taken as a call without partners");
  }
  if (kind == EventKind::finalize) finalized_ = true;
  add(std::move(event));
}

// --- the stream

std::uint64_t RankEvents::serial_of(std::uint64_t request) {
  if (own_) return request;
  if (requests_.erase(request) > 0) missing_.add("the end of a request");
  return ++serials_;
}

void RankEvents::add(Event event, bool open) {
  event.send.untouched = hints_.untouched;
  event.send.piece = hints_.send_piece;
  event.recv.piece = hints_.recv_piece;
  event.join = hints_.join;
  event.second = hints_.second;
  if (std::max(event.join.back, event.second.back) > flushed_ + pending_.size())
    throw Error("a wait for a thread that began before the first event");
  if (event.kind == EventKind::finalize || event.kind == EventKind::aborted) finalized_ = true;
  pending_.push_back({std::move(event), open});
  flush();
}

void RankEvents::flush() {
  while (!pending_.empty() && !pending_.front().open) {
    writer_.write(pending_.front().event);
    pending_.pop_front();
    ++flushed_;
  }
}

void RankEvents::finish(Time at) {
  const bool in_call = depth_ > 0;
  const std::string open_call = call_;
  for (Pending& pending : pending_) {
    if (!pending.open) continue;
    pending.open = false;
    missing_.add("the end of a posted receive or collective; taken as a call without partners");
    pending.event.kind = EventKind::call;
    pending.event.request = 0;
    pending.event.recv = {};
  }
  flush();
  if (!own_ && !begun_) {
    missing_.add("every call of a rank");
    begin(at);
  }
  if (!own_ && !finalized_ && !in_call) {
    missing_.add("the rank's MPI_Finalize; it ends with its last event");
    call_ = "MPI_Finalize";
    hints_ = {};
    entered_ = left_ = std::max(at, last_leave_);
    first_of_call_ = true;
    add(start_event(EventKind::finalize));
  }
  if (in_call) writer_.enter(name_id(open_call), hints_.site ? site_id(*hints_.site) : 0);
}

trace::NameId RankEvents::name_id(const std::string& name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  return names_[name] = writer_.define_name(name);
}

trace::SiteId RankEvents::site_id(const trace::Site& site) {
  const auto [found, added] = sites_.try_emplace({site.object, site.offset});
  if (added) found->second = writer_.define_site(site);
  return found->second;
}

trace::CommId RankEvents::comm_id(std::size_t comm) {
  const auto [found, added] = comm_ids_.try_emplace(comm);
  if (added) found->second = writer_.define_comm(comms_[comm].key, comms_[comm].members);
  return found->second;
}

}  // namespace foretrace::formats
