#include "mpi/p2p/completion.hpp"

#include <algorithm>

#include "mpi/collective/gathered.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/datatype/datatype.hpp"
#include "shared/horizon.hpp"
#include "shared/message_costs.hpp"

namespace foretrace::mpi {

using sim::Completing;
using trace::EventKind;

bool is_complete(const Request& request) {
  return !request.generalized() || request.generalized()->complete;
}

int partner_of(const Comm& comm, int world_rank) {
  const std::vector<int>& members = comm.partners().members;
  // Often they are the same.
  const auto at = static_cast<std::size_t>(world_rank);
  if (at < members.size() && members[at] == world_rank) return world_rank;
  return comm.partners().index_of(world_rank);
}

void set_empty_status(MPI_Status& status) {
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = MPI_SUCCESS;
  set_status_bytes(status, 0, false);
}

void set_null_status(MPI_Status& status) {
  set_empty_status(status);
  status.MPI_SOURCE = MPI_PROC_NULL;
}

void set_status(MPI_Status& status, const Comm& comm, const Result& message) {
  status.MPI_SOURCE = partner_of(comm, message.source);
  status.MPI_TAG = message.tag;
  status.MPI_ERROR = MPI_SUCCESS;
  set_status_bytes(status, message.bytes, false);
}

namespace {

bool is_open(const Request* request) {
  return request && request->active;
}

void receive(Request& request, const Result& said) {
  const Result result = mailbox.finish(request.incoming, said);
  const Block message = Block::take(result.payload, result.bytes);
  if (result.source < 0) return set_null_status(request.status);
  Result fitting = result;
  if (result.bytes > request.capacity) {
    request.error = MPI_ERR_TRUNCATE;
    fitting.bytes = request.capacity;
  }
  set_status(request.status, *request.comm, fitting);
  if (request.has_more() && request.more().arrived)
    request.more().arrived({message.data(), fitting.bytes});
  else if (fitting.bytes > 0)
    unpack_in(message.data(), fitting.bytes, request.buffer, request.count, *request.type);
}

std::vector<Request*> freed_receives;
std::uint64_t freed_sends = 0;

// What the simulator has open of this rank.
struct OpenCollective {
  std::uint64_t serial = 0;
  std::uint32_t context = 0;
  std::uint64_t entries = 0;
};
std::vector<OpenCollective> open_collectives;
std::uint64_t open_sends = 0;
Time open_sends_end;

void note_settled(const Request& request) {
  if (request.what == Request::What::send && --open_sends == 0) open_sends_end = Time();
  if (request.what == Request::What::collective)
    std::erase_if(open_collectives,
                  [&](const OpenCollective& open) { return open.serial == request.serial; });
}

// When the last thing that is open ends of which the simulator knows when; Time::max() if that is
// not known here.
Time open_until() {
  const auto ended = [](const OpenCollective& open) {
    return horizon::entries(open.context) >= open.entries;
  };
  if (std::ranges::any_of(open_collectives, ended)) return Time::max();
  return std::max({line.sent_by(), open_sends_end, mailbox.ends_by()});
}

void settle(Request& request, const Result& result) {
  note_settled(request);
  request.serial = 0;
  set_empty_status(request.status);
  if (result.cancelled) {
    set_status_bytes(request.status, 0, true);
    request.cancelled = true;
  } else if (request.what == Request::What::receive) {
    receive(request, result);
  } else if (request.what == Request::What::collective) {
    Gathered gathered(result.payload);
    if (request.more().finish) request.more().finish(gathered);
  }
}

// After the last of its parts.
void finish_several(Request& request) {
  if (request.what != Request::What::several || request.more().finished || !request.settled())
    return;
  request.more().finished = true;
  set_empty_status(request.status);
  for (const Request* part : request.parts())
    if (part->error != MPI_SUCCESS && request.error == MPI_SUCCESS) request.error = part->error;
  if (request.more().finish_parts) request.more().finish_parts();
}

void collect_open(Request* request, Few<Request*>& open) {
  if (request->serial != 0) open.push_back(request);
  for (Request* part : request->parts()) collect_open(part, open);
}

// Whether all of them complete, whatever other ranks do, once their messages are sent; and, unless
// the call `tests`, whether it is known which messages these are.
bool follow_from_data(std::span<Request* const> open, bool tests) {
  return may_run_ahead() && std::ranges::all_of(open, [tests](const Request* request) {
           if (request->what == Request::What::send) return !request->rendezvous;
           if (request->what == Request::What::collective) return tests;
           return request->what == Request::What::receive &&
                  (request->incoming.state != Incoming::State::asked ||
                   (tests && mailbox.follows()));
         });
}

// What this rank knows of the request's message.
KnownTransfer transfer_of(const Request& request) {
  if (request.what == Request::What::send)
    return {true, request.sent, live::message_costs::sized(request.capacity, request.untouched)};
  KnownTransfer transfer = transfer_of(request.incoming);
  const bool takes_apart = request.in_pieces != 0 && live::pieces_take_time();
  if (request.incoming.message.bytes > request.capacity || takes_apart) transfer.sent = kNoClock;
  return transfer;
}

void settle_known(std::span<Request* const> requests) {
  Few<KnownTransfer> transfers;
  for (const Request* request : requests) transfers.push_back(transfer_of(*request));
  line.completed({transfers.data(), transfers.size()});
  for (Request* request : requests) settle(*request, {});
}

// A test that has completed those that had ended, as this rank knew.
void settle_ended(Completing how, std::span<Request* const> open, std::span<const End> ends) {
  const auto by_time = [](const End& end) { return end.known ? end.at : Time::max(); };
  const auto first =
      static_cast<std::size_t>(std::ranges::min_element(ends, {}, by_time) - ends.begin());
  Few<Request*> ended;
  for (std::size_t i = 0; i < open.size(); ++i)
    if (how == Completing::test_any ? i == first : by_time(ends[i]) <= line.let_go())
      ended.push_back(open[i]);
  line.run_ahead();
  mailbox.give_open(line.let_go());
  settle_known({ended.data(), ended.size()});
}

// Completes them without the simulator, which only gets to know.
bool run_ahead(Record& record, std::span<Request* const> open) {
  line.post(record);
  line.run_ahead();
  Few<Incoming*> receives;
  for (Request* request : open)
    if (request->incoming.is_known()) receives.push_back(&request->incoming);
  mailbox.await({receives.data(), receives.size()});
  settle_known(open);
  return true;
}

// One call of the engine about these; whether it completed any. `waits`: if not, it is called
// again.
bool ask_engine(Completing how, std::span<Request* const> open, bool waits = false) {
  if (open.empty()) return false;
  Record record = line.record(EventKind::complete);
  record.completing = static_cast<std::uint8_t>(how);
  const bool tests =
      how == Completing::test_all || how == Completing::test_any || how == Completing::test_some;
  const std::uint64_t first = open.front()->serial;
  Few<std::uint64_t> numbers;
  for (const Request* request : open) numbers.push_back(request->serial);
  if (tests && open.size() == 1) {
    const Few<std::uint64_t> others = line.looked_for_besides(first);
    record.watched = static_cast<std::uint32_t>(others.size());
    for (const std::uint64_t number : others) numbers.push_back(number);
  }
  line.list_requests(record, {numbers.data(), numbers.size()});
  if (how == Completing::all && mailbox.has_open()) mailbox.look(line.now());
  if (how == Completing::all && follow_from_data(open, false)) return run_ahead(record, open);
  Ends ends(how, open);
  const Answer* const polled =
      tests ? line.poll(record, open.size() == 1 ? first : first | Line::kNoRequest, waits,
                        follow_from_data(open, true) ? &ends : nullptr)
            : &line.ask(record);
  if (!polled) {
    settle_ended(how, open, ends.known());
    return true;
  }
  const Answer& answer = *polled;
  if (answer.completed == 0) return false;
  // Finishing may ask again: the results have to be out of the way.
  Few<Result, 8> copies(answer.completed);
  std::copy_n(line.results(answer), copies.size(), copies.begin());
  line.free_results(answer);
  // They come in the order of the list, though some may be left out.
  std::size_t at = 0;
  for (const Result& result : copies) {
    for (std::size_t i = 0; i < open.size() && open[at]->serial != result.request; ++i)
      at = (at + 1) % open.size();
    Request& request = *open[at];
    at = (at + 1) % open.size();
    settle(request, result);
  }
  return true;
}

bool has_parts(std::span<Request* const> requests) {
  return std::ranges::any_of(requests, [](const Request* request) {
    return is_open(request) &&
           (request->what == Request::What::several || request->generalized() != nullptr);
  });
}

// Whether the program itself completes it (MPI_Grequest_complete).
bool by_program(const Request* request) {
  return is_open(request) && request->generalized() != nullptr;
}

// Other threads have yet to make partitions ready, of which the last one sends what is waited for.
bool lacks_partitions(Request* request) {
  return is_open(request) && request->what == Request::What::several && request->more().unready > 0;
}

// Where all have to be complete.
void wait_for_all(std::span<Request* const> requests) {
  Few<Request*> open;
  for (Request* request : requests)
    while (lacks_partitions(request)) wait_for_threads();
  for (Request* request : requests)
    if (is_open(request)) collect_open(request, open);
  if (threads_multiple()) {
    while (!open.empty() && !ask_engine(Completing::test_all, open, true)) let_threads_in();
  } else {
    ask_engine(Completing::all, open);
  }
  for (Request* request : requests) {
    if (!is_open(request)) continue;
    finish_several(*request);
    while (!request->settled()) wait_for_threads();
  }
}

// One look at each; whether any is complete.
void test_each(Completing how, std::span<Request* const> requests, bool waits) {
  Few<Request*> simple;
  for (Request* request : requests) {
    if (!is_open(request)) continue;
    if (request->what != Request::What::several) {
      if (request->serial != 0) simple.push_back(request);
      continue;
    }
    Few<Request*> open;
    collect_open(request, open);
    ask_engine(Completing::test_all, open, waits);
    finish_several(*request);
  }
  ask_engine(how, simple, waits);
}

Indices settled_ones(std::span<Request* const> requests) {
  Indices indices;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (is_open(requests[i]) && requests[i]->settled()) indices.push_back(static_cast<int>(i));
  return indices;
}

}  // namespace

void keep_freed_receive(Request* request) {
  freed_receives.push_back(request);
}

void note_freed_send() {
  ++freed_sends;
}

void note_open_send(const Request& request) {
  ++open_sends;
  const auto end =
      request.rendezvous ? std::nullopt : OwnClock::end_of({true, request.sent, request.capacity});
  open_sends_end = std::max(open_sends_end, end.value_or(Time::max()));
}

void note_open_collective(Request& request) {
  open_collectives.push_back({request.serial, request.comm->together, request.more().entries});
}

std::uint64_t freed_and_open() {
  return freed_sends + freed_receives.size();
}

void settle_freed_receives() {
  for (std::size_t i = 0; i < freed_receives.size();) {
    Request* request = freed_receives[i];
    if (!ask_engine(Completing::test_all, {&request, 1})) {
      ++i;
      continue;
    }
    freed_receives.erase(freed_receives.begin() + static_cast<std::ptrdiff_t>(i));
    release(request);
  }
}

Ends::Ends(const Record& probe) : probed_(Envelope()) {
  probed_->comm = probe.comm;
  probed_->source = probe.recv_peer;
  probed_->tag = probe.recv_tag;
}

std::span<const End> Ends::look(Time enter, Time until) {
  // Before it is known who has come to them.
  const std::uint64_t entries = horizon::all_entries();
  mailbox.look(enter);
  ends_ = {};
  enter_ = enter;
  until_ = until;
  entries_.reset();
  by_horizon_ = probed_.has_value();
  blind_ = false;
  // A look that waits ends at once where nobody goes on any more: others have to be beyond it.
  ahead_ = probed_ || waits() ? Time() : horizon::least_transfer();
  if (probed_) look_for_message();
  for (Request* request : requests_) look_at_request(*request);
  if (entries_) entries_ = entries;
  if (waits() && !mailbox.view().others_go_on && !knows_end())
    for (End& end : ends_)
      if (!end.known) end.at = std::min(end.at, mailbox.view().by_floors);
  return known();
}

// Whether the engine has something to come as long as the look goes on: what ends behind it, or
// what ends it.
bool Ends::knows_end() const {
  return std::ranges::any_of(ends_, [&](const End& end) {
    return end.known && (end.at > until_ || how_ != Completing::test_all);
  });
}

// A receive whose message is not known gets one that is sent at the horizon at the soonest.
void Ends::look_at_request(Request& request) {
  if (request.what == Request::What::collective) {
    // As long as somebody has not entered it: nobody does before the horizon.
    const bool goes_on =
        request.has_more() && horizon::entries(request.comm->together) < request.more().entries;
    by_horizon_ = by_horizon_ || goes_on;
    blind_ = blind_ || !goes_on;
    if (goes_on) ahead_ = Time();
    entries_ = 0;
    return ends_.push_back({goes_on ? mailbox.horizon() : Time()});
  }
  const bool asked = request.incoming.state == Incoming::State::asked;
  if (request.incoming.next) {
    const Envelope& message = *request.incoming.next;
    const std::optional<Time> end = message.bytes > request.capacity
                                        ? std::nullopt
                                        : OwnClock::end_of({false, message.sent, message.bytes});
    blind_ = blind_ || !end;
    ends_.push_back({end.value_or(Time()), end.has_value()});
  } else if (asked || request.incoming.state == Incoming::State::named) {
    const bool blind = asked && mailbox.next_for_open() == Time();
    by_horizon_ = by_horizon_ || (asked && !blind);
    blind_ = blind_ || blind;
    ends_.push_back({blind ? Time() : mailbox.horizon() + ahead_});
  } else {
    const std::optional<Time> end = OwnClock::end_of(transfer_of(request));
    blind_ = blind_ || !end;
    ends_.push_back({end.value_or(Time()), end.has_value()});
  }
}

void Ends::look_for_message() {
  const auto first = mailbox.first(*probed_);
  seen_ = first ? *first : nullptr;
  // What comes later may go to a receive that is open.
  const Time horizon = mailbox.has_open() ? std::min(mailbox.horizon(), enter_) : mailbox.horizon();
  // As may what is here, if it is not known who gets what.
  const bool free = !mailbox.has_open() || mailbox.next_for_open() != Time();
  const bool known = free && seen_ && Time::ps(seen_->sent) < horizon;
  blind_ = !first || !mailbox.follows();
  if (known)
    ends_.push_back({Time::ps(seen_->sent), true});
  else
    ends_.push_back({blind_ ? Time() : horizon});
}

std::uint32_t Ends::missing() const {
  if (waits() && by_horizon_ && horizon::exists()) return 1;
  return static_cast<std::uint32_t>(std::ranges::count_if(requests_, [](const Request* request) {
    return request->incoming.state == Incoming::State::named;
  }));
}

horizon::Wish Ends::wish(Time leaves) const {
  horizon::Wish wish;
  if (!horizon::exists()) return wish;
  wish.rest = rest(leaves);
  if (!by_horizon_) return wish;
  Time next = mailbox.next_for_open();
  if (probed_) next = seen_ ? Time::ps(seen_->sent) : Time::max();
  const Time latest = until_ - ahead_;
  wish.if_others_go_on = waits() && next >= latest && !knows_end();
  const bool by_floors = wish.if_others_go_on && !mailbox.view().others_go_on;
  const Time wanted = std::min(latest, next) + Time::ps(1);
  if (wanted > (by_floors ? mailbox.view().by_floors : mailbox.horizon())) wish.horizon = wanted;
  return wish;
}

// Until the look ends by what is here.
horizon::Rest Ends::rest(Time leaves) const {
  if (blind_) return {};
  Time until = std::max(until_, leaves);
  if (seen_) until = std::min(until, Time::ps(seen_->sent));
  const bool all = how_ == Completing::test_all;
  Time last;
  bool complete = !requests_.empty();
  for (const Request* request : requests_)
    if (request->incoming.state == Incoming::State::asked)
      until = std::min(until, mailbox.next_for_open());
  for (const End& end : ends_) {
    complete = complete && end.known;
    last = std::max(last, end.at);
    if (end.known && !all) until = std::min(until, end.at);
  }
  if (all && complete) until = std::min(until, last);
  if (until <= enter_) return {};
  const bool idle = waits() && until >= until_;
  return {until, enter_, until_, idle ? open_until() : Time::max(), entries_};
}

Indices complete(Completing how, std::span<Request* const> requests) {
  const bool any = how == Completing::any || how == Completing::test_any;
  const bool some = how == Completing::some || how == Completing::test_some;
  const auto chosen = [&] {
    Indices indices = settled_ones(requests);
    if (!any || indices.size() < 2) return indices;
    Indices first;
    first.push_back(indices.front());
    return first;
  };
  if (!freed_receives.empty()) settle_freed_receives();
  if (how == Completing::all) {
    wait_for_all(requests);
    return chosen();
  }
  if (any || some) {
    Indices indices = chosen();
    if (!indices.empty() && any) return indices;
    const bool waits = how == Completing::any || how == Completing::some;
    const Completing test = any ? Completing::test_any : Completing::test_some;
    if (std::ranges::none_of(requests, is_open)) return {};
    if (waits && indices.empty() && !has_parts(requests) && !threads_multiple()) {
      Few<Request*> open;
      for (Request* request : requests)
        if (is_open(request)) open.push_back(request);
      ask_engine(how, open);
      return chosen();
    }
    do {
      test_each(test, requests, waits);
      indices = chosen();
      if (!waits || !indices.empty()) continue;
      std::ranges::any_of(requests, by_program) ? wait_for_threads() : let_threads_in();
    } while (waits && indices.empty());
    return indices;
  }
  // test_all
  Few<Request*> open;
  for (Request* request : requests)
    if (is_open(request)) collect_open(request, open);
  ask_engine(Completing::test_all, open);
  for (Request* request : requests)
    if (is_open(request)) finish_several(*request);
  const auto all_settled = std::ranges::all_of(
      requests, [](const Request* request) { return !is_open(request) || request->settled(); });
  return all_settled ? chosen() : Indices();
}

}  // namespace foretrace::mpi
