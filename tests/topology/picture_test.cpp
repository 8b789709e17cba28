// Pictures: what is where, what is refused, and that the page's pictures are
// those that the tool draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "examples.hpp"
#include "topology/file.hpp"
#include "views/topology/layout.hpp"
#include "views/topology/svg.hpp"

namespace foretrace::views {
namespace {

using machine::build;
using machine::LinkId;
using machine::NodeId;
using machine::NodeKind;
using machine::Topology;

TopologyPicture picture_of(const Topology& topology, int from = -1, int to = -1) {
  std::vector<LinkId> route;
  if (from >= 0) topology.route(NodeId(from), NodeId(to), route);
  return lay_out_topology(topology, route);
}

std::string svg_of(const Topology& topology, int from = -1, int to = -1) {
  return render_topology_svg(picture_of(topology, from, to));
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

double apart(Point a, Point b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

TEST(Picture, RingLiesOnACircle) {
  const TopologyPicture p = picture_of(build("ring:8"));
  ASSERT_EQ(p.nodes.size(), 8U);
  EXPECT_EQ(p.lines.size(), 8U);  // a pair of links is one line
  // 0 at the top, 2 to the right, 4 below, 6 to the left.
  EXPECT_NEAR(p.nodes[0].at.x, p.nodes[4].at.x, 1e-9);
  EXPECT_NEAR(p.nodes[2].at.y, p.nodes[6].at.y, 1e-9);
  EXPECT_LT(p.nodes[0].at.y, p.nodes[4].at.y);
  EXPECT_GT(p.nodes[2].at.x, p.nodes[6].at.x);
  EXPECT_EQ(p.nodes[3].label, "3");
}

TEST(Picture, TorusIsAGridWithStubs) {
  const TopologyPicture p = picture_of(build("torus:3x4"));
  // 24 pairs of links; 3 + 4 of them go around the end and have two stubs.
  EXPECT_EQ(p.lines.size(), 17U + 2 * 7U);
  EXPECT_EQ(std::ranges::count(p.lines, true, &PlacedLine::stub), 14);
  EXPECT_NEAR(p.nodes[0].at.y, p.nodes[3].at.y, 1e-9);
  EXPECT_NEAR(p.nodes[0].at.x, p.nodes[8].at.x, 1e-9);
  // A side of 2 has no end to go around.
  const TopologyPicture two = picture_of(build("torus:2x2"));
  EXPECT_EQ(std::ranges::count(two.lines, true, &PlacedLine::stub), 0);
}

TEST(Picture, TreeLevelsRise) {
  const TopologyPicture p = picture_of(build("tree:2,2"));
  EXPECT_GT(p.nodes[0].at.y, p.nodes[4].at.y);
  EXPECT_GT(p.nodes[4].at.y, p.nodes[6].at.y);
  EXPECT_EQ(p.nodes[6].kind, NodeKind::switch_);
  // The root is over the middle.
  EXPECT_NEAR(p.nodes[6].at.x, (p.nodes[0].at.x + p.nodes[3].at.x) / 2, 1e-9);
}

TEST(Picture, OmegaShowsTheProcessorsAtBothEnds) {
  const TopologyPicture p = picture_of(build("omega:4"), 1, 2);
  EXPECT_EQ(p.nodes.size(), 4U + 4U + 4U);
  EXPECT_EQ(p.caption, "omega:4: 4 processors, 4 switches");
  // The route leaves 1 at the left and arrives at 2 at the right.
  EXPECT_TRUE(p.nodes[1].on_route);
  EXPECT_FALSE(p.nodes[2].on_route);
  EXPECT_TRUE(p.nodes[8 + 2].on_route);
  EXPECT_EQ(p.lines.size(), 12U + 3U);
}

TEST(Picture, OneWayLinksHaveArrows) {
  const Topology t = machine::parse_topology("[topology]\nincidence = [[1], [0, 2], [0]]\n", "t");
  const TopologyPicture p = picture_of(t);
  EXPECT_EQ(p.lines.size(), 3U);
  EXPECT_EQ(std::ranges::count(p.lines, true, &PlacedLine::arrow), 2);
}

TEST(Picture, TheRouteStandsOut) {
  const TopologyPicture p = picture_of(build("ring:6"), 0, 2);
  EXPECT_EQ(p.lines.size(), 6U + 2U);
  EXPECT_EQ(std::ranges::count(p.lines, true, &PlacedLine::on_route), 2);
  EXPECT_EQ(std::ranges::count(p.nodes, true, &PlacedNode::on_route), 3);
  EXPECT_EQ(count(svg_of(build("ring:6"), 0, 2), "class=\"head route\""), 2U);
}

// Symbols do not cover each other, nothing lies outside the paper.
TEST(Picture, EverythingCanBeSeen) {
  for (const char* text :
       {"full:16",         "ring:64",         "array:64",        "star:64",         "bus:64",
        "mesh:8x8",        "mesh:4x4x4",      "mesh:2x2x2x3",    "torus:8x8",       "torus:4x4x4",
        "torus:5x3x2",     "hypercube:0",     "hypercube:1",     "hypercube:2",     "hypercube:3",
        "hypercube:4",     "hypercube:5",     "hypercube:6",     "tree:2,6",        "fattree:4,3",
        "fattree:2,5",     "xgft:2;16,4;1,8", "omega:2",         "omega:32",        "crossbar:64",
        "dragonfly:4,2,2", "dragonfly:2,1,1", "dragonfly:1,3,4", "dragonfly:8,1,1", "ring:1"}) {
    SCOPED_TRACE(text);
    const TopologyPicture p = picture_of(build(text));
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const Point at = p.nodes[i].at;
      EXPECT_TRUE(at.x >= 20 && at.x <= p.width - 20 && at.y >= 20 && at.y <= p.height - 20);
      if (p.nodes[i].kind == NodeKind::bus) continue;
      for (std::size_t j = 0; j < i; ++j) {
        if (p.nodes[j].kind != NodeKind::bus) {
          EXPECT_GE(apart(at, p.nodes[j].at), 26) << i << " " << j;
        }
      }
    }
  }
}

TEST(Picture, LargeOnesAreRefused) {
  EXPECT_NO_THROW(picture_of(build("ring:80")));
  try {
    picture_of(build("ring:81"));
    ADD_FAILURE() << "was drawn";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("81 processors and 0 switches would not be "
                                                 "readable; draw a smaller one"));
  }
  EXPECT_THROW(picture_of(build("xgft:1;4;300")), UsageError);  // 300 switches
}

TEST(Svg, SameInputSameBytes) {
  for (const char* text : {"ring:16", "torus:4x4x4", "dragonfly:4,2,2", "hypercube:5"})
    EXPECT_EQ(svg_of(build(text), 0, 5), svg_of(build(text), 0, 5));
}

TEST(Svg, HasOneSymbolForEachNode) {
  const std::string svg = svg_of(build("fattree:2,2"));
  EXPECT_EQ(count(svg, "<circle class=\"node"), 4U);
  EXPECT_EQ(count(svg, "<rect class=\"switch"), 4U);
  EXPECT_EQ(count(svg, "<path class=\"link"), 8U);
  EXPECT_EQ(count(svg, "prefers-color-scheme: dark"), 1U);
  EXPECT_EQ(count(svg, "nan"), 0U);
  EXPECT_EQ(count(svg, "-0.0"), 0U);
}

TEST(Svg, NamesAreEscaped) {
  const Topology t =
      machine::parse_topology("[topology]\nname = \"a<b&c\"\n[[node]]\nname = \"<&>\"\n", "t");
  const std::string svg = svg_of(t);
  EXPECT_EQ(count(svg, "<b"), 0U);
  EXPECT_EQ(count(svg, "a&lt;b&amp;c"), 2U);
  EXPECT_EQ(count(svg, "&lt;&amp;&gt;"), 1U);
}

struct PagePicture {
  const char* file;
  const char* topology;
  int from, to;
};

TEST(Svg, ThePagesPicturesAreUpToDate) {
  for (const PagePicture& each :
       std::vector<PagePicture>{{"topology-ring", "ring:16", -1, -1},
                                {"topology-torus", "torus:4x4", 0, 15},
                                {"topology-torus3", "torus:4x4x4", 0, 42},
                                {"topology-hypercube", "hypercube:4", 5, 10},
                                {"topology-fattree", "fattree:2,3", 0, 7},
                                {"topology-omega", "omega:8", 1, 6},
                                {"topology-dragonfly", "dragonfly:3,1,2", 2, 16},
                                {"topology-bus", "bus:8", 0, 5}}) {
    const std::string path = std::string(FORETRACE_SOURCE_DIR "/docs/images/") + each.file + ".svg";
    EXPECT_TRUE(read_if_possible(path) == svg_of(build(each.topology), each.from, each.to))
        << path << " is not what the tool draws: foretrace topology " << each.topology
        << " --route " << each.from << ":" << each.to << " -o " << path;
  }
}

}  // namespace
}  // namespace foretrace::views
