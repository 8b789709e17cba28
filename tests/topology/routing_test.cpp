// Routes of every pair at several sizes: they exist in the graph, have the
// length that hops() tells, and are as short as a search finds.
#include <gtest/gtest.h>

#include <set>

#include "examples.hpp"
#include "topology/properties.hpp"

namespace foretrace::machine {
namespace {

class EveryPair : public testing::TestWithParam<const char*> {};

TEST_P(EveryPair, RoutesAreWaysInTheGraph) {
  const Topology t = build(GetParam());
  std::vector<LinkId> links;
  for (int from = 0; from < t.processors(); ++from)
    for (int to = 0; to < t.processors(); ++to) {
      ASSERT_TRUE(t.route(NodeId(from), NodeId(to), links));
      NodeId at(from);
      int length = 0;
      std::set<int> seen{from};
      for (LinkId link : links) {
        ASSERT_TRUE(link.valid() && link.value < t.links()) << from << " to " << to;
        ASSERT_EQ(t.from(link), at);
        ASSERT_EQ(t.next_hop(at, NodeId(to)), t.to(link));
        length += t.graph().hops(link.value);
        at = t.to(link);
        ASSERT_TRUE(seen.insert(at.value).second) << "twice through node " << at.value;
      }
      ASSERT_EQ(at.value, to);
      ASSERT_EQ(t.hops(NodeId(from), NodeId(to)), length);
    }
}

TEST_P(EveryPair, RoutesAreMinimalWherePromised) {
  const Topology t = build(GetParam());
  const bool promised = properties_of(t).routes_minimal;
  EXPECT_TRUE(promised || t.shape().kind == TopologyKind::dragonfly);
  bool minimal = true;
  for (int from = 0; from < t.processors(); ++from) {
    const std::vector<int> distance = hops_from(t.graph(), from);
    for (int to = 0; to < t.processors(); ++to) {
      ASSERT_GE(hops(t, from, to), distance[static_cast<std::size_t>(to)]);
      minimal = minimal && hops(t, from, to) == distance[static_cast<std::size_t>(to)];
    }
  }
  EXPECT_EQ(minimal, promised);
}

// The counts by formula, which decide what is too large, are what is built.
TEST_P(EveryPair, CountsAgree) {
  const Topology t = build(GetParam());
  const ShapeCounts counts = counts_of(t.shape());
  EXPECT_EQ(counts.processors, t.processors());
  EXPECT_EQ(counts.switches, t.switches());
  EXPECT_EQ(counts.links, t.links());
}

// Links are sorted by (from, to), none is there twice, and all but omega's
// have their opposite.
TEST_P(EveryPair, LinksAreOrderedAndPaired) {
  const Topology t = build(GetParam());
  const auto links = links_of(t);
  for (std::size_t i = 1; i < links.size(); ++i) ASSERT_LT(links[i - 1], links[i]);
  for (int l = 0; l < t.links(); ++l) {
    ASSERT_EQ(t.graph().find(t.from(LinkId(l)).value, t.to(LinkId(l)).value), l);
    if (t.shape().kind != TopologyKind::omega) {
      ASSERT_GE(t.graph().find(t.to(LinkId(l)).value, t.from(LinkId(l)).value), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryPair,
    testing::Values("full:1", "full:2", "full:7", "ring:1", "ring:2", "ring:3", "ring:8", "ring:9",
                    "array:1", "array:6", "star:1", "star:2", "star:9", "bus:1", "bus:2", "bus:5",
                    "crossbar:1", "crossbar:6", "mesh:1x1", "mesh:3x4", "mesh:2x3x4",
                    "mesh:2x2x2x3", "torus:2x2", "torus:3x5", "torus:4x4", "torus:2x3x4",
                    "torus:3x3x3", "torus:4x1x2", "hypercube:0", "hypercube:1", "hypercube:6",
                    "tree:1,3", "tree:2,1", "tree:2,5", "tree:3,3", "fattree:2,1", "fattree:2,4",
                    "fattree:3,3", "fattree:4,2", "xgft:1;4;3", "xgft:2;4,3;2,3",
                    "xgft:3;2,3,4;1,2,3", "xgft:3;3,1,2;2,2,2", "omega:2", "omega:4", "omega:8",
                    "omega:32", "dragonfly:1,1,1", "dragonfly:1,3,2", "dragonfly:2,1,1",
                    "dragonfly:3,2,1", "dragonfly:4,2,2", "dragonfly:4,1,1", "dragonfly:2,3,2"));

// The same graph without its kind is routed by search; distances agree wherever the
// rule is minimal.
TEST(TableRouter, FindsTheSameDistances) {
  for (const char* text : {"ring:9", "mesh:3x4", "torus:4x5", "hypercube:4", "fattree:2,3",
                           "omega:8", "bus:5", "star:6", "crossbar:5"}) {
    const Topology rule = build(text);
    const Topology search = without_kind(rule);
    for (int from = 0; from < rule.processors(); ++from)
      for (int to = 0; to < rule.processors(); ++to)
        ASSERT_EQ(hops(search, from, to), hops(rule, from, to)) << text << from << " " << to;
  }
}

TEST(TableRouter, TakesTheLowestNumberAmongEquals) {
  const Topology t = without_kind(build("ring:4"));
  EXPECT_EQ(way(t, 0, 2), (Way{0, 1, 2}));
  EXPECT_EQ(way(t, 1, 3), (Way{1, 0, 3}));
  EXPECT_EQ(way(t, 3, 1), (Way{3, 0, 1}));
}

// More destinations than tables are kept: 9,000 nodes leave room for about 900.
TEST(TableRouter, ForgetsAndFindsAgain) {
  const Topology t = without_kind(build("ring:9000"));
  for (int round = 0; round < 2; ++round)
    for (int to = 0; to < 2000; ++to) ASSERT_EQ(hops(t, 0, to), to);
  EXPECT_EQ(way(t, 5, 3), (Way{5, 4, 3}));
}

// Uniform traffic over a k-ary n-tree loads the links into the roots evenly:
// every root of fattree:4,2 is used for 4 of the 16 destinations.
TEST(TreeRouter, SpreadsOverTheRoots) {
  const Topology t = build("fattree:4,2");
  std::vector<int> ways(8);
  for (int to = 4; to < 16; ++to) ++ways[static_cast<std::size_t>(way(t, 0, to)[2] - 16)];
  EXPECT_EQ(ways, (std::vector<int>{0, 0, 0, 0, 3, 3, 3, 3}));
}

TEST(Large, RoutesAreFoundByRule) {
  const Topology torus = build("torus:64x32x32");
  EXPECT_EQ(torus.processors(), 65536);
  EXPECT_EQ(hops(torus, 0, 65535), 3);  // one step back in each dimension
  EXPECT_EQ(way(torus, 0, 65535), (Way{0, 31, 1023, 65535}));
  EXPECT_EQ(hops(build("fattree:16,4"), 0, 65535), 8);
  EXPECT_EQ(hops(build("hypercube:16"), 0, 65535), 16);
}

}  // namespace
}  // namespace foretrace::machine
