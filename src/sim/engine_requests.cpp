#include <algorithm>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

namespace {

bool is_test(Completing completing) {
  return completing == Completing::test_all || completing == Completing::test_any ||
         completing == Completing::test_some;
}

using Completions = std::span<const trace::Completion>;

Completions asked(const Operation& operation) {
  return operation.completions.first(operation.completions.size() - operation.watched);
}
Completions watched(const Operation& operation) {
  return operation.completions.last(operation.watched);
}

}  // namespace

void Engine::start_complete(Rank& rank) {
  const Operation& operation = rank.operation;
  if (operation.completing != Completing::all && !races_)
    fail(rank, "waits for any of its requests, but its source says that nothing races");
  for (const trace::Completion& completion : asked(operation)) {
    Request* request = rank.requests.find(completion.request);
    if (!request || request->awaited)
      fail(rank, "completes request " + std::to_string(completion.request) +
                     (request ? " twice" : ", which is not posted or completed before"));
    request->awaited = true;
    if (!request->done && operation.completing == Completing::all) ++rank.waiting_for;
  }
  const bool test = is_test(operation.completing);
  if ((test && operation.patience == Time()) || operation.completing == Completing::all ||
      asked(operation).empty() || choose_finished(rank, rank.enter, chosen_) || !watch(rank))
    return;
  rank.any = true;
  // Only the first end that is known can be the one that lets it go on; where all
  // must have ended, the last.
  const bool all = operation.completing == Completing::test_all;
  Time next = all ? Time() : Time::max();
  bool known = false;
  for (const trace::Completion& completion : asked(operation)) {
    const Request& request = *rank.requests.find(completion.request);
    if (!request.done) continue;
    known = true;
    next = all ? std::max(next, request.end) : std::min(next, request.end);
  }
  if (known) wake_at(rank, next);
  if (test) give_up_later(rank);
}

// Of what the rank does not ask for, but looked for before: it shall be let go on
// when that is there. False if it is.
bool Engine::watch(Rank& rank) {
  if (watched_ended(rank, rank.enter)) return false;
  for (const trace::Completion& completion : watched(rank.operation)) {
    Request* request = rank.requests.find(completion.request);
    if (!request) continue;
    request->awaited = true;
    if (request->done) wake_at(rank, request->end);
  }
  return true;
}

bool Engine::watched_ended(Rank& rank, Time now) {
  return std::ranges::any_of(watched(rank.operation), [&](const trace::Completion& completion) {
    const Request* request = rank.requests.find(completion.request);
    return request && request->done && request->end <= now;
  });
}

// A test or look that has found nothing stops waiting, unless it succeeds before.
void Engine::give_up_later(Rank& rank) {
  const Time patience = std::min(rank.operation.patience, kEndOfTime);
  patience_.push({rank.enter + patience, EventClass::give_up, rank.id.value, 0,
                  static_cast<std::uint32_t>(rank.result.events)});
}

// Whether the rank still waits in the call that the event is about.
bool Engine::is_patient(const Event& event) const {
  const Rank& rank = ranks_[static_cast<std::size_t>(event.rank)];
  return (rank.any || rank.probing) &&
         event.payload == static_cast<std::uint32_t>(rank.result.events);
}

// Where nobody does anything but look, waiting helps nobody: the one whose
// patience ends first goes on now.
void Engine::give_up_at_once() {
  const Event event = patience_.pop();
  if (!is_patient(event)) return;
  Rank& rank = ranks_[static_cast<std::size_t>(event.rank)];
  now_ = std::max(now_, rank.enter);
  give_up(event, std::min(event.time, now_));
}

void Engine::give_up(const Event& event, Time when) {
  if (!is_patient(event)) return;
  Rank& rank = ranks_[static_cast<std::size_t>(event.rank)];
  rank.leave = rank.any ? when : std::max(when, rank.enter + poll_cost(rank));
  rank.any = false;
  rank.probing = false;
  advance(rank);
}

// The first of tests that find nothing.
void Engine::start_in_vain(Rank& rank) {
  const Time patience = std::min(rank.operation.vains->patience, kEndOfTime);
  rank.leave = rank.enter + std::max(poll_cost(rank), patience);
}

// It is over; the next one begins when its time has come.
void Engine::go_on_in_vain(Rank& rank) {
  add_event(rank, leave(rank));
  Operation& operation = rank.operation;
  ++operation.vains;
  --operation.vain_count;
  operation.compute = operation.vains->compute;
  rank.enter = rank.clock + compute_before(rank, operation);
  rank.prepared = true;
  ++rank.result.events;
  source_.went_on(rank.id, operation);
}

