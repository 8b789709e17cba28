// One-sided communication: accesses to the memory of a target that takes no part, and the
// calls that wait for them. Rules: docs/theory.md; as messages: docs/networks.md.

#include <algorithm>

#include "base/error.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using machine::OneSided;

// Whatever their size, accesses have nobody at their target to meet.
constexpr machine::SendMode kNeverMeets = machine::SendMode::buffered;

void Engine::start_one_sided(Rank& rank) {
  const OneSided what = rank.operation.one_sided;
  if (machine::is_access(what)) return start_access(rank);
  if (machine::is_lock(what)) return ask_for_lock(rank);
  if (what == OneSided::unlock)
    rank.leave = rank.enter + call_cost(rank);
  else
    start_flush(rank);
}

// The call does not wait for it; its request ends with it if data comes back.
void Engine::start_access(Rank& rank) {
  const Operation& operation = rank.operation;
  const WorldRank target = operation.send.peer;
  if (!target.valid()) fail(rank, "an access to the memory of nobody");
  partner(rank, target);
  const bool fetches = machine::brings_back(operation.one_sided);
  if (options_.messages) {
    if (machine::carries_there(operation.one_sided))
      options_.messages->add(rank.id, target, operation.bytes);
    if (fetches) options_.messages->add(target, rank.id, operation.bytes);
  }
  if (operation.request != 0) {
    Request* request = rank.requests.insert(operation.request);
    if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
    request->is_send = request->is_access = true;
    request->peer = target;
    request->comm = operation.comm;
  }
  if (log_) log_->note_unknown();
  if (log_ && operation.request != 0 && fetches) log_->post(rank.id, operation.request);
  AccessesTo& to = accesses_of_[rank.id.value][{operation.comm, target.value}];
  ++to.open;
  to.fetching += fetches ? 1 : 0;
  Access access;
  access.origin = rank.id;
  access.target = target;
  access.comm = operation.comm;
  access.what = operation.one_sided;
  access.request = operation.request;
  if (fetches) access.back = operation.bytes;
  const auto times =
      network_->access(rank.id, target, operation.one_sided, rank.enter, operation.bytes);
  const Bytes there = machine::carries_there(operation.one_sided) ? operation.bytes : Bytes(0);
  if (log_)
    access.parts = times ? parts_of_equation(access, operation.bytes)
                         : parts_of_messages(access, there, access.back);
  if (times)
    rank.leave = times->leave;
  else
    send_access(rank, access, there);
  if (operation.request != 0 && !fetches) request_done(rank, operation.request, rank.leave, {}, 0);
  if (times) access_done(access, times->end);
}

// As two messages: `bytes` to the target, and its network interface sends what goes back.
void Engine::send_access(Rank& rank, const Access& access, Bytes bytes) {
  const WorldRank to = access.target;
  const SendTimes times =
      network_->begin_send(rank.id, to, rank.enter, kNeverMeets, bytes, true, false);
  rank.leave = times.leave;
  stats_.messages += 2;
  if (!between_nodes(rank.id, to)) {
    Meeting meeting;
    meeting.from = rank.id;
    meeting.to = to;
    meeting.stamp = {times.sent, bytes, false};
    const Time there = network_->deliver(meeting).arrival;
    std::swap(meeting.from, meeting.to);
    meeting.stamp.sent = there + network_->send_overhead(network_->path(rank.id, to));
    meeting.stamp.bytes = access.back;
    return access_done(access, network_->deliver(meeting).arrival);
  }
  Flight flight;
  flight.from = rank.id;
  flight.to = to;
  flight.bytes = bytes;
  flight.order = rank.sends++;
  if (log_) log_->note_send(rank.id, Time());
  flight.access = accesses_.take(access);
  accesses_[flight.access].number = access_count_++;
  const std::uint32_t number = flights_.take(flight);
  if (ports_ && times.start == rank.enter)
    access_arrived(number, network_->pass_port(to, times.start, bytes));
  else
    enter_at(number, ports_ ? times.start : times.sent);
}

