#include "shared/own_clock.hpp"

#include <algorithm>

#include "machine/timing.hpp"
#include "shared/context.hpp"
#include "shared/horizon.hpp"
#include "shared/looks.hpp"
#include "shared/message_costs.hpp"
#include "sim/operation.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

bool is_plain_call(const Record& record) {
  return is_call(record) && record.probing == 0 && record.locking == 0 && record.cancel == 0 &&
         record.one_sided == 0 && record.bytes == 0;
}

// What a call of the record's function takes, and after that what a look in vain does, if the
// simulator has said so.
const std::int64_t* cost_of(const Record& record) {
  const Header& header = SharedMemory::header();
  const std::uint64_t costs = header.call_costs.load(std::memory_order_acquire);
  return costs == 0 || record.name >= kOwnNames
             ? nullptr
             : SharedMemory::at<std::int64_t>(costs) + std::ptrdiff_t{2} * record.name;
}

// The computation before it.
Time compute_of(const Record& record) {
  const Header& header = SharedMemory::header();
  const double slower = SharedMemory::own_slower();
  if (!header.by_steps) return Time::ps(record.compute).scaled(header.compute_scale * slower);
  return record.steps == 0 ? Time()
                           : Time::from_seconds(record.steps * (header.compute_step * slower));
}

// What the call takes, where it waits for nobody and its message's size says so.
std::optional<Time> cost_of_posting(const Record& record) {
  if (record.silent || record.taken != 0) return std::nullopt;
  const auto mode = static_cast<machine::SendMode>(record.mode);
  const Bytes sent(message_costs::sized(record.send_bytes, record.untouched));
  const bool eager =
      record.send_peer >= 0 && !machine::is_rendezvous(mode, Bytes(record.send_bytes),
                                                       Bytes(SharedMemory::header().eager_bytes));
  switch (static_cast<EventKind>(record.kind)) {
    case EventKind::isend:
      return eager ? message_costs::find(sent, MessageCost::post_send) : std::nullopt;
    case EventKind::send:
      return eager && mode == machine::SendMode::standard
                 ? message_costs::find(sent, MessageCost::send)
                 : std::nullopt;
    case EventKind::irecv:
      return record.recv_peer >= 0 || record.any_source
                 ? message_costs::find(Bytes(record.recv_bytes), MessageCost::post_receive)
                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::uint64_t OwnClock::look_of(const Record& record) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  };
  add(std::uint64_t{record.kind} << 16 | std::uint64_t{record.completing} << 8 | record.probing);
  if (record.probing != 0) {
    add(std::uint64_t{record.comm} << 2 | std::uint64_t{record.any_source} << 1 |
        std::uint64_t{record.any_tag});
    add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(record.recv_peer)) << 32 |
        static_cast<std::uint32_t>(record.recv_tag));
    return hash;
  }
  const std::uint64_t* const numbers =
      record.list != 0 ? SharedMemory::at<std::uint64_t>(record.list) : nullptr;
  for (std::uint32_t i = 0; i < record.list_count - record.watched; ++i)
    add(numbers ? numbers[i] : record.near_number(i));
  return hash;
}

Time OwnClock::computation(const Record& record) {
  return SharedMemory::header().tells_compute.load(std::memory_order_acquire) ? compute_of(record)
                                                                              : Time();
}

bool pieces_take_time() {
  return SharedMemory::header().knows_pieces.load(std::memory_order_relaxed);
}

bool sends_pieces(const Record& record) {
  const auto kind = static_cast<EventKind>(record.kind);
  const bool sends =
      kind == EventKind::send || kind == EventKind::isend || kind == EventKind::sendrecv;
  return sends && record.send_piece() != 0 && pieces_take_time();
}

std::optional<Time> OwnClock::entry(const Record& record) const {
  return known_ ? std::optional(now_ + compute_of(record)) : std::nullopt;
}

std::optional<Time> OwnClock::KnownPort::move(Time end, std::optional<Time> takes) {
  if (takes == Time()) return end;
  // Whatever it moved before is over.
  if (!moves && takes && idle_by && end - *takes >= *idle_by) moves = true;
  if (!moves || !takes) {
    lose_moves();
    return std::nullopt;
  }
  return port.move(end, *takes);
}

