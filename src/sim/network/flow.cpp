#include "sim/network/flow.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace foretrace::sim {
namespace {

// What is beyond does not fit into a Time.
constexpr double kLatestPs = 9.2e18;
// An end that is half way between two picoseconds is the later one. Fractions that
// binary numbers do not have make it seem earlier, by less than this part of a picosecond.
constexpr int kTieBits = 16;
// From here on a double may be more than one off.
constexpr double kManyPs = 1e15;
// Whether so many bytes have been sent is asked of bytes that are counted likewise.
constexpr int kByteTieBits = 32;
// What is larger does not fit beside others into a number of 2^-64 bytes, nor its time into a Time.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

using Wide = MaxMin::Fixed;
__extension__ using UnsignedWide = unsigned __int128;

Wide bytes_of(std::uint64_t bytes) {
  return static_cast<Wide>(std::min(bytes, kMostBytes)) << 64;
}

// Some units in the last place away.
double about(Wide number) {
  return static_cast<double>(static_cast<std::int64_t>(number >> 64)) * 18446744073709551616.0 +
         static_cast<double>(static_cast<std::uint64_t>(number));
}

double in_bytes(Wide served) {
  return about(served) * 0x1p-64;
}

// a * b, where that fits.
Wide product(Wide a, std::int64_t b) {
  return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
}

}  // namespace

void FlowNetwork::inject(MessageId message, const Way& way, Bytes bytes, Time time) {
  assert((first_waiting_ == waiting_.size() || waiting_.back().time <= time.count_ps()) &&
         "messages enter in the order of time");
  const std::uint32_t number = stream_of(way.from, way.to);
  use(number);
  waiting_.push_back(
      {sequence_++, bytes.count, way.connection, time.count_ps(), number, message, way.in_pieces});
}

Time FlowNetwork::next() const {
  std::int64_t first = Time::max().count_ps();
  if (first_waiting_ < waiting_.size()) first = waiting_[first_waiting_].time;
  // More may start at the time of the last change.
  if (!shared_)
    first = std::min(first, changed_at_ + 1);
  else if (!ends_.empty())
    first = std::min(first, ends_.top().end);
  return Time::ps(first);
}

void FlowNetwork::advance(std::vector<Arrival>& arrivals) {
  const Time due = next();
  if (!shared_ && due.count_ps() > changed_at_) share();
  const Time time = next();
  if (time > due || time == Time::max()) return;
  gone_.clear();
  may_end_ = false;
  do {
    end_flows(time.count_ps());
    start_flows(time.count_ps());
    shared_ = false;
    changed_at_ = time.count_ps();
    if (may_end_) share();
  } while (shared_ && next() == time);
  std::sort(gone_.begin(), gone_.end(),
            [](const Gone& a, const Gone& b) { return a.sequence < b.sequence; });
  for (const Gone& gone : gone_) arrivals.push_back(gone.arrival);
}

// When the class has served so much.
std::int64_t FlowNetwork::end_of(const Class& on, Served target) {
  static_assert(MaxMin::kFractionBits - kServedBits == 32);
  const Served left = target - on.served;
  if (left <= 0) return on.updated;
  const double rate = about(on.rate);
  const double ps = about(left) * 4294967296.0 / rate;
  if (!(static_cast<double>(on.updated) + ps < kLatestPs))
    return static_cast<std::int64_t>(kLatestPs);
  // The double is near. What is left then is exact: it is small, so what overflows is not missed.
  auto whole = static_cast<std::int64_t>(ps);
  Wide rest = static_cast<Wide>(static_cast<UnsignedWide>(left) << 32) - product(on.rate, whole);
  if (ps > kManyPs) {
    const auto more = static_cast<std::int64_t>(about(rest) / rate);
    whole += more;
    rest -= product(on.rate, more);
  }
  for (; rest < 0; rest += on.rate) --whole;
  for (; rest >= on.rate; rest -= on.rate) ++whole;
  return on.updated + whole + (2 * rest >= on.rate - (on.rate >> kTieBits));
}

void FlowNetwork::update(Class& on, std::int64_t now) {
  if (now >> usage_.shift() != on.updated >> usage_.shift()) note_bins(on, now);
  const auto rate = static_cast<UnsignedWide>(on.rate);
  const auto ps = static_cast<UnsignedWide>(now - on.updated);
  const UnsignedWide low = (rate & UINT64_MAX) * ps, high = (rate >> 64) * ps;
  on.served += static_cast<Served>((high << 32) + (low >> 32));
  on.updated = now;
}

