// Times worked out by hand. A link of 1 GB/s takes 1 ns a byte; packets have 100
// bytes if nothing else is said, so a full one is 100 ns on a link.
#include "sim/network/packet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "packet_reference.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::sim::test {
namespace {

using machine::NodeId;
using testing::ElementsAre;
using testing::HasSubstr;

machine::Topology topology(const std::string& expression, const char* latency = "10ns") {
  return machine::make_topology(expression + "?bandwidth=1GB/s&latency=" + latency);
}

PacketOptions packets(int buffer = 16, bool adaptive = false) {
  PacketOptions options;
  options.packet_size = Bytes(100);
  options.buffer_packets = buffer;
  options.adaptive = adaptive;
  return options;
}

Sending send(int from, int to, std::uint64_t bytes, std::int64_t ns = 0) {
  return {from, to, Bytes(bytes), Time::ns(ns)};
}

Outcome ns(std::int64_t sent, std::int64_t arrived) {
  return {Time::ns(sent), Time::ns(arrived)};
}

std::vector<Outcome> run(const machine::Topology& network, const PacketOptions& options,
                         const std::vector<Sending>& sendings) {
  PacketNetwork packet_network(network, {}, options);
  return run_packets(packet_network, sendings);
}

TEST(Packet, StoresAndForwardsOnePacketAtEveryHop) {
  // 3 links, each 50 on it and 10 more.
  EXPECT_THAT(run(topology("array:4"), packets(), {send(0, 3, 50)}), ElementsAre(ns(50, 180)));
  EXPECT_THAT(run(topology("array:4"), packets(), {send(0, 3, 50, 7)}), ElementsAre(ns(57, 187)));
}

TEST(Packet, PacketsOfAMessageFollowEachOther) {
  // n = 10 packets over h = 3 links: (n - 1 + h) * 100 + h * 10.
  EXPECT_THAT(run(topology("array:4"), packets(), {send(0, 3, 1000)}), ElementsAre(ns(1000, 1230)));
  // n = 1,000 packets, of which 16 at most are between two nodes.
  EXPECT_THAT(run(topology("array:4"), packets(), {send(0, 3, 100'000)}),
              ElementsAre(ns(100'000, 100'230)));
}

TEST(Packet, TheLastPacketMayBeShorter) {
  // First link: left at 100, 200, 250; there 10 later. Second link: 110-210,
  // 210-310, 310-360; the last one waited there since 260.
  EXPECT_THAT(run(topology("array:3"), packets(), {send(0, 2, 250)}), ElementsAre(ns(250, 370)));
  // 101 bytes: 100 and 1. Second link: 110-210, 210-211.
  EXPECT_THAT(run(topology("array:3"), packets(), {send(0, 2, 101)}), ElementsAre(ns(101, 221)));
}

TEST(Packet, AnEmptyMessageIsOnePacketOfOneByte) {
  const machine::Topology line = topology("array:4");
  EXPECT_THAT(run(line, packets(), {send(0, 3, 0)}), ElementsAre(ns(1, 33)));
  EXPECT_EQ(PacketNetwork(line, {}).latency(NodeId(0), NodeId(3)), Time::ns(33));
}

// A bucket of 200 bytes: two packets pass at once, the others as the bucket fills; at 350 it has 50
// bytes, at 1,000 all again. Behind the first link packets come one by one, and the second lets
// each pass.
TEST(Packet, ABurstPassesALinkThatHasRested) {
  const auto network = machine::make_topology("array:3?bandwidth=1GB/s&latency=10ns&burst=200");
  EXPECT_THAT(run(network, packets(), {send(0, 1, 500)}), ElementsAre(ns(300, 310)));
  EXPECT_THAT(run(network, packets(), {send(0, 2, 500)}), ElementsAre(ns(300, 320)));
  EXPECT_THAT(
      run(network, packets(), {send(0, 1, 500), send(0, 1, 100, 350), send(0, 1, 200, 1000)}),
      ElementsAre(ns(300, 310), ns(400, 410), ns(1000, 1010)));
  PacketNetwork whole(network, {}, packets());
  EXPECT_EQ(whole.latency(NodeId(0), NodeId(2)), Time::ns(20));
}

// 150 bytes, then 100 that are in one stream with them, then 150 where the link is idle again.
TEST(Packet, Header) {
  const auto network = machine::make_topology("array:3?bandwidth=1GB/s&latency=10ns&header=50");
  EXPECT_THAT(run(network, packets(), {send(0, 1, 100), send(0, 1, 100, 20), send(0, 1, 100, 250)}),
              ElementsAre(ns(150, 160), ns(250, 260), ns(400, 410)));
  EXPECT_THAT(run(network, packets(), {send(0, 1, 0)}), ElementsAre(ns(50, 60)));
}

TEST(Packet, TheTimeOfAPacketIsRoundedOnce) {
  // 3 GB/s: 50 bytes take 16666.67 ps, 100 bytes 33333.33 ps. 250 bytes over two
  // links: left at 33333, 66666, 83333; second link from 33333 + 10000 on:
  // 43333-76666, -109999, -126666; there at 136666.
  const auto line = machine::make_topology("array:3?bandwidth=3GB/s&latency=10ns");
  EXPECT_THAT(run(line, packets(), {send(0, 2, 250)}),
              ElementsAre(Outcome{Time::ps(83333), Time::ps(136666)}));
}

TEST(Packet, ALinkServesPacketsInTheOrderOfComing) {
  // Both come to the switch at 110: the lower input link, from 0, goes first:
  // 110-210; the other 210-310.
  const machine::Topology crossbar = topology("crossbar:3");
  EXPECT_THAT(run(crossbar, packets(), {send(1, 2, 100), send(0, 2, 100)}),
              ElementsAre(ns(100, 320), ns(100, 220)));
  // From 1 comes at 110, from 0 at 111.
  EXPECT_THAT(run(crossbar, packets(), {send(1, 2, 100), send(0, 2, 100, 1)}),
              ElementsAre(ns(100, 220), ns(101, 320)));
}

TEST(Packet, ANodesOwnPacketsAreLastAmongEquals) {
  // From 0 comes to node 1 at 110.
  const machine::Topology line = topology("array:3");
  EXPECT_THAT(run(line, packets(), {send(0, 2, 100), send(1, 2, 100, 110)}),
              ElementsAre(ns(100, 220), ns(310, 320)));
  EXPECT_THAT(run(line, packets(), {send(0, 2, 100), send(1, 2, 100, 109)}),
              ElementsAre(ns(100, 319), ns(209, 219)));
}

TEST(Packet, ANodesOwnPacketsComeOneAfterTheOther) {
  // Node 1 sends 3 packets from 0 on; its third comes at 200, when the second has
  // left. The one from 0 has been there since 110: link 1-2 takes own 0-100, own
  // 100-200, the other 200-300, own 300-400.
  EXPECT_THAT(run(topology("array:3"), packets(), {send(1, 2, 300), send(0, 2, 100)}),
              ElementsAre(ns(400, 410), ns(100, 310)));
}

TEST(Packet, MessagesOfANodeOverOneLinkGoInTheOrderOfInjection) {
  EXPECT_THAT(run(topology("array:3"), packets(), {send(0, 1, 300), send(0, 2, 100)}),
              ElementsAre(ns(300, 310), ns(400, 520)));
  // Over different links they go at once.
  EXPECT_THAT(run(topology("array:3"), packets(), {send(1, 0, 300), send(1, 2, 100)}),
              ElementsAre(ns(300, 310), ns(100, 110)));
}

// a -> b with 1 GB/s, b -> c with 0.25 GB/s: 100 and 400 ns for a packet.
machine::Topology narrowing() {
  return machine::parse_topology(R"(
[topology]
incidence = [[1], [2], []]
latency = "10ns"
bandwidth = "1GB/s"
[[link]]
from = 1
to = 2
bandwidth = "0.25GB/s"
)",
                                 "narrowing.toml");
}

TEST(Packet, AFullBufferStopsTheLinkBeforeIt) {
  // One place. First packet: 0-100, at b 110, second link 110-510: its place is
  // free at 510. Second: 510-610, at b 620, 620-1020. Third: 1020-1120, 1130-1530.
  // Fourth: 1530-1630, 1640-2040, at c 2050.
  EXPECT_THAT(run(narrowing(), packets(1), {send(0, 2, 400)}), ElementsAre(ns(1630, 2050)));
  // Two places. 0-100 and 100-200; the third when the first has left b: 510-610;
  // the fourth when the second has: 910-1010. Second link: 110-510-910-1310-1710.
  EXPECT_THAT(run(narrowing(), packets(2), {send(0, 2, 400)}), ElementsAre(ns(1010, 1720)));
  // Four: nobody waits before the second link.
  EXPECT_THAT(run(narrowing(), packets(4), {send(0, 2, 400)}), ElementsAre(ns(400, 1720)));
}

TEST(Packet, APlaceAtTheDestinationIsFreeOnArrival) {
  // One place and 250 ns of latency: a packet starts when the one before is there:
  // 0, 350, 700.
  EXPECT_THAT(run(topology("array:2", "250ns"), packets(1), {send(0, 1, 300)}),
              ElementsAre(ns(800, 1050)));
  // Three places: at 0, 100, 200; the fourth at 350.
  EXPECT_THAT(run(topology("array:2", "250ns"), packets(3), {send(0, 1, 400)}),
              ElementsAre(ns(450, 700)));
}

TEST(Packet, PacketsForAFreeLinkPassThoseThatWait) {
  // Star around 0 with one place: 1 sends to 2, which 3 keeps busy, then to 4.
  // At 0: both first packets at 110; link 0-2 takes that from 1: 110-210, there
  // 220; then, as there is room at 2 again, that from 3: 220-320, there 330. 3's
  // second packet has a place at 0 at 320: 320-420, at 0 430, 430-530. 1's packet
  // to 4 has one at 210: 210-310, then 320-420 while the other still waits.
  EXPECT_THAT(
      run(topology("star:5"), packets(1), {send(1, 2, 100), send(3, 2, 200), send(1, 4, 100)}),
      ElementsAre(ns(100, 220), ns(420, 540), ns(310, 430)));
}

TEST(Packet, AdaptiveTakesTheLinkWithFewerPackets) {
  // 0 to 3 in a mesh of 2 x 2: by 1 in dimension order; by 2 as well.
  const machine::Topology mesh = topology("mesh:2x2");
  const std::vector<Sending> two{send(0, 3, 100), send(0, 3, 100)};
  EXPECT_THAT(run(mesh, packets(), two), ElementsAre(ns(100, 220), ns(200, 320)));
  EXPECT_THAT(run(mesh, packets(16, true), two), ElementsAre(ns(100, 220), ns(100, 220)));
  // The packets of one message choose too: 1, 2, 1.
  EXPECT_THAT(run(mesh, packets(16, true), {send(0, 3, 250)}), ElementsAre(ns(150, 270)));
  // Half-way round a ring both ways are as long.
  EXPECT_THAT(run(topology("ring:4"), packets(16, true), {send(0, 2, 200)}),
              ElementsAre(ns(100, 220)));
  EXPECT_THAT(run(topology("ring:4"), packets(16), {send(0, 2, 200)}), ElementsAre(ns(200, 320)));
}

TEST(Packet, AdaptiveChoosesAtEverySwitch) {
  // fattree:2,3: processors 0, 1 at one leaf, two parents above it. Both send to
  // the other half at once; by d-mod-k 4 and 6 take the same way up, so the second
  // starts at the leaf at 210 instead of 110.
  const machine::Topology tree = topology("fattree:2,3");
  const std::vector<Sending> two{send(0, 4, 100), send(1, 6, 100)};
  EXPECT_THAT(run(tree, packets(), two), ElementsAre(ns(100, 660), ns(100, 760)));
  EXPECT_THAT(run(tree, packets(16, true), two), ElementsAre(ns(100, 660), ns(100, 660)));
}

TEST(Packet, EnteringARingTakesTwoFreePlaces) {
  // The first packet has one of two places at 1 until it is there, at 110; only
  // then may the second enter: 110-210.
  EXPECT_THAT(run(topology("ring:8"), packets(2), {send(0, 1, 200)}), ElementsAre(ns(210, 220)));
  EXPECT_THAT(run(topology("ring:8"), packets(3), {send(0, 1, 200)}), ElementsAre(ns(200, 210)));
  // On a line nothing is a ring.
  EXPECT_THAT(run(topology("array:8"), packets(2), {send(0, 1, 200)}), ElementsAre(ns(200, 210)));
}

std::vector<Sending> half_way_round(int nodes, std::uint64_t bytes) {
  std::vector<Sending> sendings;
  for (int r = 0; r < nodes; ++r) sendings.push_back(send(r, (r + nodes / 2) % nodes, bytes));
  return sendings;
}

TEST(Packet, ARingOfFullBuffersKeepsGoing) {
  const machine::Topology ring = topology("ring:8");
  const auto sendings = half_way_round(8, 5000);
  for (const bool adaptive : {false, true})
    for (const Outcome& outcome : run(ring, packets(2, adaptive), sendings)) {
      // 50 packets of 8 nodes over 4 links each, shared by 8 links of 100 ns one
      // way round, 16 both ways.
      EXPECT_GT(outcome.arrived, Time::ns(adaptive ? 10'000 : 18'000));
      EXPECT_LT(outcome.arrived, Time::ns(100'000));
    }
}

TEST(Packet, ACircleOfFullBuffersIsAnError) {
  // Each node fills the place at the next one with a packet that wants on.
  PacketOptions options = packets(1);
  options.avoid_deadlock = false;
  const machine::Topology ring = topology("ring:8");
  try {
    run(ring, options, half_way_round(8, 200));
    FAIL() << "must be stuck";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("found 8 messages that wait for each other's buffers (a packet from "));
    EXPECT_THAT(error.what(), HasSubstr("a packet from 0 to 4 waits at 0 for room at 1"));
  }
  // With a place more than packets, nothing stands still.
  options.buffer_packets = 3;
  EXPECT_EQ(run(ring, options, half_way_round(8, 200)).size(), 8u);
}

TEST(Packet, ABusCarriesOnePacketAtATime) {
  // Both at 0: 0 before 1; the second packet of 0 comes at 100, after that of 1.
  const machine::Topology shape = topology("bus:3");
  PacketNetwork network(shape, {}, packets());
  EXPECT_THAT(run_packets(network, {send(1, 2, 100), send(0, 1, 200)}),
              ElementsAre(ns(200, 210), ns(300, 310)));
  const auto loads = network.loads();
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].messages, 2u);
  EXPECT_EQ(loads[0].bytes, Bytes(300));
  EXPECT_EQ(loads[0].busy, Time::ns(300));
  EXPECT_EQ(network.packet_hops(), 3u);
  // One place at node 2, which the first packet has until 350: that of 0 to 1
  // passes the second one.
  EXPECT_THAT(run(topology("bus:3", "250ns"), packets(1), {send(0, 2, 200), send(1, 0, 100)}),
              ElementsAre(ns(450, 700), ns(200, 450)));
}

TEST(Packet, LoadsCountWhatEveryLinkCarried) {
  const machine::Topology line = topology("array:3");
  PacketNetwork network(line, {}, packets());
  run_packets(network, {send(0, 2, 250), send(1, 2, 0)});
  const auto loads = network.loads();
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].link.value, line.graph().find(0, 1));
  EXPECT_EQ(loads[0].messages, 1u);
  EXPECT_EQ(loads[0].bytes, Bytes(250));
  EXPECT_EQ(loads[0].busy, Time::ns(250));
  EXPECT_EQ(loads[1].link.value, line.graph().find(1, 2));
  EXPECT_EQ(loads[1].messages, 2u);
  EXPECT_EQ(loads[1].bytes, Bytes(251));
  EXPECT_EQ(loads[1].busy, Time::ns(251));
}