// One of its two messages is there.
void Engine::access_arrived(MessageId message, Time when) {
  Flight& flight = flights_[message];
  Access& access = accesses_[flight.access];
  if (!access.returns) {
    access.returns = true;
    std::swap(flight.from, flight.to);
    flight.bytes = access.back;
    flight.order = kSentBack | access.number;
    return enter_at(message, ports_ ? when : when + network_->send_overhead(machine::Path::outer));
  }
  const Access done = access;
  accesses_.give_back(flight.access);
  flights_.give_back(message);
  access_done(done, when);
}

void Engine::access_done(const Access& access, Time when) {
  Rank& origin = rank_of(access.origin);
  if (machine::is_lock(access.what)) {
    origin.arrival = when;
    origin.leave = std::max(origin.leave, when);
    return half_done(origin);
  }
  AccessesTo& to = accesses_of_.at(access.origin.value).at({access.comm, access.target.value});
  const bool fetches = machine::brings_back(access.what);
  --to.open;
  const auto reach = [&](Time& end, AccessParts& parts) {
    if (when > end) parts = access.parts;
    end = std::max(end, when);
  };
  reach(to.end, to.of_end);
  if (fetches) {
    --to.fetching;
    reach(to.fetched, to.of_fetched);
  }
  if (access.request != 0 && fetches && log_) log_access_end(access, when);
  if (access.request != 0 && fetches) request_done(origin, access.request, when, {}, 0);
  const OneSided doing = origin.operation.one_sided;
  if (origin.waiting_for > 0 && waits_for(origin.operation, access.comm, access.target) &&
      (doing == OneSided::flush || fetches))
    half_done(origin);
}

bool Engine::waits_for(const Operation& flush, trace::CommId comm, WorldRank target) {
  return flush.kind == trace::EventKind::call &&
         (flush.one_sided == OneSided::flush || flush.one_sided == OneSided::flush_local) &&
         flush.comm == comm && (!flush.send.peer.valid() || flush.send.peer == target);
}

void Engine::start_flush(Rank& rank) {
  const auto found = accesses_of_.find(rank.id.value);
  if (found == accesses_of_.end()) return;
  const bool local = rank.operation.one_sided == OneSided::flush_local;
  for (const auto& [where, to] : found->second)
    if (waits_for(rank.operation, where.first, WorldRank(where.second)))
      rank.waiting_for += local ? to.fetching : to.open;
}

// When it leaves is settled in rank.leave; returns when it would have if all had been over.
Time Engine::settle_flush(Rank& rank) {
  const Time alone = rank.enter + timing_.flush_time(source_.name(rank.operation.name));
  rank.leave = alone;
  const auto found = accesses_of_.find(rank.id.value);
  if (found == accesses_of_.end()) return alone;
  const bool local = rank.operation.one_sided == OneSided::flush_local;
  AccessParts parts;
  std::erase_if(found->second, [&](const auto& entry) {
    const auto& [where, to] = entry;
    if (!waits_for(rank.operation, where.first, WorldRank(where.second))) return false;
    const Time end = local ? to.fetched : to.end;
    if (end > rank.leave) parts = local ? to.of_fetched : to.of_end;
    rank.leave = std::max(rank.leave, end);
    return !local;
  });
  if (log_ && rank.leave > alone) log_access(rank, alone, parts);
  return alone;
}

// Sets when it would have the lock if nobody held it, rank.arrival; with messages that is not
// known yet.
void Engine::ask_for_lock(Rank& rank) {
  const Operation& operation = rank.operation;
  const WorldRank target = operation.send.peer;
  rank.arrival = rank.enter;
  if (!machine::is_lock(operation.one_sided)) return;  // of no program
  if (!target.valid()) {
    rank.arrival = rank.enter + call_cost(rank);
  } else if (const auto there = network_->lock(rank.id, partner(rank, target).id, rank.enter)) {
    rank.arrival = *there;
  } else {
    ++rank.waiting_for;
    Access access;
    access.origin = rank.id;
    access.target = target;
    access.comm = operation.comm;
    access.what = operation.one_sided;
    send_access(rank, access, Bytes(0));
  }
  rank.leave = std::max(rank.leave, rank.arrival);
}

}  // namespace foretrace::sim
