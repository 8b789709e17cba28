#include "sim/network/links.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/network/bus.hpp"
#include "sim/network/flow.hpp"
#include "sim/network/packet.hpp"

namespace foretrace::sim {
namespace {

const machine::Topology& required(const NetworkOptions& options) {
  if (!options.topology)
    throw UsageError("the network needs a topology: --topology T, for example torus:4x4");
  return *options.topology;
}

// The medium is as fast as the topology's first link, where there is one.
machine::LinkSpeed bus_speed(const NetworkOptions& options) {
  machine::LinkSpeed speed = default_speed(options.loggps);
  if (!options.topology || options.topology->links() == 0) return speed;
  const machine::LinkSpeed& given = options.topology->speed(machine::LinkId(0));
  if (given.latency) speed.latency = given.latency;
  if (given.bytes_per_second) speed.bytes_per_second = given.bytes_per_second;
  return speed;
}

std::unique_ptr<SharedNetwork> make_links(const NetworkOptions& options) {
  if (options.kind == NetworkKind::architecture)
    return options.make_links(default_speed(options.loggps));
  if (options.kind == NetworkKind::bus) return std::make_unique<BusNetwork>(bus_speed(options));
  if (options.kind == NetworkKind::flow)
    return std::make_unique<FlowNetwork>(required(options), default_speed(options.loggps),
                                         options.piece);
  PacketOptions packets;
  packets.packet_size = options.packet_size;
  packets.buffer_packets = options.buffer_packets;
  packets.piece = options.piece;
  packets.adaptive = options.adaptive;
  return std::make_unique<PacketNetwork>(required(options), default_speed(options.loggps), packets);
}

}  // namespace

LinkNetwork::LinkNetwork(const NetworkOptions& options, int ranks)
    : NodeNetwork(options, ranks), options_(options), links_(make_links(options)) {}

Time LinkNetwork::alone_on_links(WorldRank from, WorldRank to, Bytes bytes) {
  const Way way{node_of(from), node_of(to), 0};
  const auto [known, added] = alone_.try_emplace({way.from, way.to, bytes.count});
  if (!added) return known->second;
  if (!empty_) empty_ = make_links(options_);
  const Time start = next_;
  empty_->inject(0, way, bytes, start);
  std::vector<Arrival> arrivals;
  while (empty_->next() != Time::max()) {
    next_ = std::max(next_, empty_->next());
    empty_->advance(arrivals);
  }
  if (!arrivals.empty()) known->second = arrivals.front().arrived - start;
  return known->second;
}

Delivery LinkNetwork::deliver(const Meeting& meeting) const {
  if (node_of(meeting.from) == node_of(meeting.to)) return EndpointNetwork::deliver(meeting);
  return {Time(), meeting.stamp.rendezvous ? data_enters(meeting) : meeting.stamp.sent};
}

}  // namespace foretrace::sim