// Withdraws a posted receive that no message belongs to yet, or a send whose
// message no receive has.
void Engine::start_cancel(Rank& rank) {
  if (!races_) fail(rank, "cancels a request, but its source says that nothing races");
  rank.leave = rank.enter + call_cost(rank);
  rank.cancelled = false;
  rank.message.bytes = Bytes();
  rank.payload = 0;
  const std::uint64_t serial = rank.operation.cancel;
  Request* const request = rank.requests.find(serial);
  if (!request)
    fail(rank,
         "cancels request " + std::to_string(serial) + ", which is not posted or completed before");
  settle_open(rank);
  if (request->is_collective || request->is_access || request->empty) return;
  if (request->is_send ? !withdraw_send(rank, *request) : !withdraw_receive(rank, *request)) return;
  if (request->is_send && request->payload != 0) {
    stalled_send(request->payload)->id = 0;
    request->payload = 0;
  }
  request->empty = true;
  request->done = true;
  request->cancelled = true;
  request->end = rank.enter;
  rank.cancelled = true;
}

bool Engine::withdraw_receive(Rank& rank, const Request& request) {
  if (request.done) return false;
  const Route route{request.comm, request.peer, rank.id, request.tag};
  const auto is_it = [&](const OpenReceive& open) { return open.request == request.serial; };
  if (rank.racing && std::erase_if(rank.racing->open, is_it) > 0) return true;
  return matcher_.withdraw(route, request.serial);
}

// An eager message travels on though nobody will receive it.
bool Engine::withdraw_send(Rank& rank, const Request& request) {
  const Route route{request.comm, rank.id, request.peer, request.tag};
  const auto send = matcher_.withdraw_message(route, request.serial);
  if (!send) return false;
  if (!send->stamp.rendezvous) --rank.unreceived;
  if (send->flight != kNoFlight) {
    Flight& flight = flights_[send->flight];
    flight.withdrawn = true;
    if (flight.arrived) flights_.give_back(send->flight);
  }
  rank.message.bytes = send->stamp.bytes;
  rank.payload = send->payload;
  return true;
}

void Engine::wake_at(Rank& rank, Time when) {
  // A message that an open receive took late may have been there before.
  when = std::max(when, rank.enter);
  events_.push({when, EventClass::wake, rank.id.value, looks_++,
                static_cast<std::uint32_t>(rank.result.events)});
}

// One of the requests that the rank waits for has ended now; or another one
// let it go on before.
void Engine::wake(const Event& event) {
  Rank& rank = ranks_[static_cast<std::size_t>(event.rank)];
  if (!rank.any || event.payload != static_cast<std::uint32_t>(rank.result.events)) return;
  if (rank.operation.completing == Completing::test_all &&
      !choose_finished(rank, event.time, chosen_) && !watched_ended(rank, event.time))
    return;
  rank.any = false;
  rank.leave = event.time;
  advance(rank);
}

// The requests of the operation that it completes at `now`; false: none.
bool Engine::choose_finished(Rank& rank, Time now, std::vector<trace::Completion>& chosen) {
  const Operation& operation = rank.operation;
  const Completing completing = operation.completing;
  chosen.clear();
  Time earliest = Time::max();
  for (const trace::Completion& completion : asked(operation)) {
    const Request& request = *rank.requests.find(completion.request);
    const bool ended = request.done && request.end <= now;
    if (completing == Completing::any || completing == Completing::test_any) {
      if (!ended || request.end >= earliest) continue;
      earliest = request.end;
      chosen.assign(1, completion);
    } else if (ended || completing == Completing::all) {
      chosen.push_back(completion);
    }
  }
  if (completing == Completing::test_all && chosen.size() != asked(operation).size())
    chosen.clear();
  return !chosen.empty();
}

Time Engine::test_fails_until(Rank& rank) {
  const Operation& operation = rank.operation;
  const Time others = others_go_on(rank);
  Time received = others + least_transfer_;
  const OpenReceive* before = nullptr;
  for (std::size_t i = 0; rank.racing && i < rank.racing->open.size(); ++i) {
    const OpenReceive& open = rank.racing->open[i];
    Found found;
    if ((!before || !open.asks_same(*before)) &&
        first_to_arrive(rank, open.comm, open.pattern, found))
      received = std::min(received, found.header);
    before = &open;
  }
  const bool all = operation.completing == Completing::test_all;
  Time until = all ? Time() : Time::max();
  for (const trace::Completion& completion : asked(operation)) {
    const Request& request = *rank.requests.find(completion.request);
    const bool receives = !request.is_send && !request.is_collective;
    const Time end = request.done ? request.end : receives ? received : others;
    until = all ? std::max(until, end) : std::min(until, end);
  }
  return until;
}

