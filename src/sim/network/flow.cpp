#include "sim/network/flow.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace foretrace::sim {
namespace {

// What is beyond does not fit into a Time.
constexpr double kLatest = 9.2e18;
// A stream that is never idle starts to count again from here on, so that
// the bytes of each message stay exact to some 1e-6 of a byte.
constexpr double kManyBytes = 4294967296.0;

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
  if (!ends_.empty()) first = std::min(first, ends_.top().end);
  return Time::ps(first);
}

void FlowNetwork::advance(std::vector<Arrival>& arrivals) {
  const Time time = next();
  if (time == Time::max()) return;
  gone_.clear();
  // More than once if a flow takes less than half a picosecond.
  while (next() == time) {
    end_flows(time.count_ps());
    start_flows(time.count_ps());
    share(time.count_ps());
  }
  std::sort(gone_.begin(), gone_.end(),
            [](const Gone& a, const Gone& b) { return a.sequence < b.sequence; });
  for (const Gone& gone : gone_) arrivals.push_back(gone.arrival);
}

// Of the message that ends first.
std::int64_t FlowNetwork::end_of(const Stream& stream) const {
  assert(stream.rate > 0 && "every flow has a share");
  const double left = std::max(0.0, stream.messages.front().target - stream.served);
  const double ps = left / stream.rate;
  if (static_cast<double>(stream.updated) + ps >= kLatest)
    return static_cast<std::int64_t>(kLatest);
  return stream.updated + std::llround(ps);
}

void FlowNetwork::update(Stream& stream, std::int64_t now) {
  stream.served += stream.rate * static_cast<double>(now - stream.updated);
  stream.updated = now;
  if (stream.served < kManyBytes) return;
  for (Message& message : stream.messages) message.target -= stream.served;
  stream.served = 0;
  std::make_heap(stream.messages.begin(), stream.messages.end());
}

void FlowNetwork::mark_moved(std::uint32_t number) {
  Stream& stream = streams_[number];
  if (stream.moved) return;
  stream.moved = true;
  moved_.push_back(number);
}

void FlowNetwork::end_flows(std::int64_t now) {
  while (!ends_.empty() && ends_.top().end == now) {
    const std::uint32_t number = ends_.top().number;
    ends_.pop();
    ended_.clear();
    {
      Stream& stream = streams_[number];
      do {
        const Message message = stream.messages.front();
        std::pop_heap(stream.messages.begin(), stream.messages.end());
        stream.messages.pop_back();
        if (message.rest > 0)
          put_rest(number, message, now);
        else
          gone(number, message, now);
        ended_.push_back(message.connection);
      } while (!stream.messages.empty() && end_of(stream) <= now);
      update(stream, now);
    }
    for (const std::uint64_t connection : ended_) start_next(connection, now);
    fair_.set_weight(number, static_cast<std::uint32_t>(streams_[number].messages.size()));
    mark_moved(number);
  }
}

void FlowNetwork::start_flows(std::int64_t now) {
  for (; first_waiting_ < waiting_.size() && waiting_[first_waiting_].time == now;
       ++first_waiting_) {
    const Injection& injection = waiting_[first_waiting_];
    if (const auto queue = queues_.find(injection.connection); queue != queues_.end()) {
      put_behind(queue->second, injection);
      if (!injection.in_pieces && queue->second.can_pause) pause(queue->second, injection, now);
    } else if (start(injection, now)) {
      queues_[injection.connection].can_pause = injection.in_pieces;
      fair_.set_weight(injection.stream,
                       static_cast<std::uint32_t>(streams_[injection.stream].messages.size()));
    }
  }
  if (2 * first_waiting_ >= waiting_.size()) {
    waiting_.erase(waiting_.begin(),
                   waiting_.begin() + static_cast<std::ptrdiff_t>(first_waiting_));
    first_waiting_ = 0;
  }
}

// Whether it is under way now: what takes no time has gone.
bool FlowNetwork::start(const Injection& injection, std::int64_t now) {
  Stream& stream = streams_[injection.stream];
  Message message{0,   injection.sequence, injection.bytes, 0, injection.connection,
                  now, injection.id};
  if (injection.bytes == 0 || !stream.limited) {
    gone(injection.stream, message, now);
    return false;
  }
  if (stream.messages.empty()) {
    stream.served = 0;
    stream.rate = fair_.rate(injection.stream);
    stream.updated = now;
  } else {
    update(stream, now);
  }
  message.target = stream.served + static_cast<double>(injection.bytes);
  stream.messages.push_back(message);
  std::push_heap(stream.messages.begin(), stream.messages.end());
  mark_moved(injection.stream);
  return true;
}

