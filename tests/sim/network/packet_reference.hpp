// The packet network once more, slow and plain: all packets exist from the
// start, and at every time everything is found by looking at all of them. Shares
// nothing with src/sim/network but the topology. See docs/networks.md (packet).
#pragma once

#include <optional>
#include <vector>

#include "sim/network/packet.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim::test {

struct Sending {
  int from = 0;
  int to = 0;
  Bytes bytes;
  Time time;
};

struct Outcome {
  Time sent;
  Time arrived;
  bool operator==(const Outcome&) const = default;
};

// Nothing if packets are left that can never go on. sendings: ordered by time.
std::optional<std::vector<Outcome>> reference_packets(const machine::Topology& topology,
                                                      const machine::LinkSpeed& defaults,
                                                      const PacketOptions& options,
                                                      const std::vector<Sending>& sendings);

// The same from PacketNetwork; throws what it throws.
std::vector<Outcome> run_packets(PacketNetwork& network, const std::vector<Sending>& sendings);

}  // namespace foretrace::sim::test
