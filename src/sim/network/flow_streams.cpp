// The streams of a FlowNetwork: their routes, and finding them again.
#include <algorithm>
#include <cassert>
#include <limits>

#include "base/error.hpp"
#include "sim/network/flow.hpp"

namespace foretrace::sim {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr std::size_t kFirstBuckets = 1024;

std::uint64_t pair_of(machine::NodeId from, machine::NodeId to) {
  return static_cast<std::uint64_t>(from.value) << 32 | static_cast<std::uint32_t>(to.value);
}

}  // namespace

FlowNetwork::FlowNetwork(const machine::Topology& topology, const machine::LinkSpeed& fallback,
                         Bytes piece)
    : topology_(topology),
      fallback_({fallback.latency.value_or(Time()), fallback.bytes_per_second.value_or(kNoLimit),
                 fallback.burst.value_or(0)}),
      piece_(piece),
      buckets_(kFirstBuckets, kNone),
      fair_link_(static_cast<std::size_t>(topology.links()), kNone) {
  for (int l = 0; l < topology_.links() && !has_bursts_; ++l)
    has_bursts_ = *speed_of(machine::LinkId(l)).burst > 0;
  bool first = true;
  for (int l = 0; l < topology_.links() && one_latency_; ++l) {
    const machine::LinkId link(l);
    // Leaving a bus takes nothing, and is no hop.
    if (topology_.kind(topology_.from(link)) == machine::NodeKind::bus) continue;
    const Time latency = *speed_of(link).latency;
    if (first) link_latency_ = latency;
    first = false;
    one_latency_ = latency == link_latency_;
  }
}

machine::LinkSpeed FlowNetwork::speed_of(machine::LinkId link) const {
  const machine::LinkSpeed& own = topology_.speed(link);
  return {own.latency ? own.latency : fallback_.latency,
          own.bytes_per_second ? own.bytes_per_second : fallback_.bytes_per_second,
          own.burst ? own.burst : fallback_.burst};
}

// Into route_, the links that take time.
void FlowNetwork::route(machine::NodeId from, machine::NodeId to) const {
  assert(from != to && "two different nodes");
  if (!topology_.route(from, to, route_))
    throw Error("topology '" + topology_.name() + "' has no way from " + topology_.node_name(from) +
                " to " + topology_.node_name(to));
  std::erase_if(route_, [this](machine::LinkId link) {
    return topology_.kind(topology_.from(link)) == machine::NodeKind::bus;
  });
}

Time FlowNetwork::latency(machine::NodeId from, machine::NodeId to) const {
  if (one_latency_)
    if (const std::optional<int> hops = topology_.hops(from, to))
      return link_latency_.count_ps() <= INT64_MAX / std::max(*hops, 1)
                 ? Time::ps(*hops * link_latency_.count_ps())
                 : Time::max();
  if (const std::uint32_t number = find_stream(pair_of(from, to)); number != kNone)
    return streams_[number].latency;
  route(from, to);
  Time sum;
  for (const machine::LinkId link : route_) sum += *speed_of(link).latency;
  return sum;
}

std::size_t FlowNetwork::bucket_of(std::uint64_t pair) const {
  pair *= 0x9e3779b97f4a7c15;
  return (pair ^ pair >> 32) & (buckets_.size() - 1);
}

std::uint32_t FlowNetwork::find_stream(std::uint64_t pair) const {
  std::uint32_t number = buckets_[bucket_of(pair)];
  while (number != kNone && streams_[number].pair != pair) number = streams_[number].next_in_bucket;
  return number;
}

std::uint32_t FlowNetwork::stream_of(machine::NodeId from, machine::NodeId to) {
  const std::uint32_t number = find_stream(pair_of(from, to));
  return number != kNone ? number : new_stream(from, to);
}

