#include "sim/network/hops.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace foretrace::sim {
namespace {

const machine::Topology& required(const machine::Topology* topology) {
  if (!topology) throw UsageError("network hops needs a topology: --topology T");
  return *topology;
}

}  // namespace

HopsNetwork::HopsNetwork(const NetworkOptions& options, int ranks)
    : NodeNetwork(options, ranks),
      topology_(required(options.topology)),
      default_(default_speed(options.loggps)),
      block_(options.block),
      cut_through_(options.cut_through) {
  for (int l = 1; l < topology_.links(); ++l)
    uniform_ =
        uniform_ && topology_.speed(machine::LinkId(l)) == topology_.speed(machine::LinkId(0));
  if (topology_.links() > 0) speed_ = speed_of(topology_.speed(machine::LinkId(0)));
}

HopsNetwork::Speed HopsNetwork::speed_of(const machine::LinkSpeed& given) const {
  return {given.latency.value_or(*default_.latency).seconds(),
          1 / given.bytes_per_second.value_or(*default_.bytes_per_second)};
}

void HopsNetwork::no_way(machine::NodeId from, machine::NodeId to) const {
  throw Error("topology '" + topology_.name() + "' has no way from " + topology_.node_name(from) +
              " to " + topology_.node_name(to));
}

EndpointNetwork::Transit HopsNetwork::between(machine::NodeId from, machine::NodeId to,
                                              Bytes bytes) const {
  const auto size = static_cast<double>(bytes.count);
  std::uint64_t blocks = 1;
  if (!cut_through_ && block_.count > 0)
    blocks = std::max<std::uint64_t>(
        1, bytes.count / block_.count + (bytes.count % block_.count != 0 ? 1 : 0));
  double start_up = 0;
  double per_byte = 0;
  if (uniform_) {
    const std::optional<int> hops = topology_.hops(from, to);
    if (!hops) no_way(from, to);
    start_up = *hops * speed_.start_up;
    per_byte = cut_through_ ? speed_.per_byte : *hops * speed_.per_byte;
  } else {
    route_.clear();
    if (!topology_.route(from, to, route_)) no_way(from, to);
    for (const machine::LinkId link : route_) {
      // Leaving a bus is free: its links in hold what it takes.
      if (topology_.kind(topology_.from(link)) == machine::NodeKind::bus) continue;
      const Speed speed = speed_of(topology_.speed(link));
      start_up += speed.start_up;
      per_byte = cut_through_ ? std::max(per_byte, speed.per_byte) : per_byte + speed.per_byte;
    }
  }
  return {Time::from_seconds(start_up * static_cast<double>(blocks)),
          Time::from_seconds(size * per_byte)};
}

}  // namespace foretrace::sim