// What it has served at the ends of the bins that have passed since it was updated.
void FlowNetwork::note_bins(Class& on, std::int64_t now) {
  usage_.reach(Time::ps(now - 1));
  widen_bins(on);
  const double per_ps = about(on.rate) * 0x1p-96;
  const double served = in_bytes(on.served);
  for (std::int64_t bin = on.updated >> on.shift; bin < now >> on.shift; ++bin)
    on.at_ends.push_back(served +
                         per_ps * static_cast<double>(((bin + 1) << on.shift) - on.updated));
}

// To those of the usage: each becomes two as one.
void FlowNetwork::widen_bins(Class& on) const {
  for (; on.shift < usage_.shift(); ++on.shift) {
    std::size_t kept = 0;
    for (std::size_t i = (on.first_bin & 1) == 0 ? 1 : 0; i < on.at_ends.size(); i += 2)
      on.at_ends[kept++] = on.at_ends[i];
    on.at_ends.resize(kept);
    on.first_bin >>= 1;
  }
}

FlowNetwork::Served FlowNetwork::served_by(const Stream& stream, std::int64_t now) {
  if (stream.on == MaxMin::kNone) return stream.offset;
  update(classes_[stream.on], now);
  return stream.offset + classes_[stream.on].served;
}

void FlowNetwork::mark_moved(MaxMin::Link link) {
  if (classes_[link].moved) return;
  classes_[link].moved = true;
  moved_.push_back(link);
}

// The stream's place among those of its class; it gets a class in share() if it has none.
void FlowNetwork::messages_changed(std::uint32_t number) {
  const Stream& stream = streams_[number];
  if (stream.on == MaxMin::kNone) return;
  EndHeap<Served>& ends = classes_[stream.on].ends;
  if (stream.messages.empty())
    ends.remove(stream_places_, number);
  else
    ends.set(stream_places_, number, stream.messages.front().target - stream.offset);
  mark_moved(stream.on);
}

// To the class of its bottleneck.
void FlowNetwork::move(std::uint32_t number, std::int64_t now) {
  Stream& stream = streams_[number];
  const MaxMin::Link to = fair_.bottleneck(number);
  if (stream.on == to) return;
  if (stream.on != MaxMin::kNone)
    for (Message& message : stream.messages) carried_by_bins(stream, message, now);
  stream.offset = served_by(stream, now);
  if (stream.on != MaxMin::kNone) {
    classes_[stream.on].ends.remove(stream_places_, number);
    mark_moved(stream.on);
  }
  stream.on = to;
  if (to == MaxMin::kNone) {
    stream.offset = 0;
    return;
  }
  Class& on = classes_[to];
  if (on.ends.empty()) {
    on.served = 0;
    on.updated = now;
    on.shift = usage_.shift();
    on.first_bin = now >> on.shift;
    on.at_ends.clear();
  }
  update(on, now);
  stream.offset -= on.served;
  messages_changed(number);
}

void FlowNetwork::end_first_of(std::uint32_t number, std::int64_t now) {
  Stream& stream = streams_[number];
  const Message message = stream.messages.front();
  std::pop_heap(stream.messages.begin(), stream.messages.end());
  stream.messages.pop_back();
  count_under_way(stream, static_cast<std::uint32_t>(-1), now);
  if (message.rest > 0)
    put_rest(number, message, now);
  else
    gone(number, message, now);
  ended_.push_back(message.connection);
}

void FlowNetwork::end_flows(std::int64_t now) {
  while (!ends_.empty() && ends_.top().end == now) {
    const MaxMin::Link link = ends_.top().number;
    ends_.remove(class_places_, link);
    ended_.clear();
    for (EndHeap<Served>& ends = classes_[link].ends;
         !ends.empty() && end_of(classes_[link], ends.top().end) <= now;) {
      const std::uint32_t number = ends.top().number;
      end_first_of(number, now);
      messages_changed(number);
      fair_.set_weight(number, static_cast<std::uint32_t>(streams_[number].messages.size()));
    }
    for (const std::uint64_t connection : ended_) start_next(connection, now);
    mark_moved(link);
  }
}

void FlowNetwork::start_flows(std::int64_t now) {
  for (; first_waiting_ < waiting_.size() && waiting_[first_waiting_].time == now;
       ++first_waiting_) {
    const Injection& injection = waiting_[first_waiting_];
    if (const auto queue = queues_.find(injection.connection); queue != queues_.end()) {
      put_behind(queue->second, injection);
      if (!injection.in_pieces && queue->second.can_pause) pause(queue->second, injection, now);
    } else if (start(with_header(injection), now)) {
      queues_[injection.connection].can_pause = injection.in_pieces;
    }
  }
  if (2 * first_waiting_ >= waiting_.size()) {
    waiting_.erase(waiting_.begin(),
                   waiting_.begin() + static_cast<std::ptrdiff_t>(first_waiting_));
    first_waiting_ = 0;
  }
}