std::uint32_t FlowNetwork::new_queued(const Injection& injection) {
  if (free_queued_.empty()) {
    queued_.push_back({injection});
    return static_cast<std::uint32_t>(queued_.size() - 1);
  }
  const std::uint32_t number = free_queued_.back();
  free_queued_.pop_back();
  queued_[number] = {injection};
  return number;
}

void FlowNetwork::put_behind(Queue& queue, const Injection& injection) {
  const std::uint32_t number = new_queued(injection);
  List& list = queue.lists[injection.in_pieces];
  (list.first == kNone ? list.first : queued_[list.last].next) = number;
  list.last = number;
}

// The data under way lets `first` go after the piece that it is at.
void FlowNetwork::pause(Queue& queue, const Injection& first, std::int64_t now) {
  queue.can_pause = false;
  Stream& stream = streams_[first.stream];
  update(stream, now);
  Message& message = *std::ranges::find(stream.messages, first.connection, &Message::connection);
  const double sent = static_cast<double>(message.bytes) - (message.target - stream.served);
  const auto pieces = static_cast<std::uint64_t>(sent / static_cast<double>(piece_.count)) + 1;
  if (pieces > message.bytes / piece_.count || pieces * piece_.count == message.bytes) return;
  message.rest = message.bytes - pieces * piece_.count;
  message.bytes -= message.rest;
  message.target -= static_cast<double>(message.rest);
  std::make_heap(stream.messages.begin(), stream.messages.end());
  mark_moved(first.stream);
}

// It goes on before all other data.
void FlowNetwork::put_rest(std::uint32_t stream, const Message& message, std::int64_t now) {
  carried(streams_[stream], message, 0, now);
  const std::uint32_t number = new_queued(
      {message.sequence, message.rest, message.connection, now, stream, message.id, true});
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
      free_queued_.push_back(number);
      list.first = next.next;
      queue.can_pause = next.injection.in_pieces;
      if (start(next.injection, now)) return;
    }
  }
  queues_.erase(found);
}

void FlowNetwork::share(std::int64_t now) {
  if (fair_.changed()) {
    for (const MaxMin::Flow flow : fair_.solve()) {
      Stream& stream = streams_[flow];
      update(stream, now);
      stream.rate = fair_.rate(flow);
      mark_moved(flow);
    }
  }
  const bool many = moved_.size() * 8 > ends_.size();
  for (const std::uint32_t number : moved_) {
    Stream& stream = streams_[number];
    stream.moved = false;
    if (stream.messages.empty()) continue;
    const std::int64_t end = end_of(stream);
    if (many)
      ends_.put(number, end);
    else
      ends_.set(number, end);
  }
  if (many) ends_.rebuild();
  moved_.clear();
}

void FlowNetwork::carried(const Stream& stream, const Message& message, std::uint64_t messages,
                          std::int64_t now) {
  double ps_per_byte = 0;
  Time busy;
  for (const Carrier& carrier : stream.carriers) {
    if (carrier.ps_per_byte != ps_per_byte) {
      ps_per_byte = carrier.ps_per_byte;
      busy = Time::from_seconds(static_cast<double>(message.bytes) * ps_per_byte * 1e-12);
    }
    usage_.carried(carrier.link, messages, Bytes(message.bytes), busy, Time::ps(message.start),
                   Time::ps(now));
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
  std::size_t bytes = streams_.capacity() * sizeof(Stream) +
                      (free_streams_.capacity() + buckets_.capacity() + fair_link_.capacity() +
                       moved_.capacity() + limits_.capacity()) *
                          sizeof(std::uint32_t) +
                      waiting_.capacity() * sizeof(Injection) + gone_.capacity() * sizeof(Gone) +
                      queued_.capacity() * (sizeof(Queued) + sizeof(std::uint32_t)) +
                      queues_.size() * (sizeof(Queue) + 4 * sizeof(std::uint64_t)) +
                      queues_.bucket_count() * sizeof(void*);
  for (const Stream& stream : streams_)
    bytes +=
        stream.messages.capacity() * sizeof(Message) + stream.carriers.capacity() * sizeof(Carrier);
  return bytes + fair_.memory() + ends_.memory() + usage_.memory();
}

}  // namespace foretrace::sim
