#include "sim/network/bus.hpp"

#include <algorithm>
#include <limits>

namespace foretrace::sim {
namespace {

// Time::max() means that nothing is under way; what would end beyond is told here.
constexpr Time kLatest = Time::ps(9'200'000'000'000'000'000);

}  // namespace

BusNetwork::BusNetwork(const machine::LinkSpeed& speed)
    : latency_(speed.latency.value_or(Time())),
      bytes_per_second_(speed.bytes_per_second.value_or(std::numeric_limits<double>::infinity())) {}

void BusNetwork::inject(MessageId message, const Way& way, Bytes bytes, Time time) {
  const Time hold = Time::from_seconds(static_cast<double>(bytes.count) / bytes_per_second_);
  waiting_.push({time, way.from, sequence_++, message, bytes, hold});
}

Time BusNetwork::next() const {
  if (waiting_.empty()) return Time::max();
  return std::min(std::max(free_, waiting_.top().time) + waiting_.top().hold, kLatest);
}

void BusNetwork::advance(std::vector<Arrival>& arrivals) {
  const Time now = next();
  done_.clear();
  while (!waiting_.empty() && next() == now) {
    const Waiting& first = waiting_.top();
    usage_.carried(machine::LinkId(0), first.bytes, std::max(free_, first.time), now);
    done_.push_back({first.sequence, {first.message, now, now + latency_}});
    free_ = now;
    waiting_.pop();
  }
  std::sort(done_.begin(), done_.end(),
            [](const Done& a, const Done& b) { return a.sequence < b.sequence; });
  for (const Done& done : done_) arrivals.push_back(done.arrival);
}

std::size_t BusNetwork::memory() const {
  return waiting_.size() * sizeof(Waiting) + done_.capacity() * sizeof(Done) + usage_.memory();
}

}  // namespace foretrace::sim