std::uint32_t FlowNetwork::new_stream(machine::NodeId from, machine::NodeId to) {
  route(from, to);
  if (idle_ >= kIdleStreams) evict_oldest();
  std::uint32_t number = static_cast<std::uint32_t>(streams_.size());
  if (free_streams_.empty()) {
    streams_.emplace_back();
    if (streams_.size() > buckets_.size()) grow_buckets();
  } else {
    number = free_streams_.back();
    free_streams_.pop_back();
  }
  Stream& stream = streams_[number];
  stream.pair = pair_of(from, to);
  stream.latency = Time();
  stream.ps_per_byte = 0;
  stream.carriers.clear();
  limits_.clear();
  for (const machine::LinkId link : route_) {
    const machine::LinkSpeed speed = speed_of(link);
    const machine::LinkId carrier = topology_.carrier(link);
    // The medium of a bus has the speed of the carrier.
    const double bytes_per_second = *speed_of(carrier).bytes_per_second;
    stream.latency += *speed.latency;
    stream.carriers.push_back({carrier, 1e12 / bytes_per_second});
    if (bytes_per_second == kNoLimit) continue;
    std::uint32_t& fair = fair_link_[static_cast<std::size_t>(carrier.value)];
    if (fair == kNone) {
      fair = fair_.add_link(static_cast<long double>(bytes_per_second) / 1e12L);
      classes_.emplace_back();
      add_bucket(carrier);
    }
    stream.carriers.back().fair = fair;
    limits_.push_back(fair);
    stream.ps_per_byte = std::max(stream.ps_per_byte, stream.carriers.back().ps_per_byte);
  }
  if (stream.ps_per_byte > 0) fair_.add_flow(number, limits_);
  std::uint32_t& bucket = buckets_[bucket_of(stream.pair)];
  stream.next_in_bucket = bucket;
  bucket = number;
  // Idle until somebody uses it.
  leave(number);
  return number;
}

// Of the newest link of fair_.
void FlowNetwork::add_bucket(machine::LinkId carrier) {
  if (!has_bursts_) return;
  const machine::LinkSpeed speed = speed_of(carrier);
  bursts_.push_back({*speed.burst, 1e12 / *speed.bytes_per_second});
}

void FlowNetwork::grow_buckets() {
  buckets_.assign(2 * buckets_.size(), kNone);
  for (std::uint32_t number = 0; number < streams_.size(); ++number) {
    // The new one is put in by whoever made it; there are no free ones now.
    if (number + 1 == streams_.size()) break;
    std::uint32_t& bucket = buckets_[bucket_of(streams_[number].pair)];
    streams_[number].next_in_bucket = bucket;
    bucket = number;
  }
}

void FlowNetwork::evict_oldest() {
  const std::uint32_t number = oldest_;
  use(number);
  Stream& stream = streams_[number];
  stream.users = 0;
  std::uint32_t* from = &buckets_[bucket_of(stream.pair)];
  while (*from != number) from = &streams_[*from].next_in_bucket;
  *from = stream.next_in_bucket;
  if (stream.ps_per_byte > 0) fair_.remove_flow(number);
  free_streams_.push_back(number);
}

// One message more; takes a stream that was idle out of their list.
void FlowNetwork::use(std::uint32_t number) {
  Stream& stream = streams_[number];
  if (stream.users++ > 0) return;
  --idle_;
  (stream.older == kNone ? oldest_ : streams_[stream.older].newer) = stream.newer;
  (stream.newer == kNone ? newest_ : streams_[stream.newer].older) = stream.older;
}

// One message less, to none: the stream becomes the newest idle one.
void FlowNetwork::leave(std::uint32_t number) {
  Stream& stream = streams_[number];
  if (stream.users > 0 && --stream.users > 0) return;
  ++idle_;
  stream.older = newest_;
  stream.newer = kNone;
  (newest_ == kNone ? oldest_ : streams_[newest_].newer) = number;
  newest_ = number;
}

}  // namespace foretrace::sim
