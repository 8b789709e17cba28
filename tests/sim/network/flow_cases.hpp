// What the tests of shared networks have in common: topologies made by hand, and
// an engine without MPI that puts messages in and writes down when they end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/network/shared_network.hpp"
#include "topology/builders.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim::cases {

struct Link {
  int from = 0;
  int to = 0;
  double bytes_per_second = 1e9;
  Time latency = Time();
};

// Any directed graph; `kinds` are the nodes after the processors.
inline machine::Topology graph(int processors, std::vector<machine::NodeKind> kinds,
                               const std::vector<Link>& links) {
  machine::TopologySpec spec;
  spec.name = "graph";
  std::vector<machine::LinkSpeed> speeds;
  std::vector<machine::GraphLink> rows;
  for (const Link& link : links) {
    rows.push_back({link.from, link.to, static_cast<int>(speeds.size())});
    speeds.push_back({link.latency, link.bytes_per_second});
  }
  return machine::Topology(spec, machine::TopologyGraph(processors, std::move(kinds), rows),
                           std::move(speeds));
}

inline machine::Topology regular(std::string_view expression) {
  return machine::build_topology(machine::parse_topology_expression(expression));
}

struct Message {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
  Time start;
  int connection = -1;  // one of its own
};

enum class Ties : std::uint8_t { messages_first, network_first };

// By message. Messages are put in by start, equal ones in the order given.
inline std::vector<Arrival> run(SharedNetwork& network, const std::vector<Message>& messages,
                                Ties ties = Ties::messages_first,
                                std::vector<MessageId>* order = nullptr) {
  std::vector<MessageId> by_start(messages.size());
  for (std::size_t i = 0; i < by_start.size(); ++i) by_start[i] = static_cast<MessageId>(i);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](MessageId a, MessageId b) { return messages[a].start < messages[b].start; });
  std::vector<Arrival> log;
  for (const MessageId id : by_start) {
    const Message& message = messages[id];
    while (network.next() < message.start ||
           (ties == Ties::network_first && network.next() == message.start))
      network.advance(log);
    const std::uint64_t connection = message.connection < 0
                                         ? std::uint64_t{1} << 32 | id
                                         : static_cast<std::uint64_t>(message.connection);
    network.inject(id, {machine::NodeId(message.from), machine::NodeId(message.to), connection},
                   Bytes(message.bytes), message.start);
  }
  while (network.next() != Time::max()) network.advance(log);
  std::vector<Arrival> arrivals(messages.size());
  for (const Arrival& arrival : log) {
    arrivals[arrival.message] = arrival;
    if (order) order->push_back(arrival.message);
  }
  return arrivals;
}

inline std::vector<std::int64_t> sent_ps(const std::vector<Arrival>& arrivals) {
  std::vector<std::int64_t> sent;
  for (const Arrival& arrival : arrivals) sent.push_back(arrival.sent.count_ps());
  return sent;
}

}  // namespace foretrace::sim::cases
