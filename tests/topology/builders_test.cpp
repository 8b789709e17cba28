// Every builder at a size that one can draw: who is linked with whom, and one
// route node by node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"

namespace foretrace::machine {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Builders, Full) {
  const Topology t = build("full:4");
  EXPECT_EQ(t.processors(), 4);
  EXPECT_EQ(t.switches(), 0);
  EXPECT_EQ(t.links(), 12);
  EXPECT_EQ(way(t, 3, 1), (Way{3, 1}));
}

TEST(Builders, Ring) {
  const Topology t = build("ring:4");
  EXPECT_THAT(links_of(t), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 0), Pair(1, 2), Pair(2, 1),
                                       Pair(2, 3), Pair(3, 0), Pair(3, 2)));
  EXPECT_EQ(way(t, 3, 0), (Way{3, 0}));
  // Both ways are two hops: the rising one.
  EXPECT_EQ(way(t, 0, 2), (Way{0, 1, 2}));
  EXPECT_EQ(way(t, 3, 1), (Way{3, 0, 1}));
  EXPECT_EQ(way(build("ring:5"), 0, 3), (Way{0, 4, 3}));
}

TEST(Builders, RingOfTwoHasOneLinkEachWay) {
  EXPECT_THAT(links_of(build("ring:2")), ElementsAre(Pair(0, 1), Pair(1, 0)));
  EXPECT_EQ(build("ring:1").links(), 0);
}

TEST(Builders, Array) {
  const Topology t = build("array:4");
  EXPECT_EQ(t.links(), 6);
  EXPECT_EQ(way(t, 3, 0), (Way{3, 2, 1, 0}));
}

TEST(Builders, StarHasAProcessorInTheMiddle) {
  const Topology t = build("star:4");
  EXPECT_EQ(t.switches(), 0);
  EXPECT_THAT(links_of(t),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 3), Pair(1, 0), Pair(2, 0), Pair(3, 0)));
  EXPECT_EQ(way(t, 1, 3), (Way{1, 0, 3}));
  EXPECT_EQ(hops(t, 1, 3), 2);
  EXPECT_EQ(way(t, 0, 3), (Way{0, 3}));
}

TEST(Builders, CrossbarHasASwitchInTheMiddle) {
  const Topology t = build("crossbar:3");
  EXPECT_EQ(t.switches(), 1);
  EXPECT_EQ(t.kind(NodeId(3)), NodeKind::switch_);
  EXPECT_EQ(way(t, 0, 2), (Way{0, 3, 2}));
  EXPECT_EQ(hops(t, 0, 2), 2);
}

TEST(Builders, BusIsOneMediumAndOneHop) {
  const Topology t = build("bus:3?bandwidth=1MB/s");
  EXPECT_EQ(t.kind(NodeId(3)), NodeKind::bus);
  EXPECT_EQ(way(t, 0, 2), (Way{0, 3, 2}));
  EXPECT_EQ(hops(t, 0, 2), 1);
  // Links: 0 -> bus, 1 -> bus, 2 -> bus, bus -> 0, bus -> 1, bus -> 2.
  EXPECT_EQ(t.carrier(LinkId(0)), LinkId(0));
  EXPECT_EQ(t.carrier(LinkId(2)), LinkId(0));
  EXPECT_EQ(t.carrier(LinkId(4)), LinkId(4));
  EXPECT_EQ(t.speed(LinkId(2)).bytes_per_second, 1e6);
  // Leaving the bus costs nothing.
  EXPECT_EQ(t.speed(LinkId(4)).latency, Time());
  EXPECT_EQ(t.speed(LinkId(4)).bytes_per_second, std::numeric_limits<double>::infinity());
}

TEST(Builders, Mesh) {
  // 0 1 2
  // 3 4 5
  const Topology t = build("mesh:2x3");
  EXPECT_EQ(t.links(), 2 * (3 + 4));
  EXPECT_EQ(way(t, 0, 5), (Way{0, 1, 2, 5}));  // the last dimension first
  EXPECT_EQ(way(t, 5, 0), (Way{5, 4, 3, 0}));
}

TEST(Builders, MeshOfThreeDimensions) {
  // 2x2x3: rank = 6 i + 3 j + k; lines: 6 along i, 6 along j, 4 along k (of 2 links).
  const Topology t = build("mesh:2x2x3");
  EXPECT_EQ(t.links(), 2 * (6 + 6 + 8));
  EXPECT_EQ(way(t, 0, 11), (Way{0, 1, 2, 5, 11}));
}

TEST(Builders, Torus) {
  //  0  1  2  3
  //  4  5  6  7
  //  8  9 10 11
  const Topology t = build("torus:3x4");
  EXPECT_EQ(t.links(), 2 * (12 + 12));
  EXPECT_EQ(way(t, 0, 11), (Way{0, 3, 11}));  // around both ends
  EXPECT_EQ(way(t, 1, 3), (Way{1, 2, 3}));    // a tie: rising
  EXPECT_EQ(way(t, 3, 1), (Way{3, 0, 1}));    // a tie: rising, around the end
  EXPECT_EQ(way(t, 4, 9), (Way{4, 5, 9}));
}