// What goes behind others of its connection is in one stream of bytes with them.
FlowNetwork::Injection FlowNetwork::with_header(Injection first) const {
  first.bytes += topology_.header();
  return first;
}

// Whether it is under way now: what takes no time has gone.
bool FlowNetwork::start(const Injection& injection, std::int64_t now) {
  Stream& stream = streams_[injection.stream];
  Message message{0, injection.sequence, injection.bytes, 0, injection.connection, now,
                  0, injection.id};
  if (injection.bytes == 0 || stream.ps_per_byte == 0) {
    gone(injection.stream, message, now);
    return false;
  }
  const std::uint64_t at_once = !has_bursts_ ? 0 : take_burst(stream, injection.bytes, now);
  if (at_once == injection.bytes) {
    gone(injection.stream, message, now);
    return false;
  }
  message.target = served_by(stream, now) + bytes_of(injection.bytes - at_once);
  may_end_ |= static_cast<double>(injection.bytes - at_once) * stream.ps_per_byte < 1;
  count_under_way(stream, 1, now);
  stream.messages.push_back(message);
  std::push_heap(stream.messages.begin(), stream.messages.end());
  fair_.set_weight(injection.stream, static_cast<std::uint32_t>(stream.messages.size()));
  messages_changed(injection.stream);
  return true;
}

// The buckets of the message's links change together: it takes what the emptiest has.
std::uint64_t FlowNetwork::take_burst(const Stream& stream, std::uint64_t bytes, std::int64_t now) {
  std::uint64_t taken = bytes;
  for (const Carrier& carrier : stream.carriers) {
    if (carrier.fair == MaxMin::kNone) continue;
    Bucket& bucket = bursts_[carrier.fair];
    if (bucket.under_way == 0)
      bucket.missing = std::max<std::int64_t>(0, bucket.missing - (now - bucket.changed));
    bucket.changed = now;
    const double missing = std::ceil(static_cast<double>(bucket.missing) / bucket.ps_per_byte);
    taken =
        std::min(taken, bucket.bytes - std::min(bucket.bytes, static_cast<std::uint64_t>(missing)));
  }
  for (const Carrier& carrier : stream.carriers)
    if (carrier.fair != MaxMin::kNone)
      bursts_[carrier.fair].missing +=
          std::llround(static_cast<double>(taken) * bursts_[carrier.fair].ps_per_byte);
  return taken;
}

// A bucket does not fill meanwhile.
void FlowNetwork::count_under_way(const Stream& stream, std::uint32_t change, std::int64_t now) {
  if (!has_bursts_) return;
  for (const Carrier& carrier : stream.carriers) {
    if (carrier.fair == MaxMin::kNone) continue;
    Bucket& bucket = bursts_[carrier.fair];
    bucket.under_way += change;
    bucket.changed = now;
  }
}

void FlowNetwork::put_behind(Queue& queue, const Injection& injection) {
  const std::uint32_t number = queued_.take({injection});
  List& list = queue.lists[injection.in_pieces];
  (list.first == kNone ? list.first : queued_[list.last].next) = number;
  list.last = number;
}

// The data under way lets `first` go after the piece that it is at.
void FlowNetwork::pause(Queue& queue, const Injection& first, std::int64_t now) {
  queue.can_pause = false;
  Stream& stream = streams_[first.stream];
  Message& message = *std::ranges::find(stream.messages, first.connection, &Message::connection);
  const Served left = message.target - served_by(stream, now);
  const Served sent = bytes_of(message.bytes) - left + (Served{1} << kByteTieBits);
  const std::uint64_t pieces = static_cast<std::uint64_t>(sent >> kServedBits) / piece_.count + 1;
  if (pieces > message.bytes / piece_.count || pieces * piece_.count == message.bytes) return;
  message.rest = message.bytes - pieces * piece_.count;
  message.bytes -= message.rest;
  message.target -= bytes_of(message.rest);
  std::make_heap(stream.messages.begin(), stream.messages.end());
  messages_changed(first.stream);
}

// It goes on before all other data.
void FlowNetwork::put_rest(std::uint32_t stream, const Message& message, std::int64_t now) {
  carried(streams_[stream], message, 0, now);
  const std::uint32_t number = queued_.take(
      {{message.sequence, message.rest, message.connection, now, stream, message.id, true}});
  List& list = queues_.at(message.connection).lists[1];
  queued_[number].next = list.first;
  if (list.first == kNone) list.last = number;
  list.first = number;
}

// The connection's message has gone: the next one starts, and those that take no time go with it.
void FlowNetwork::start_next(std::uint64_t connection, std::int64_t now) {
  const auto found = queues_.find(connection);
  Queue& queue = found->second;
  for (List& list : queue.lists) {
    while (list.first != kNone) {
      const std::uint32_t number = list.first;
      const Queued next = queued_[number];
      queued_.give_back(number);
      list.first = next.next;
      queue.can_pause = next.injection.in_pieces;
      if (start(next.injection, now)) return;
    }
  }
  queues_.erase(found);
}

