// Diameter, mean distance, degrees, bisection width, who reaches whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"
#include "topology/file.hpp"
#include "topology/properties.hpp"

namespace foretrace::machine {
namespace {

using testing::ElementsAre;

TopologyProperties properties(const std::string& expression) {
  return properties_of(build(expression));
}

TEST(Properties, Ring) {
  // From each of 8: 1 1 2 2 3 3 4, sum 16 over 7 others.
  const TopologyProperties p = properties("ring:8");
  EXPECT_EQ(p.diameter, 4);
  EXPECT_DOUBLE_EQ(p.mean_distance, 16. / 7);
  EXPECT_EQ(p.bisection.width, 2);
  EXPECT_EQ(p.processor_degree.min, 2);
  EXPECT_EQ(p.processor_degree.max, 2);
  EXPECT_TRUE(p.routes_minimal);
}

TEST(Properties, Array) {
  // Ordered pairs of 0..3: 6 at 1, 4 at 2, 2 at 3: (6 + 8 + 6) / 12.
  const TopologyProperties p = properties("array:4");
  EXPECT_EQ(p.diameter, 3);
  EXPECT_DOUBLE_EQ(p.mean_distance, 20. / 12);
  EXPECT_EQ(p.processor_degree.min, 1);
  EXPECT_EQ(p.processor_degree.max, 2);
  EXPECT_EQ(p.bisection.width, 1);
}

TEST(Properties, Hypercube) {
  // From each of 16: 4 at 1, 6 at 2, 4 at 3, 1 at 4: 32 / 15.
  const TopologyProperties p = properties("hypercube:4");
  EXPECT_EQ(p.diameter, 4);
  EXPECT_DOUBLE_EQ(p.mean_distance, 32. / 15);
  EXPECT_EQ(p.bisection.width, 8);
}

TEST(Properties, StarCrossbarBusAndFull) {
  const TopologyProperties star = properties("star:4");
  EXPECT_EQ(star.diameter, 2);
  EXPECT_DOUBLE_EQ(star.mean_distance, (6 * 1 + 6 * 2) / 12.);
  EXPECT_EQ(star.processor_degree.max, 3);
  EXPECT_EQ(star.bisection.width, 2);
  const TopologyProperties crossbar = properties("crossbar:5");
  EXPECT_EQ(crossbar.diameter, 2);
  EXPECT_EQ(crossbar.bisection.width, 2);
  EXPECT_EQ(crossbar.switch_degree.max, 5);
  const TopologyProperties bus = properties("bus:6");
  EXPECT_EQ(bus.diameter, 1);
  EXPECT_EQ(bus.bisection.width, 1);
  EXPECT_EQ(properties("full:5").bisection.width, 6);  // 2 * 3
}

TEST(Properties, Trees) {
  // fattree:2,2, from each of 4: 1 at 2, 2 at 4.
  const TopologyProperties fat = properties("fattree:2,2");
  EXPECT_EQ(fat.diameter, 4);
  EXPECT_DOUBLE_EQ(fat.mean_distance, 10. / 3);
  EXPECT_EQ(fat.bisection.width, 2);
  EXPECT_EQ(properties("tree:2,4").bisection.width, 1);
  EXPECT_EQ(properties("tree:4,3").bisection.width, 2);
}

TEST(Properties, DragonflyRoutesAreNotAllMinimal) {
  // a=2, h=1, p=1 is a ring of six routers 6 7 10 11 8 9 with a processor
  // each: distances 2 + 1 1 2 2 3, and every route goes the short way.
  const TopologyProperties ring = properties("dragonfly:2,1,1");
  EXPECT_EQ(ring.diameter, 5);
  EXPECT_DOUBLE_EQ(ring.mean_distance, (3 + 3 + 4 + 4 + 5) / 5.);
  EXPECT_TRUE(ring.routes_minimal);
  const TopologyProperties p = properties("dragonfly:4,2,2");
  EXPECT_FALSE(p.routes_minimal);
  EXPECT_LT(p.mean_distance, p.mean_route);
  EXPECT_EQ(p.longest_route, 5);
}

TEST(Properties, OneProcessor) {
  const TopologyProperties p = properties("ring:1");
  EXPECT_EQ(p.diameter, 0);
  EXPECT_EQ(p.mean_distance, 0);
  EXPECT_EQ(p.bisection.width, 0);
  EXPECT_TRUE(p.connected);
}

// The formulas of the regular kinds against a search of the bare graph.
TEST(Properties, FormulasAgreeWithSearch) {
  for (const char* text :
       {"full:6",          "ring:7",         "ring:8",      "ring:2",      "array:9",
        "star:7",          "bus:6",          "crossbar:7",  "mesh:3x4",    "mesh:3x3",
        "mesh:2x3x3",      "mesh:5x3",       "torus:3x3",   "torus:4x4",   "torus:3x6",
        "torus:2x2",       "torus:2x3",      "torus:2x5",   "torus:2x3x3", "torus:4x2x2",
        "torus:5x3",       "torus:2x8",      "hypercube:4", "tree:2,3",    "tree:3,2",
        "tree:4,2",        "tree:5,1",       "fattree:2,2", "fattree:2,3", "fattree:3,2",
        "fattree:4,2",     "xgft:2;3,2;1,2", "omega:4",     "omega:8",     "dragonfly:2,1,1",
        "dragonfly:2,1,2", "dragonfly:3,1,1"}) {
    SCOPED_TRACE(text);
    const Topology t = build(text);
    const TopologyProperties formula = properties_of(t);
    const TopologyProperties search = properties_of(without_kind(t));
    EXPECT_EQ(formula.diameter, search.diameter);
    EXPECT_NEAR(formula.mean_distance, search.mean_distance, 1e-12);
    EXPECT_EQ(formula.connected, search.connected);
    EXPECT_EQ(formula.bisection.width, search.bisection.width);
    EXPECT_EQ(formula.bisection.finding, Finding::exact);
    EXPECT_EQ(search.bisection.how, "all halvings tried");
  }
}

// By its paper's formula: 3x3: C1 + C2 = 3 + 1; 5x3: 3 + 1; 4x4x4: 16; a torus twice.
TEST(Bisection, Grids) {
  EXPECT_EQ(properties("mesh:3x3").bisection.width, 4);
  EXPECT_EQ(properties("mesh:5x3").bisection.width, 4);
  EXPECT_EQ(properties("mesh:4x4x4").bisection.width, 16);
  EXPECT_EQ(properties("torus:4x4x4").bisection.width, 32);
  EXPECT_EQ(properties("torus:3x3").bisection.width, 8);
  EXPECT_EQ(properties("torus:8x8").bisection.width, 16);
  EXPECT_EQ(properties("torus:2x2x2").bisection.width, 4);  // a hypercube
}

TEST(Bisection, OneWayLinksCountInTheWeakerDirection) {
  // 0 -> 1 -> 2 -> 3 -> 0: two neighbours are left and entered by one link.
  const Topology t = parse_topology("[topology]\nincidence = [[1], [2], [3], [0]]\n", "t");
  EXPECT_EQ(properties_of(t).bisection.width, 1);
}

TEST(Bisection, LargeArbitraryGraphsAreBounded) {
  const Bisection ring = bisection_of(without_kind(build("ring:30")));
  EXPECT_EQ(ring.finding, Finding::upper_bound);
  EXPECT_EQ(ring.how, "the halves of the numbering");
  EXPECT_EQ(ring.width, 2);
  // With switches: the narrow middle of xgft:2;16,4;1,2, 2 subtrees with 2 up-links.
  EXPECT_EQ(properties("xgft:2;16,4;1,2").bisection.width, 4);
  EXPECT_EQ(properties("xgft:2;16,4;1,2").bisection.finding, Finding::upper_bound);
  // A switch may stand on either side: 15 of the 30 links of a crossbar.
  EXPECT_EQ(bisection_of(without_kind(build("crossbar:30"))).width, 15);
  EXPECT_EQ(bisection_of(without_kind(build("bus:30"))).width, 1);
}

TEST(Reachability, OneWay) {
  // 0 -> 1 -> 2, nothing back.
  const Topology t = parse_topology("[topology]\nincidence = [[1], [2], []]\n", "t");
  EXPECT_EQ(way(t, 0, 2), (Way{0, 1, 2}));
  EXPECT_EQ(way(t, 2, 0), Way{});
  EXPECT_EQ(t.hops(NodeId(2), NodeId(0)), std::nullopt);
  EXPECT_FALSE(t.next_hop(NodeId(1), NodeId(0)).valid());
  const TopologyProperties p = properties_of(t);
  EXPECT_FALSE(p.connected);
  EXPECT_EQ(p.unreachable_pairs, 3);
  ASSERT_EQ(p.unreachable.size(), 2U);
  EXPECT_EQ(p.unreachable[0].from, NodeId(1));
  EXPECT_THAT(p.unreachable[0].examples, ElementsAre(NodeId(0)));
  EXPECT_EQ(p.unreachable[1].from, NodeId(2));
  EXPECT_THAT(p.unreachable[1].examples, ElementsAre(NodeId(0), NodeId(1)));
  // Distances of those that reach each other: 1, 2, 1.
  EXPECT_EQ(p.diameter, 2);
  EXPECT_DOUBLE_EQ(p.mean_distance, 4. / 3);
}

TEST(Reachability, Disconnected) {
  const Topology t = parse_topology("[topology]\nincidence = [[1], [0], [3], [2]]\n", "t");
  const TopologyProperties p = properties_of(t);
  EXPECT_FALSE(p.connected);
  EXPECT_EQ(p.unreachable_pairs, 8);
  EXPECT_EQ(p.bisection.width, 0);
  EXPECT_EQ(p.diameter, 1);
}

TEST(Reachability, NoLinksAtAll) {
  const Topology t = parse_topology("[topology]\nincidence = [[], []]\n", "t");
  EXPECT_EQ(properties_of(t).unreachable_pairs, 2);
  EXPECT_EQ(properties_of(t).diameter, 0);
}

TEST(Large, ArbitraryGraphsAreSampled) {
  // 40,000 nodes and 160,000 links from every processor would be 8e9 steps.
  const Topology t = without_kind(build("torus:200x200"));
  const TopologyProperties p = properties_of(t);
  EXPECT_EQ(p.distances, Finding::sampled);
  EXPECT_GT(p.sampled_sources, 100);
  EXPECT_TRUE(p.connected);
  // A torus looks the same from everywhere, so the sample is exact: 200 rows
  // and columns of mean 10000/200 each, without the pairs with oneself.
  EXPECT_EQ(p.diameter, 200);
  EXPECT_NEAR(p.mean_distance, 100 * 40000 / 39999., 1e-9);
}

TEST(Large, RegularOnesByFormula) {
  const TopologyProperties torus = properties("torus:64x32x32");
  EXPECT_EQ(torus.diameter, 64);
  EXPECT_NEAR(torus.mean_distance, 32 * 65536 / 65535., 1e-12);
  EXPECT_EQ(torus.bisection.width, 2 * 1024);
  EXPECT_EQ(properties("fattree:16,4").bisection.width, 32768);
  const TopologyProperties dragonfly = properties("dragonfly:24,12,12");
  EXPECT_EQ(dragonfly.diameter, 5);
  EXPECT_EQ(dragonfly.distances, Finding::exact);
}

}  // namespace
}  // namespace foretrace::machine