TEST(Builders, TorusSidesOfTwoAndOne) {
  // A side of 2 has one link each way, not two: this is a ring of 4.
  EXPECT_EQ(build("torus:2x2").links(), 8);
  EXPECT_EQ(links_of(build("torus:1x5x1")), links_of(build("ring:5")));
}

TEST(Builders, Hypercube) {
  const Topology t = build("hypercube:4");
  EXPECT_EQ(t.processors(), 16);
  EXPECT_EQ(t.links(), 64);
  // 0101 -> 1010: bit 0, 1, 2, 3.
  EXPECT_EQ(way(t, 5, 10), (Way{5, 4, 6, 2, 10}));
  EXPECT_EQ(hops(t, 5, 10), 4);
  EXPECT_EQ(build("hypercube:0").processors(), 1);
}

// Demaine 1996, Table 2: in a ring neighbours can differ in more than one bit, in a
// hypercube they differ in exactly one, so the two differ by numbering alone.
TEST(Builders, RingAndHypercubeOfFourDifferInNumbering) {
  const Topology ring = build("ring:4");
  const Topology cube = build("hypercube:2");
  EXPECT_EQ(ring.links(), cube.links());
  // The merge sort's partners in its second phase, 0 and 2.
  EXPECT_EQ(hops(ring, 0, 2), 2);
  EXPECT_EQ(hops(cube, 0, 2), 1);
  // 1 (01) and 2 (10) are neighbours in the ring.
  EXPECT_EQ(hops(ring, 1, 2), 1);
  EXPECT_EQ(hops(cube, 1, 2), 2);
  // Numbered by the Gray code 0 1 3 2 the ring's neighbours are the cube's.
  const int gray[] = {0, 1, 3, 2};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) EXPECT_EQ(hops(ring, a, b), hops(cube, gray[a], gray[b]));
}

TEST(Builders, Tree) {
  // Two levels of switches: 4 5 above 0 1 | 2 3, 6 above both.
  const Topology t = build("tree:2,2");
  EXPECT_EQ(t.processors(), 4);
  EXPECT_EQ(t.switches(), 3);
  EXPECT_EQ(t.links(), 2 * (4 + 2));
  EXPECT_EQ(way(t, 0, 1), (Way{0, 4, 1}));
  EXPECT_EQ(way(t, 1, 2), (Way{1, 4, 6, 5, 2}));
}

TEST(Builders, FatTree) {
  // 2-ary 2-tree: leaf switches 4 5, roots 6 7, each leaf linked to both.
  const Topology t = build("fattree:2,2");
  EXPECT_EQ(t.switches(), 4);
  EXPECT_EQ(t.links(), 2 * (4 + 4));
  EXPECT_THAT(links_of(t), IsSupersetOf({Pair(4, 6), Pair(4, 7), Pair(5, 6), Pair(5, 7)}));
  // Up-links by destination: to even processors over root 6, to odd ones over 7.
  EXPECT_EQ(way(t, 0, 2), (Way{0, 4, 6, 5, 2}));
  EXPECT_EQ(way(t, 0, 3), (Way{0, 4, 7, 5, 3}));
  EXPECT_EQ(way(t, 1, 2), (Way{1, 4, 6, 5, 2}));
  // k-ary n-tree: n k^(n-1) switches.
  EXPECT_EQ(build("fattree:4,3").switches(), 3 * 16);
}

TEST(Builders, FatTreeOfThreeLevels) {
  // Processors 0-7, leaves 8-11, middle 12-15, roots 16-19. Middle switch
  // 12 + 2 s + c is copy c over subtree s of 4; root 16 + c + 2 c'.
  // 0 -> 7: leaf 8; 7 mod 2 = 1: copy 1 of subtree 0 = 13; 7 / 2 mod 2 = 1:
  // root 16 + 1 + 2 = 19; down to copy 1 of subtree 1 = 15, leaf 11, 7.
  EXPECT_EQ(way(build("fattree:2,3"), 0, 7), (Way{0, 8, 13, 19, 15, 11, 7}));
}

TEST(Builders, ExtendedGeneralisedFatTree) {
  // Each processor has two leaf switches: XGFT(1; 3; 2) is two crossbars.
  const Topology t = build("xgft:1;3;2");
  EXPECT_EQ(t.switches(), 2);
  EXPECT_EQ(t.links(), 12);
  EXPECT_EQ(way(t, 0, 1), (Way{0, 4, 1}));  // 1 mod 2: the second
  EXPECT_EQ(way(t, 0, 2), (Way{0, 3, 2}));
  // Spine and leaves: 2 leaves with 3 processors, 2 spines.
  const Topology spine = build("xgft:2;3,2;1,2");
  EXPECT_EQ(spine.processors(), 6);
  EXPECT_EQ(spine.switches(), 4);
  EXPECT_EQ(spine.links(), 2 * (6 + 4));
  EXPECT_EQ(links_of(build("xgft:2;2,2;1,2")), links_of(build("fattree:2,2")));
  EXPECT_EQ(links_of(build("xgft:2;2,2;1,1")), links_of(build("tree:2,2")));
}