TEST(Packet, LinksWithoutASpeedTakeTheDefaults) {
  const machine::Topology line = machine::make_topology("array:3?latency=10ns");
  PacketNetwork network(line, {Time::ns(999), 1e9}, packets());
  EXPECT_THAT(run_packets(network, {send(0, 2, 100)}), ElementsAre(ns(100, 220)));
  // No speed at all: no time at all.
  const machine::Topology bare = machine::make_topology("array:3");
  PacketNetwork immediate(bare, {}, packets(1));
  EXPECT_THAT(run_packets(immediate, {send(0, 2, 1000), send(1, 2, 1000, 5)}),
              ElementsAre(ns(0, 0), ns(5, 5)));
}

TEST(Packet, NumbersOfMessagesAreUsedAgain) {
  const machine::Topology line = topology("array:2");
  PacketNetwork network(line, {}, packets());
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 1000; ++i) {
    network.inject(7, {NodeId(0), NodeId(1)}, Bytes(100), Time::ns(1000 * i));
    while (network.next() != Time::max()) network.advance(arrivals);
  }
  ASSERT_EQ(arrivals.size(), 1000u);
  EXPECT_EQ(arrivals[999].arrived, Time::ns(999'110));
  EXPECT_LT(network.memory(), 10'000u);
}

TEST(Packet, WrongOptionsAreRefused) {
  const machine::Topology ring = topology("ring:4");
  const auto refuse = [](const machine::Topology& shape, PacketOptions options) {
    EXPECT_THROW(PacketNetwork(shape, {}, options), UsageError);
  };
  refuse(ring, packets(0));
  refuse(ring, packets(1));
  PacketOptions options = packets();
  options.packet_size = Bytes(0);
  refuse(ring, options);
  const machine::Topology line = topology("array:2");
  EXPECT_NO_THROW(PacketNetwork(line, {}, packets(1)));
}

TEST(Packet, AMessageNeedsAWay) {
  const machine::Topology one_way = narrowing();
  for (const bool adaptive : {false, true}) {
    PacketNetwork network(one_way, {}, packets(16, adaptive));
    EXPECT_THROW(network.inject(0, {NodeId(2), NodeId(0)}, Bytes(1), Time()), Error);
  }
}

TEST(Packet, MessagesEnterInTheOrderOfTime) {
  const machine::Topology line = topology("array:2");
  PacketNetwork network(line, {}, packets());
  network.inject(0, {NodeId(0), NodeId(1)}, Bytes(100), Time::ns(5));
  EXPECT_THROW(network.inject(1, {NodeId(0), NodeId(1)}, Bytes(1), Time::ns(4)), Error);
  std::vector<Arrival> arrivals;
  while (network.next() != Time::max()) network.advance(arrivals);
  EXPECT_THROW(network.inject(1, {NodeId(0), NodeId(1)}, Bytes(1), Time::ns(114)), Error);
  EXPECT_NO_THROW(network.inject(1, {NodeId(0), NodeId(1)}, Bytes(1), Time::ns(115)));
}

TEST(Packet, TimeEndsWithAnError) {
  const machine::Topology slow = machine::make_topology("array:2?bandwidth=1GB/s");
  PacketNetwork network(slow, {Time::ns(9'000'000'000'000'000), {}}, packets(1));
  EXPECT_THROW(run_packets(network, {send(0, 1, 200)}), Error);
}

}  // namespace
}  // namespace foretrace::sim::test