void OwnClock::KnownPort::bound(Time clock) {
  if (!moves) idle_by = clock;
  if (departures) return;
  Time by = std::max({clock, free_by.value_or(clock), port.next_departure()});
  for (const Bytes bytes : unfollowed) {
    const std::optional<Time> gap = message_costs::find(bytes, MessageCost::gap);
    if (!gap) return;
    by += *gap;
  }
  unfollowed.clear();
  free_by = by;
}

std::optional<Time> OwnClock::depart(std::optional<Time> entry, Bytes bytes) {
  const std::optional<Time> departs = follow(entry, bytes);
  sent_by_ = std::max(sent_by_, departs.value_or(Time::max()));
  return departs;
}

std::optional<Time> OwnClock::follow(std::optional<Time> entry, Bytes bytes) {
  KnownPort& own = port_;
  const std::optional<Time> gap = message_costs::find(bytes, MessageCost::gap);
  if (!own.departures && own.unfollowed.empty() && entry && own.free_by && *entry >= *own.free_by)
    own.departures = true;
  if (own.departures && entry && gap) return own.port.depart(*entry, *gap);
  std::optional<Time> departs;
  if (own.departures && entry) departs = own.port.depart(*entry, Time());
  if (own.departures) own.free_by = departs;
  own.departures = false;
  own.unfollowed.push_back(bytes);
  return departs;
}

void OwnClock::posted(const Record& record) {
  if (record.posting != Posting::operation) return;
  entered_ = entry(record);
  if (sends_pieces(record)) entered_.reset();
  const auto kind = static_cast<EventKind>(record.kind);
  takes_apart_ = (kind == EventKind::recv || kind == EventKind::sendrecv) &&
                 record.recv_piece() != 0 && pieces_take_time();
  let_go_ = waits_since_ = entered_.value_or(Time());
  looked_ =
      entered_ && is_plain_call(record) ? sim::counts_as_wait(looked_, *entered_ - now_) : Time();
  std::optional<Time> cost;
  if (const std::int64_t* const own = is_plain_call(record) ? cost_of(record) : nullptr)
    cost = Time::ps(*own * std::max<std::int64_t>(record.count, 1));
  else if (!is_call(record))
    cost = cost_of_posting(record);
  known_ = entered_ && cost;
  if (known_) now_ = *entered_ + *cost;
  // Other ranks may go on because of it.
  if (!is_plain_call(record)) vain_.fill({});
}

std::optional<Time> OwnClock::end_of(const KnownTransfer& transfer) {
  if (transfer.sent == kNoClock) return std::nullopt;
  const std::optional<Time> takes = message_costs::find(
      Bytes(transfer.bytes), transfer.is_send ? MessageCost::sent : MessageCost::received);
  // What is there at the moment when it is sent may be there before or after a look of that
  // moment.
  if (!takes || *takes == Time()) return std::nullopt;
  return Time::ps(transfer.sent) + *takes;
}

void OwnClock::received(const KnownTransfer& message) {
  const Bytes bytes(message.bytes);
  const auto transfer = message_costs::find(bytes, MessageCost::receive);
  const auto least = message_costs::find(bytes, MessageCost::receive_at_least);
  known_ = entered_ && message.sent != kNoClock && transfer && least && !takes_apart_;
  if (!known_) return port_.lose_moves();
  const std::optional<Time> leave =
      port_.move(machine::Timing::recv_leave(*entered_, Time::ps(message.sent), *least, *transfer),
                 message_costs::find(bytes, MessageCost::receiving_takes));
  known_ = leave.has_value();
  now_ = leave.value_or(now_);
}

void OwnClock::completed(std::span<const KnownTransfer> transfers) {
  known_ = false;
  if (!entered_) return port_.lose_moves();
  Time leave = waits_since_;
  for (const KnownTransfer& transfer : transfers) {
    const Bytes bytes(transfer.bytes);
    const auto alone = end_of(transfer);
    const auto least = message_costs::find(
        bytes, transfer.is_send ? MessageCost::complete_send : MessageCost::complete_receive);
    if (!alone || !least) return port_.lose_moves();
    const auto end = port_.move(
        *alone, message_costs::find(bytes, transfer.is_send ? MessageCost::sending_takes
                                                            : MessageCost::receiving_takes));
    if (!end) return;
    leave = machine::Timing::complete_leave(leave, *end, *least);
  }
  now_ = std::max(leave, let_go_);
  known_ = true;
}

