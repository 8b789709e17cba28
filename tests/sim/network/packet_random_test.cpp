// Random traffic: equal to the slow reference to the last picosecond, whatever
// the topology; and what must hold for any traffic.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "packet_reference.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::sim::test {
namespace {

// Two buses with a router between them, a slow link, one-way links.
constexpr const char* kMixed = R"(
[topology]
latency = "3ns"
bandwidth = "1GB/s"
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[node]]
name = "d"
[[node]]
name = "e"
[[node]]
name = "left"
kind = "bus"
[[node]]
name = "right"
kind = "bus"
[[node]]
name = "r1"
kind = "switch"
[[node]]
name = "r2"
kind = "switch"
[[link]]
from = "a"
to = "left"
both_ways = true
[[link]]
from = "b"
to = "left"
both_ways = true
[[link]]
from = "r1"
to = "left"
both_ways = true
[[link]]
from = "r2"
to = "left"
both_ways = true
[[link]]
from = "r1"
to = "right"
both_ways = true
[[link]]
from = "r2"
to = "right"
both_ways = true
[[link]]
from = "c"
to = "right"
both_ways = true
[[link]]
from = "d"
to = "right"
both_ways = true
[[link]]
from = "d"
to = "e"
both_ways = true
bandwidth = "300MB/s"
latency = "20ns"
[[link]]
from = "e"
to = "a"
latency = "0s"
)";

constexpr const char* kShapes[] = {
    "full:4",         "ring:5",    "ring:8",     "array:5",         "star:5",    "bus:4",
    "mesh:3x3",       "torus:4x4", "torus:5x3",  "hypercube:3",     "tree:2,3",  "fattree:2,3",
    "xgft:2;2,2;2,2", "omega:8",   "crossbar:5", "dragonfly:2,1,2", "torus:2x6", "mixed"};

// Speeds with which many things happen at one time; the last ones take none.
constexpr const char* kSpeeds[] = {"bandwidth=1GB/s&latency=0s",
                                   "bandwidth=1GB/s&latency=10ns",
                                   "bandwidth=1GB/s&latency=7ns",
                                   "bandwidth=333MB/s&latency=1us",
                                   "bandwidth=1GB/s&latency=10ns&burst=700",
                                   "bandwidth=333MB/s&latency=0s&burst=5000",
                                   "latency=10ns",
                                   "latency=0s"};

machine::Topology make(const std::string& shape, const std::string& speed) {
  if (shape == "mixed") return machine::parse_topology(kMixed, "mixed.toml");
  return machine::make_topology(shape + "?" + speed);
}

std::vector<Sending> random_traffic(std::mt19937& random, int processors, int messages,
                                    std::uint64_t most_bytes) {
  std::vector<Sending> sendings;
  std::int64_t time = 0;
  // Often the same destination: that is where buffers fill.
  const int popular = static_cast<int>(random() % static_cast<unsigned>(processors));
  for (int m = 0; m < messages; ++m) {
    Sending sending;
    sending.from = static_cast<int>(random() % static_cast<unsigned>(processors));
    sending.to =
        random() % 2 ? popular : static_cast<int>(random() % static_cast<unsigned>(processors));
    if (sending.from == sending.to) sending.to = (sending.to + 1) % processors;
    sending.bytes =
        Bytes(random() % 4 == 0 ? random() % most_bytes : random() % (most_bytes / 10) * 10);
    time += static_cast<std::int64_t>(random() % 3 == 0 ? random() % 4 * 10 : 0);
    sending.time = Time::ns(time);
    sendings.push_back(sending);
  }
  return sendings;
}

std::string describe(const std::vector<Sending>& sendings) {
  std::string text;
  for (const Sending& s : sendings)
    text += "\n  " + std::to_string(s.from) + " -> " + std::to_string(s.to) + " " +
            std::to_string(s.bytes.count) + " B at " + std::to_string(s.time.count_ps());
  return text;
}

class PacketRandom : public testing::TestWithParam<const char*> {};
class PacketAlone : public PacketRandom {};