// Time goes on from the last change.
void FlowNetwork::share() {
  const std::int64_t now = changed_at_;
  shared_ = true;
  if (fair_.changed()) {
    const MaxMin::Changes changes = fair_.solve();
    for (const MaxMin::Flow flow : changes.flows) move(flow, now);
    for (const MaxMin::Link link : changes.links) {
      update(classes_[link], now);
      classes_[link].rate = fair_.level(link);
      mark_moved(link);
    }
  }
  const bool many = moved_.size() * 8 > ends_.size();
  for (const MaxMin::Link link : moved_) {
    Class& on = classes_[link];
    on.moved = false;
    if (on.ends.empty()) {
      ends_.remove(class_places_, link);
      continue;
    }
    assert(on.rate > 0 && "every flow has a share");
    const std::int64_t end = end_of(on, on.ends.top().end);
    if (many)
      ends_.put(class_places_, link, end);
    else
      ends_.set(class_places_, link, end);
  }
  if (many) ends_.rebuild(class_places_);
  moved_.clear();
}

// Tells what the message has moved in the bins that are over.
void FlowNetwork::carried_by_bins(const Stream& stream, Message& message, std::int64_t now) {
  if (message.told >> usage_.shift() == now >> usage_.shift()) return;
  Class& on = classes_[stream.on];
  update(on, now);
  widen_bins(on);
  const double before = in_bytes(stream.offset - message.target + bytes_of(message.bytes));
  const auto most = static_cast<double>(message.bytes);
  const std::int64_t first = message.told >> on.shift;
  const std::int64_t bins = (now >> on.shift) - first;
  if (bins == 0) return;  // they have grown
  const double* const served = on.at_ends.data() + (first - on.first_bin);
  moved_by_.clear();
  for (std::int64_t bin = 0; bin < bins; ++bin)
    moved_by_.push_back(std::clamp(before + served[bin], message.told_bytes, most));
  for (const Carrier& carrier : stream.carriers)
    usage_.carried_by_bins(carrier.link, carrier.ps_per_byte, message.told_bytes, first, moved_by_);
  message.told = (first + bins) << on.shift;
  message.told_bytes = moved_by_.back();
}

// The message has gone, or pauses.
void FlowNetwork::carried(const Stream& stream, Message message, std::uint64_t messages,
                          std::int64_t now) {
  if (stream.on != MaxMin::kNone) carried_by_bins(stream, message, now);
  const Bytes bytes(message.bytes - static_cast<std::uint64_t>(message.told_bytes));
  double ps_per_byte = 0;
  Time busy;
  for (const Carrier& carrier : stream.carriers) {
    if (carrier.ps_per_byte != ps_per_byte) {
      ps_per_byte = carrier.ps_per_byte;
      // So that the parts sum up to the time of the whole.
      busy = Time::from_seconds(static_cast<double>(message.bytes) * ps_per_byte * 1e-12) -
             Time::ps(LinkUsage::busy_ps(message.told_bytes, ps_per_byte));
    }
    usage_.carried(carrier.link, messages, bytes, busy, Time::ps(message.told), Time::ps(now));
  }
}

void FlowNetwork::gone(std::uint32_t number, const Message& message, std::int64_t now) {
  const Stream& stream = streams_[number];
  carried(stream, message, 1, now);
  const Time sent = Time::ps(now);
  gone_.push_back({message.sequence, {message.id, sent, sent + stream.latency}});
  leave(number);
}

std::size_t FlowNetwork::memory() const {
  std::size_t bytes =
      streams_.capacity() * sizeof(Stream) +
      (free_streams_.capacity() + buckets_.capacity() + fair_link_.capacity() + moved_.capacity() +
       limits_.capacity() + stream_places_.capacity() + class_places_.capacity()) *
          sizeof(std::uint32_t) +
      waiting_.capacity() * sizeof(Injection) + gone_.capacity() * sizeof(Gone) + queued_.memory() +
      queues_.size() * (sizeof(Queue) + 4 * sizeof(std::uint64_t)) +
      queues_.bucket_count() * sizeof(void*) + bursts_.capacity() * sizeof(Bucket);
  for (const Stream& stream : streams_)
    bytes +=
        stream.messages.capacity() * sizeof(Message) + stream.carriers.capacity() * sizeof(Carrier);
  for (const Class& on : classes_)
    bytes += sizeof(on) + on.ends.memory() + on.at_ends.capacity() * sizeof(on.at_ends[0]);
  return bytes + fair_.memory() + ends_.memory() + usage_.memory();
}

}  // namespace foretrace::sim
