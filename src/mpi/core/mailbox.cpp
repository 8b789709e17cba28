#include "mpi/core/mailbox.hpp"

#include <algorithm>

#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "shared/horizon.hpp"
#include "shared/inbox.hpp"

namespace foretrace::mpi {

using machine::SendMode;
using trace::EventKind;

Mailbox mailbox;

namespace {

bool same_channel(const Envelope& a, const Envelope& b) {
  return a.comm == b.comm && a.source == b.source && a.tag == b.tag;
}

}  // namespace

Result result_of(const Envelope& message) {
  Result result;
  result.bytes = message.bytes;
  result.payload = message.payload;
  result.source = message.source;
  result.tag = message.tag;
  return result;
}

void Mailbox::expect(Incoming& receive, const Record& record) {
  receive.state = Incoming::State::none;
  if (record.recv_peer < 0 && !record.any_source) return;
  receive.message = Envelope();
  receive.message.comm = record.comm;
  receive.message.source = record.recv_peer;
  receive.message.tag = record.recv_tag;
  if (record.taken != 0 || record.any_source || record.any_tag || asked_ > 0 ||
      !line.may_run_ahead() || thread_multiple_level()) {
    receive.next.reset();
    if (record.taken == 0 && follows()) open_.push_back(&receive);
    receive.state = Incoming::State::asked;
    ++asked_;
    return;
  }
  receive.state = Incoming::State::named;
  named_.push_back(&receive);
  if (const auto first = unexpected_.take_first(receive.message)) bind(receive, *first);
}

void Mailbox::bind(Incoming& receive, const Envelope& message) {
  receive.message = message;
  receive.state = Incoming::State::bound;
}

// Gives what has arrived to the named receives that were posted first.
void Mailbox::collect() {
  arrived_.clear();
  inbox::take_out(line.rank(), arrived_);
  for (const Envelope& message : arrived_) {
    const auto first = std::ranges::find_if(named_, [&](const Incoming* receive) {
      return receive->state == Incoming::State::named && same_channel(message, receive->message);
    });
    if (first != named_.end())
      bind(**first, message);
    else
      unexpected_.add(message);
  }
}

void Mailbox::leave(Incoming& receive) {
  named_.erase(std::ranges::find(named_, &receive));
  receive.state = Incoming::State::none;
}

Envelope Mailbox::take(std::int32_t source, std::uint64_t number) {
  auto found = unexpected_.take(source, number);
  if (!found) {
    collect();
    found = unexpected_.take(source, number);
  }
  if (!found)
    end_run(1, "message " + std::to_string(number) + " of rank " + std::to_string(source) +
                   " is not there; this is an error of Foretrace's");
  return *found;
}

void Mailbox::look(Time now) {
  // In this order: what was sent before is there then.
  view_ = horizon::of(line.rank());
  if (inbox::has_messages(line.rank())) collect();
  match_open();
  give_open(now);
}

// Receives take the message that is seen first, messages go to the receive that was posted first:
// so it makes no difference which of them came before the other.
void Mailbox::match_open() {
  next_for_open_ = follows() ? Time::max() : Time();
  for (Incoming* const receive : open_) receive->next.reset();
  if (!follows() || open_.empty()) return;
  Unexpected::Named given;
  for (Incoming* const receive : open_) {
    const auto found = unexpected_.first(receive->message, given);
    if (!found) {
      next_for_open_ = Time();
      return;
    }
    if (!*found) continue;
    const Time sent = Time::ps((*found)->sent);
    if (sent >= view_.horizon) {
      next_for_open_ = std::min(next_for_open_, sent);
      continue;
    }
    receive->next = **found;
    given.emplace((*found)->source, (*found)->number);
  }
}

Time Mailbox::ends_by() const {
  if (!follows() || (has_open() && next_for_open_ == Time())) return Time::max();
  Time by;
  const auto add = [&by](const Envelope& message) {
    const bool known = message.sure && message.sent != kNoClock;
    by = std::max(by, OwnClock::end_of({false, known ? message.sent : kNoClock, message.bytes})
                          .value_or(Time::max()));
  };
  for (const Incoming* const receive : named_)
    if (receive->state == Incoming::State::bound) add(receive->message);
  for (const Incoming* const receive : open_)
    if (receive->next) add(*receive->next);
  return by;
}

void Mailbox::give_open(Time now) {
  std::erase_if(open_, [&](Incoming* receive) {
    if (!receive->next || Time::ps(receive->next->sent) >= now) return false;
    bind(*receive, take(receive->next->source, receive->next->number));
    receive->next.reset();
    named_.push_back(receive);
    --asked_;
    return true;
  });
}

void Mailbox::end_asking(const Incoming& receive) {
  --asked_;
  std::erase(open_, &receive);
}

Result Mailbox::finish(Incoming& receive) {
  const Envelope message = receive.message;
  leave(receive);
  return result_of(message);
}

Result Mailbox::finish(Incoming& receive, const Result& said) {
  if (receive.state == Incoming::State::none) return said;
  if (receive.state == Incoming::State::asked) {
    end_asking(receive);
    receive.state = Incoming::State::none;
    return said.cancelled || said.source < 0 ? said : result_of(take(said.source, said.payload));
  }
  if (receive.state == Incoming::State::named) collect();
  const Envelope& message = receive.message;
  if (said.source >= 0 && (said.source != message.source || said.payload != message.number))
    end_run(1, "a receive got message " + std::to_string(said.payload) + " of rank " +
                   std::to_string(said.source) + ", and was given message " +
                   std::to_string(message.number) + " of rank " + std::to_string(message.source) +
                   "; this is an error of Foretrace's");
  return finish(receive);
}

void Mailbox::await(std::span<Incoming* const> receives) {
  const auto count_missing = [&] {
    return std::ranges::count_if(
        receives, [](const Incoming* receive) { return receive->state == Incoming::State::named; });
  };
  while (count_missing() > 0) {
    collect();
    if (const auto missing = count_missing(); missing > 0) {
      // Of as many messages for the round after this one.
      const std::size_t there = std::min(unexpected_.size(), receives.size() - 1);
      line.sleep_until(static_cast<std::uint32_t>(missing),
                       static_cast<std::uint32_t>(receives.size() - there));
    }
  }
  const bool sure = std::ranges::all_of(receives, [](const Incoming* receive) {
    return receive->state == Incoming::State::none || receive->message.sure;
  });
  if (!sure) line.catch_up();
}

void Mailbox::withdraw(const Incoming& receive) {
  for (Incoming* const open : open_) open->next.reset();
  open_.clear();
  if (receive.is_known()) ask_for_all();
}

// Messages that were bound go back to where they were among the others of their channel.
void Mailbox::ask_for_all() {
  collect();
  for (Incoming* receive : named_) {
    if (receive->state == Incoming::State::bound) unexpected_.add(receive->message);
    receive->state = Incoming::State::asked;
    ++asked_;
  }
  named_.clear();
}

void Mailbox::move(Incoming& from, Incoming& to) {
  std::ranges::replace(named_, &from, &to);
  std::ranges::replace(open_, &from, &to);
  to = from;
  from.state = Incoming::State::none;
}

void Mailbox::forget(Incoming& receive) {
  if (receive.state == Incoming::State::asked) end_asking(receive);
  if (receive.is_known()) leave(receive);
  receive.state = Incoming::State::none;
}

std::int64_t hand_over(Record& record, Block data) {
  static std::uint64_t messages = 0;
  Envelope message;
  message.bytes = record.send_bytes = data.bytes();
  message.payload = data.give_away();
  message.number = record.payload = ++messages;
  message.comm = record.comm;
  message.source = line.rank();
  message.tag = record.send_tag;
  message.untouched = record.untouched;
  message.sure = line.is_sure();
  const std::int64_t departs = line.depart(record);
  message.sent = is_rendezvous(record) ? kNoClock : departs;
  if (!inbox::deliver(record.send_peer, message))
    end_run(1, "the memory that the ranks share is full");
  return message.sent;
}

bool is_rendezvous(const Record& record) {
  return record.send_peer >= 0 && !record.silent &&
         machine::is_rendezvous(static_cast<SendMode>(record.mode), Bytes(record.send_bytes),
                                Bytes(SharedMemory::header().eager_bytes));
}

bool may_run_ahead() {
  return line.may_run_ahead() && line.is_sure() && !thread_multiple_level();
}

Result receive(Record& record) {
  Incoming incoming;
  mailbox.expect(incoming, record);
  if (mailbox.has_open()) mailbox.look(line.now());
  const bool sends = static_cast<EventKind>(record.kind) == EventKind::sendrecv;
  if (!may_run_ahead() || incoming.state == Incoming::State::asked ||
      (sends && is_rendezvous(record))) {
    const Answer& answer = line.ask(record);
    Result said = answer.message;
    if (!answer.found) said = Result();
    return mailbox.finish(incoming, said);
  }
  line.post(record);
  line.run_ahead();
  if (incoming.state == Incoming::State::none) return Result();
  Incoming* const one = &incoming;
  mailbox.await({&one, 1});
  if (!sends && !record.silent) line.received(transfer_of(incoming));
  return mailbox.finish(incoming);
}

}  // namespace foretrace::mpi