TEST_P(PacketRandom, EqualsTheReference) {
  std::mt19937 random(4711);
  int stuck = 0;
  for (int round = 0; round < 150; ++round) {
    const machine::Topology topology = make(GetParam(), kSpeeds[random() % std::size(kSpeeds)]);
    PacketOptions options;
    options.packet_size = Bytes(10);
    options.adaptive = random() % 2 == 0;
    options.avoid_deadlock = random() % 4 != 0;
    options.buffer_packets = 1 + static_cast<int>(random() % 3);
    if (options.avoid_deadlock) options.buffer_packets = std::max(2, options.buffer_packets);
    const auto sendings =
        random_traffic(random, topology.processors(), 1 + static_cast<int>(random() % 14), 80);
    const auto expected = reference_packets(topology, {}, options, sendings);
    const std::string what = "round " + std::to_string(round) + describe(sendings);
    PacketNetwork network(topology, {}, options);
    if (!expected) {
      EXPECT_FALSE(options.avoid_deadlock) << what;
      EXPECT_THROW(run_packets(network, sendings), Error) << what;
      ++stuck;
      continue;
    }
    const auto found = run_packets(network, sendings);
    for (std::size_t m = 0; m < sendings.size(); ++m) {
      ASSERT_EQ(found[m].sent.count_ps(), (*expected)[m].sent.count_ps())
          << "message " << m << ", " << what;
      ASSERT_EQ(found[m].arrived.count_ps(), (*expected)[m].arrived.count_ps())
          << "message " << m << ", " << what;
    }
  }
  EXPECT_LT(stuck, 100);
}

// Alone on the network with room enough, full packets: h links, n packets:
// (n - 1 + h) * t + h * i.
TEST_P(PacketAlone, TakesWhatTheFormulaSays) {
  const machine::Topology topology = make(GetParam(), kSpeeds[2]);
  PacketOptions options;
  options.packet_size = Bytes(10);
  for (int from = 0; from < topology.processors(); ++from)
    for (int to = 0; to < topology.processors(); ++to) {
      if (from == to) continue;
      const int hops = *topology.hops(machine::NodeId(from), machine::NodeId(to));
      for (const int packets : {1, 2, 9}) {
        PacketNetwork network(topology, {}, options);
        const auto found = run_packets(
            network, {{from, to, Bytes(static_cast<std::uint64_t>(10 * packets)), Time::ns(3)}});
        EXPECT_EQ(found[0].sent, Time::ns(3 + 10 * packets));
        EXPECT_EQ(found[0].arrived, Time::ns(3 + (packets - 1 + hops) * 10 + hops * 7));
      }
    }
}

TEST_P(PacketRandom, HeavyTrafficEndsAndConservesBytes) {
  const machine::Topology topology = make(GetParam(), kSpeeds[1]);
  for (const bool adaptive : {false, true}) {
    std::mt19937 random(adaptive ? 1 : 2);
    PacketOptions options;
    options.packet_size = Bytes(16);
    options.buffer_packets = 2;
    options.adaptive = adaptive;
    auto sendings = random_traffic(random, topology.processors(), 3000, 400);
    for (Sending& sending : sendings) sending.time = Time();
    PacketNetwork network(topology, {}, options);
    const auto found = run_packets(network, sendings);
    // Every route is minimal: bytes times hops are what the carriers carried.
    std::uint64_t expected = 0;
    std::uint64_t carried = 0;
    std::uint64_t messages = 0;
    for (const Sending& s : sendings)
      expected += std::max<std::uint64_t>(1, s.bytes.count) *
                  static_cast<std::uint64_t>(
                      *topology.hops(machine::NodeId(s.from), machine::NodeId(s.to)));
    for (const LinkLoad& load : network.loads()) {
      carried += load.bytes.count;
      messages += load.messages;
    }
    // The hops of a dragonfly's own routes may be more than the fewest.
    if (adaptive && topology.shape().kind == machine::TopologyKind::dragonfly)
      EXPECT_LE(carried, expected);
    else
      EXPECT_EQ(carried, expected);
    EXPECT_GE(messages, sendings.size());
    PacketNetwork again(topology, {}, options);
    EXPECT_EQ(run_packets(again, sendings), found) << "the same twice";
    for (const Outcome& outcome : found) {
      EXPECT_GT(outcome.sent, Time());
      EXPECT_GE(outcome.arrived, outcome.sent);
    }
    if (adaptive) continue;
    // From one node to another no message overtakes.
    std::vector<std::vector<Time>> last(static_cast<std::size_t>(topology.processors()));
    for (auto& row : last) row.resize(last.size());
    for (std::size_t m = 0; m < sendings.size(); ++m) {
      Time& before = last[static_cast<std::size_t>(sendings[m].from)]
                         [static_cast<std::size_t>(sendings[m].to)];
      EXPECT_GT(found[m].arrived, before) << "message " << m;
      before = found[m].arrived;
    }
  }
}

std::string test_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, PacketRandom, testing::ValuesIn(kShapes), test_name);
// All but "mixed", whose links differ.
INSTANTIATE_TEST_SUITE_P(Shapes, PacketAlone,
                         testing::ValuesIn(std::begin(kShapes), std::end(kShapes) - 1), test_name);

}  // namespace
}  // namespace foretrace::sim::test
