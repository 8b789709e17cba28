// The text and the JSON of `foretrace topology`.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "examples.hpp"
#include "topology/file.hpp"
#include "views/topology/report.hpp"

namespace foretrace::views {
namespace {

using machine::build;
using machine::properties_of;
using machine::Topology;

std::optional<TopologyRoute> route_of(const Topology& topology, int from, int to) {
  TopologyRoute route{WorldRank(from), WorldRank(to), true, {}};
  route.reachable =
      topology.route(topology.node_of(route.from), topology.node_of(route.to), route.links);
  return route;
}

std::string text_of(const Topology& topology, const std::optional<TopologyRoute>& route = {}) {
  return render_text_topology(topology, properties_of(topology), route);
}

nlohmann::json json_of(const Topology& topology, const std::optional<TopologyRoute>& route = {}) {
  return nlohmann::json::parse(render_json_topology(topology, properties_of(topology), route));
}

TEST(TopologyText, OneWayRing) {
  const Topology t = machine::parse_topology(
      "[topology]\nname = \"half\"\nlatency = \"2us\"\nincidence = [[1], []]\n", "t");
  EXPECT_EQ(text_of(t, route_of(t, 1, 0)),
            "half\n"
            "  processors                2\n"
            "  links                     1 (one direction each)\n"
            "  links out of a processor  0 to 1\n"
            "  distance in hops          1 at most, 1 on average\n"
            "  bisection width           0 links (all halvings tried)\n"
            "  connected                 1 pair without a way\n"
            "  routing                   fewest hops, the lowest-numbered next node where several "
            "are equal\n"
            "  routes                    minimal\n"
            "  speed of a link           2 us, bandwidth not given\n"
            "  1 cannot reach 0\n"
            "\n"
            "route from rank 1 to rank 0: there is no way\n");
}

TEST(TopologyText, RouteAddsLatenciesAndFindsTheNarrowestLink) {
  const Topology t = machine::make_topology(FORETRACE_SOURCE_DIR "/topologies/two-clusters.toml");
  // Rank 3 is on a0, rank 23 on b2: 1 us + 20 us + 1 us, 100 Mbit/s.
  const std::string text = text_of(t, route_of(t, 3, 23));
  EXPECT_NE(text.find("route from rank 3 to rank 23: 3 hops\n  a0 -> left -> right -> b2\n"
                      "  latencies 22 us, least bandwidth 12.5 MB/s\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("24 (4 on each processor)"), std::string::npos);
  EXPECT_NE(text.find("differ from link to link"), std::string::npos);
  EXPECT_NE(text_of(t, route_of(t, 0, 3)).find("rank 0 to rank 3: both on node a0"),
            std::string::npos);
}

TEST(TopologyJson, Keys) {
  const Topology t = build("torus:4x4?latency=1us&bandwidth=1GB/s");
  const nlohmann::json json = json_of(t, route_of(t, 0, 5));
  EXPECT_EQ(json["shape"], "torus:4x4");
  EXPECT_EQ(json["processors"], 16);
  EXPECT_EQ(json["switches"], 0);
  EXPECT_EQ(json["links"], 64);
  EXPECT_EQ(json["ranks"], 16);
  EXPECT_EQ(json["processor_degree"]["max"], 4);
  EXPECT_EQ(json["diameter"], 4);
  EXPECT_EQ(json["distances"], "exact");
  EXPECT_EQ(json["bisection_width"], 8);
  EXPECT_EQ(json["bisection"], "exact");
  EXPECT_EQ(json["connected"], true);
  EXPECT_EQ(json["routes_minimal"], true);
  EXPECT_EQ(json["route"]["hops"], 2);
  EXPECT_EQ(json["route"]["nodes"], (nlohmann::json{"0", "1", "5"}));
  EXPECT_DOUBLE_EQ(json["route"]["latency"], 2e-6);
  EXPECT_DOUBLE_EQ(json["route"]["bandwidth"], 1e9);
  EXPECT_DOUBLE_EQ(json["route"]["links"][1]["latency"], 1e-6);
}

TEST(TopologyJson, WhatIsNotKnownIsNull) {
  const Topology t = machine::parse_topology("[topology]\nincidence = [[1], []]\n", "t");
  const nlohmann::json json = json_of(t, route_of(t, 1, 0));
  EXPECT_EQ(json["shape"], "arbitrary");
  EXPECT_EQ(json["connected"], false);
  EXPECT_EQ(json["unreachable"][0]["from"], "1");
  EXPECT_EQ(json["unreachable"][0]["examples"], nlohmann::json::array({"0"}));
  EXPECT_EQ(json["route"]["reachable"], false);
  EXPECT_TRUE(json["route"]["hops"].is_null());
  EXPECT_TRUE(json["route"]["latency"].is_null());
}

}  // namespace
}  // namespace foretrace::views