// How long the rank was in looks in vain right before its call.
Time Engine::looked_before(const Rank& rank) const {
  if (!reactive_) return {};
  return counts_as_wait(looked_[static_cast<std::size_t>(rank.id.value)], rank.enter - rank.clock);
}

bool Engine::chooses(const Rank& rank) {
  const trace::NameId name = rank.operation.name;
  if (name >= choosing_.size()) choosing_.resize(name + std::size_t{1}, -1);
  signed char& known = choosing_[name];
  if (known < 0) known = mpi_api::chooses(source_.name(name)) ? 1 : 0;
  return known == 1;
}

// Where the operation says itself what it completes, and its rank chooses now or did before;
// nullptr: there is nothing to follow.
machine::ChoiceOrder* Engine::order_of_choices(const Rank& rank) {
  if (reactive_ || rank.operation.completing != Completing::all) return nullptr;
  if (chooses(rank)) return &choices_[rank.id.value];
  if (choices_.empty()) return nullptr;
  const auto known = choices_.find(rank.id.value);
  return known == choices_.end() ? nullptr : &known->second;
}

// When the call leaves is settled in rank.leave; returns when it would have if all
// requests had ended before.
Time Engine::complete_requests(Rank& rank) {
  Operation& operation = rank.operation;
  std::span<const trace::Completion> completed = operation.completions;
  chosen_payloads_.clear();
  if (operation.completing != Completing::all) {
    choose_finished(rank, rank.leave, chosen_);
    completed = chosen_;
    if (completed.empty() && reactive_) in_vain_until_ = test_fails_until(rank);
    for (const trace::Completion& completion : operation.completions)
      if (Request* request = rank.requests.find(completion.request)) request->awaited = false;
    operation.completions = completed;
    operation.watched = 0;
    if (completed.empty()) {
      if (!is_test(operation.completing)) return rank.leave;
      operation.kind = trace::EventKind::call;
      const Time alone = rank.enter + poll_cost(rank);
      rank.leave = std::max(rank.leave, alone);
      found_nothing_ = true;
      return alone;
    }
  } else {
    chosen_.assign(completed.begin(), completed.end());
    operation.completions = chosen_;
  }
  machine::ChoiceOrder* const order = order_of_choices(rank);
  finished_.clear();
  std::uint32_t index = 0;
  Time collectives;  // a posted one, as an access, costs nothing but time
  Time alone;        // what those take that stand for blocking calls
  for (const trace::Completion& completion : completed) {
    const Request* request = rank.requests.find(completion.request);
    if (!request) fail(rank, "completes request " + std::to_string(completion.request) + " twice");
    // Sources such as text programs do not say what came.
    trace::Completion& result = chosen_[index];
    result.source = request->is_send || request->empty ? WorldRank() : request->peer;
    result.tag = result.source.valid() ? request->tag : 0;
    result.bytes = result.source.valid() ? request->bytes : Bytes();
    result.cancelled |= request->cancelled;
    chosen_payloads_.push_back(request->is_collective ? 0 : request->payload);
    // Where nothing moved nothing is paid.
    if (request->is_collective || request->is_access)
      collectives = std::max(collectives, request->end);
    else if (!request->empty)
      finished_.push_back(
          {request->is_send, request->end, request->bytes,
           machine::of_data(network_->path(rank.id, request->peer), request->untouched), index});
    unpacking_ += unpacking_of_posted(rank, *request, request->peer, request->bytes);
    if (order && !request->is_send && !request->is_collective && !request->empty)
      order->take(request->serial, request->end);
    if (request->is_collective)
      alone = std::max(alone, Time::ps(static_cast<std::int64_t>(request->payload)));
    ++index;
    rank.requests.erase(completion.request);
  }
  if (order && !completed.empty())
    order->finish(rank.requests.newest(completed.front().request), chooses(rank));
  if (log_) log_completion(rank, completed);
  Time minimum;
  // Looks in vain have moved the data as a call that waits from then on.
  const Time waits = is_test(operation.completing) ? looked_before(rank) : Time();
  const Time enter = rank.enter - waits;
  // One that waited for any of its requests has gone on at rank.leave.
  rank.leave =
      std::max({rank.leave, collectives, network_->complete(rank.id, enter, finished_, minimum)});
  return std::max(rank.enter, enter + std::max(minimum, alone));
}

}  // namespace foretrace::sim