void OwnClock::answered(const Record& record, Time clock, Time looked) {
  now_ = clock;
  looked_ = looked;
  known_ = true;
  if (!is_plain_call(record)) port_.moves = false;
  port_.bound(clock);
  // The simulator has gone through all sends; one of the library's own leaves a little later.
  if (sent_by_ == Time::max() && (port_.departures || port_.free_by))
    sent_by_ = std::max(port_.free_by.value_or(port_.port.next_departure()), clock) +
               horizon::least_transfer();
  if (!is_plain_call(record) && (!is_look(record) || record.patience != 0)) vain_.fill({});
}

void OwnClock::learn(std::uint64_t look, Time until) {
  auto at = std::ranges::find(vain_, look, &Vain::look);
  if (at == vain_.end()) at = vain_.begin() + static_cast<std::ptrdiff_t>(next_++ % vain_.size());
  *at = {look, until};
}

bool OwnClock::is_in_vain(const Record& record, std::uint64_t look) {
  const std::int64_t* const cost = cost_of(record);
  if (!known_ || !cost || record.patience != 0) return false;
  const auto at = std::ranges::find(vain_, look, &Vain::look);
  const Time enter = *entry(record);
  if (at == vain_.end() || enter >= at->until) return false;
  end_in_vain(record, enter);
  return true;
}

bool OwnClock::knows_cost(const Record& record) const {
  return known_ && cost_of(record);
}

bool OwnClock::may_foresee(const Record& record) const {
  return knows_cost(record) && (record.watched == 0 || record.patience == 0);
}

Time OwnClock::looks_until(const Record& record) const {
  return *entry(record) + Time::ps(record.patience);
}

Time OwnClock::in_vain_leaves(const Record& record) const {
  return *entry(record) + std::max(Time::ps(cost_of(record)[1]), sim::kLeastPoll);
}

void OwnClock::end_in_vain(const Record& record, Time when) {
  const Time enter = *entry(record);
  const Time before = sim::counts_as_wait(looked_, enter - now_);
  now_ = std::max(when, in_vain_leaves(record));
  looked_ = before + (now_ - enter);
}

// A look that waits ends no sooner because others do nothing but look: what is known here to come
// later, a message under way or another rank that is further, is an event for the engine as well,
// or comes of one.
Foreseen OwnClock::foresee(const Record& record, std::span<const End> ends) {
  // While this rank waits, others may go on that would not have otherwise.
  if (record.patience != 0) vain_.fill({});
  const bool probes = record.probing != 0;
  const bool all =
      !probes && static_cast<sim::Completing>(record.completing) == sim::Completing::test_all;
  // What is known, and what may be at the soonest.
  Time end = all ? Time() : Time::max();
  Time soonest = end;
  bool complete = true;
  for (const End& one : ends) {
    // Nobody sends any more, nor does anything else: then the engine ends looks that wait.
    if (!one.known && one.at == Time::max() && record.patience != 0) return Foreseen::nothing;
    Time& which = one.known ? end : soonest;
    which = all ? std::max(which, one.at) : std::min(which, one.at);
    complete = complete && one.known;
  }
  const Time enter = *entry(record);
  const Time until = looks_until(record);
  if ((all ? std::max(end, soonest) : std::min(end, soonest)) > until) {
    end_in_vain(record, until);
    return Foreseen::in_vain;
  }
  const Time let_go = std::max(enter, end);
  if (all ? !complete : end > until || soonest <= let_go) return Foreseen::nothing;
  if (probes) {
    // Who comes first at one moment is the engine's to say, and so is which message is taken.
    if (end == enter || end == until ||
        static_cast<sim::Probing>(record.probing) != sim::Probing::look)
      return Foreseen::nothing;
    now_ = let_go + Time::ps(*cost_of(record));
    looked_ = Time();
    return Foreseen::finds;
  }
  entered_ = enter;
  let_go_ = let_go;
  waits_since_ = enter - sim::counts_as_wait(looked_, enter - now_);
  looked_ = Time();
  return Foreseen::finds;
}

}  // namespace foretrace::live