TEST(Builders, Omega) {
  // Stage 0: switches 4 5, stage 1: 6 7. Shuffle of 4 lines: 0 2 1 3.
  const Topology t = build("omega:4");
  EXPECT_THAT(links_of(t), UnorderedElementsAre(Pair(0, 4), Pair(2, 4), Pair(1, 5), Pair(3, 5),
                                                Pair(4, 6), Pair(4, 7), Pair(5, 6), Pair(5, 7),
                                                Pair(6, 0), Pair(6, 1), Pair(7, 2), Pair(7, 3)));
  EXPECT_EQ(way(t, 1, 2), (Way{1, 5, 7, 2}));
  EXPECT_EQ(way(t, 2, 1), (Way{2, 4, 6, 1}));
  EXPECT_EQ(way(build("omega:2"), 1, 0), (Way{1, 2, 0}));
}

TEST(Builders, Dragonfly) {
  // a=2, h=1, p=1: three groups of two routers 6 7 | 8 9 | 10 11 above
  // processors 0-5. Router i's link leads i+1 groups on: 6 -> group 1, where
  // the way back is 2 on: router 9. 7 -> group 2, back 1 on: router 10.
  const Topology t = build("dragonfly:2,1,1");
  EXPECT_EQ(t.processors(), 6);
  EXPECT_EQ(t.switches(), 6);
  EXPECT_EQ(t.links(), 2 * (6 + 3 + 3));
  EXPECT_THAT(links_of(t), IsSupersetOf({Pair(6, 9), Pair(7, 10), Pair(8, 11), Pair(9, 6),
                                         Pair(10, 7), Pair(11, 8)}));
  EXPECT_EQ(way(t, 0, 1), (Way{0, 6, 7, 1}));
  EXPECT_EQ(way(t, 0, 3), (Way{0, 6, 9, 3}));
  // Both ends of the link between the groups are elsewhere.
  EXPECT_EQ(way(t, 1, 2), (Way{1, 7, 6, 9, 8, 2}));
  EXPECT_EQ(hops(t, 1, 2), 5);
}

TEST(Builders, ToItselfThereIsNoLink) {
  for (const char* text : {"ring:4", "omega:4", "bus:3", "dragonfly:2,1,1"}) {
    const Topology t = build(text);
    EXPECT_EQ(way(t, 2, 2), (Way{2})) << text;
    EXPECT_EQ(hops(t, 2, 2), 0) << text;
    EXPECT_FALSE(t.next_hop(NodeId(2), NodeId(2)).valid());
  }
}

TEST(Builders, SpeedsAndRanks) {
  const Topology t = build(
      "torus:4x4?latency=1.5us&bandwidth=2GB/s&burst=4KiB&header=96&ranks_per_node=4"
      "&intra_latency=100ns&intra_bandwidth=8Gbit/s");
  EXPECT_EQ(t.speed(LinkId(63)).burst, 4096u);
  EXPECT_EQ(t.speed(LinkId(0)).latency, Time::ns(1500));
  EXPECT_EQ(t.speed(LinkId(63)).bytes_per_second, 2e9);
  EXPECT_EQ(t.intra_node().latency, Time::ns(100));
  EXPECT_EQ(t.intra_node().bytes_per_second, 1e9);
  EXPECT_EQ(t.header(), 96u);
  EXPECT_EQ(build("ring:3").header(), 0u);
  EXPECT_EQ(t.ranks(), 64);
  EXPECT_EQ(t.node_of(WorldRank(3)), NodeId(0));
  EXPECT_EQ(t.node_of(WorldRank(63)), NodeId(15));
  EXPECT_FALSE(build("ring:3").speed(LinkId(0)).latency.has_value());
}

TEST(Builders, OneLinkMayBeFaster) {
  const Topology t = build("ring:4?bandwidth=1MB/s");
  const auto faster = t.with_link_times(NodeId(1), NodeId(0), 3, 7);
  ASSERT_TRUE(faster);
  for (int l = 0; l < t.links(); ++l) {
    const int from = t.from(LinkId(l)).value;
    const int to = t.to(LinkId(l)).value;
    EXPECT_EQ(*faster->speed(LinkId(l)).bytes_per_second, from + to == 1 ? 3e6 : 1e6);
    EXPECT_EQ(*t.speed(LinkId(l)).bytes_per_second, 1e6);
  }
  EXPECT_EQ(faster->hops(NodeId(0), NodeId(2)), 2);
  EXPECT_FALSE(t.with_link_times(NodeId(0), NodeId(2), 3, 7));
  // Without a bandwidth of its own; a bus is one medium, which is left at once.
  const Topology bus = build("bus:3");
  const auto medium = bus.with_link_times(NodeId(3), NodeId(1), 3, 7);
  ASSERT_TRUE(medium);
  for (int l = 0; l < bus.links(); ++l)
    if (bus.to(LinkId(l)) == NodeId(3)) {
      EXPECT_FALSE(bus.speed(LinkId(l)).bytes_per_second);
      EXPECT_EQ(medium->speed(LinkId(l)).bytes_per_second, 21);
    }
}

}  // namespace
}  // namespace foretrace::machine
