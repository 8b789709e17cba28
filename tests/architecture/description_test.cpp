// Descriptions: what they mean, and what is wrong with them, with its line.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "architecture/convert.hpp"
#include "architecture/elaborate.hpp"
#include "architecture/flat_fabric.hpp"
#include "base/error.hpp"
#include "topology/builders.hpp"

namespace foretrace::architecture {
namespace {

constexpr const char* kNode = R"([architecture]
name = "test"
[composite.node]
ports = { net = "router.net" }
parameters.vcs = { type = "integer", default = 2, least = 1, most = 32 }
[composite.node.levels.coarse]
kind = "processor"
[[composite.node.part]]
name = "cpu"
kind = "processor"
[[composite.node.part]]
name = "router"
kind = "switch"
parameters = { vcs = "$vcs" }
[[composite.node.link]]
from = "cpu.net"
to = "router.net"
latency = "2ns"
[composite.machine]
[[composite.machine.part]]
name = "grid"
template = "torus:4x4"
kind = "node"
parameters = { vcs = 4 }
)";

FlatArchitecture flat_of(const std::string& text, const Choices& choices = {}) {
  static std::vector<std::unique_ptr<Description>> kept;
  kept.push_back(std::make_unique<Description>(parse_description(text, "t.arch.toml", "")));
  return elaborate(*kept.back(), choices);
}

std::string fault_of(const std::string& text, const Choices& choices = {}) {
  try {
    flat_of(text, choices);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

Choices levels(const char* pattern, const char* level) {
  return {{{pattern, level}}, {}};
}
Choices parameters(std::vector<ParameterChoice> all) {
  return {{}, std::move(all)};
}

TEST(Elaborate, OpensCompositesAndTemplates) {
  const FlatArchitecture flat = flat_of(kNode);
  EXPECT_EQ(flat.entities.size(), 32U);
  EXPECT_EQ(flat.links.size(), 16U + 32U);
  EXPECT_EQ(flat.entities[2].path, "grid[1].cpu");
  EXPECT_EQ(flat.entities[3].path, "grid[1].router");
  EXPECT_EQ(flat.entities[3].parameters->number("vcs"), 4);
  EXPECT_EQ(flat.boxes.size(), 17U);
}

TEST(Elaborate, GivesTheFabricOfAGrid) {
  const FlatFabric made = fabric_of(flat_of(kNode));
  EXPECT_EQ(made.fabric.routers(), 16);
  EXPECT_EQ(made.fabric.terminals(), 16);
  EXPECT_THAT(made.fabric.sides, testing::ElementsAre(4, 4));
  EXPECT_TRUE(made.fabric.wraps);
  EXPECT_EQ(made.fabric.settings[0].routing, Routing::dimension_order);
  // The processor's link takes two cycles.
  EXPECT_EQ(made.fabric.ports[0][static_cast<std::size_t>(made.fabric.entries[0].port)].in.cycles,
            2);
  const FabricRouter routes(made.fabric);
  EXPECT_EQ(routes.hops(0, 15), 3);
}

TEST(Elaborate, ChoosesLevelsBoxByBox) {
  const FlatArchitecture flat = flat_of(kNode, levels("grid[*", "coarse"));
  EXPECT_EQ(flat.entities.size(), 16U);
  const FlatArchitecture mixed = flat_of(kNode, levels("grid[0..3].router", "crossbar"));
  EXPECT_EQ(mixed.entities[1].level, "crossbar");
  EXPECT_EQ(mixed.entities[7].level, "crossbar");
  EXPECT_EQ(mixed.entities[9].level, "packet");
  EXPECT_THAT(fault_of(kNode, levels("nobody", "vc")),
              testing::HasSubstr("no box has such a path"));
  EXPECT_THAT(fault_of(kNode, levels("grid[2]", "fine")),
              testing::HasSubstr("'grid[2]' has no level 'fine'; it has inside, coarse"));
}

TEST(Elaborate, ChoosesParametersBoxByBox) {
  const auto vcs = [](const FlatArchitecture& flat, std::size_t entity) {
    return flat.entities[entity].parameters->number("vcs");
  };
  // A composite's is passed down; an entity's own comes before it; the last choice holds.
  const FlatArchitecture flat = flat_of(
      kNode,
      parameters({{"grid[*].vcs", "8"}, {"grid[1].router.vcs", "3"}, {"grid[2..3].vcs", "6"}}));
  EXPECT_EQ(vcs(flat, 1), 8);
  EXPECT_EQ(vcs(flat, 3), 3);
  EXPECT_EQ(vcs(flat, 5), 6);
  EXPECT_EQ(vcs(flat, 7), 6);
  EXPECT_EQ(vcs(flat, 9), 8);
  EXPECT_EQ(flat_of(kNode, parameters({{"*.cycle", "2ns"}})).entities[1].parameters->time("cycle"),
            2000);
  EXPECT_EQ(
      fault_of(kNode, parameters({{"*.router.vcs", "99"}})),
      "--parameter *.router.vcs=99: parameter 'vcs' is a whole number from 1 to 32, found 99");
  EXPECT_THAT(fault_of(kNode, parameters({{"*.vcs", "four"}})),
              testing::HasSubstr("--parameter *.vcs=four: parameter 'vcs' is a whole number"));
  EXPECT_THAT(fault_of(kNode, parameters({{"*.cycle", "2"}})),
              testing::HasSubstr("is a time and needs a unit"));
  EXPECT_THAT(fault_of(kNode, parameters({{"grid[0].speed", "2"}})),
              testing::HasSubstr("no box has such a parameter"));
  EXPECT_THROW(parse_parameter_choice("vcs"), UsageError);
}

TEST(Elaborate, MatchesPaths) {
  EXPECT_TRUE(matches_path("node[0..3].nic", "node[2].nic"));
  EXPECT_FALSE(matches_path("node[0..3].nic", "node[12].nic"));
  EXPECT_TRUE(matches_path("*.nic", "rack[1].node[2].nic"));
  EXPECT_FALSE(matches_path("node", "node[2]"));
  EXPECT_TRUE(matches_path("node[*].nic", "node[12].nic"));
  EXPECT_TRUE(matches_path("node[*]", "node[12]"));
  EXPECT_FALSE(matches_path("node[*]", "node[12].socket[0]"));
  EXPECT_TRUE(matches_path("node*", "node[12].socket[0]"));
}

// Topologies convert, and mean the same network.
TEST(Convert, TopologiesKeepTheirNodesAndLinks) {
  for (const char* name : {"torus:3x4", "fattree:2,3", "omega:8", "dragonfly:3,1,2", "bus:5"}) {
    const machine::Topology topology =
        machine::build_topology(machine::parse_topology_expression(name));
    for (const bool listed : {false, true}) {
      const FlatArchitecture flat = flat_of(description_of(topology, listed ? "" : name));
      EXPECT_EQ(flat.with_behaviour("processor").size(),
                static_cast<std::size_t>(topology.processors()));
      EXPECT_EQ(flat.entities.size(), static_cast<std::size_t>(topology.nodes()));
      std::size_t directions = 0;
      for (const FlatLink& link : flat.links) directions += link.one_way ? 1 : 2;
      EXPECT_EQ(directions, static_cast<std::size_t>(topology.links())) << name << listed;
    }
  }
}

// What the papers say of them: degrees and diameters.
TEST(Templates, HaveTheSizesOfTheirPapers) {
  const auto fabric_named = [](const std::string& name) {
    return fabric_of(flat_of("[architecture]\nname = \"x\"\n[composite.machine]\n"
                             "[[composite.machine.part]]\nname = \"n\"\nkind = \"processor\"\n"
                             "template = \"" +
                             name + "\"\nswitch_parameters = { routing = \"table\" }\n"))
        .fabric;
  };
  const auto diameter = [](const Fabric& fabric) {
    const FabricRouter routes(fabric);
    int most = 0;
    for (int a = 0; a < fabric.terminals(); ++a)
      for (int b = 0; b < fabric.terminals(); ++b) most = std::max(most, routes.hops(a, b) - 1);
    return most;
  };
  // The slim fly of q = 5 is the graph of Hoffman and Singleton: 50 switches, 7 links, diameter 2.
  const Fabric slim = fabric_named("slimfly:5");
  EXPECT_EQ(slim.routers(), 50);
  for (const auto& ports : slim.ports) EXPECT_EQ(ports.size(), 7U + 1U);
  EXPECT_EQ(diameter(slim), 2);
  const Fabric hyper = fabric_named("hyperx:3x4,2");
  EXPECT_EQ(hyper.terminals(), 24);
  for (const auto& ports : hyper.ports) EXPECT_EQ(ports.size(), 2U + 3U + 2U);
  EXPECT_EQ(diameter(hyper), 2);
  const Fabric benes = fabric_named("benes:8");
  EXPECT_EQ(benes.routers(), 5 * 4);
  EXPECT_EQ(diameter(benes), 4);
  const Fabric random = fabric_named("jellyfish:20,4,1,7");
  for (const auto& ports : random.ports) EXPECT_EQ(ports.size(), 4U + 1U);
  EXPECT_LE(diameter(random), 4);
  EXPECT_THROW(fabric_named("slimfly:7"), Error);
  EXPECT_THROW(fabric_named("jellyfish:5,3,1,1"), Error);
  EXPECT_THROW(fabric_named("cray:nowhere"), Error);
}

TEST(Templates, ReadCrayNetworksPortByPort) {
  const std::string path = testing::TempDir() + "two.interconnect";
  std::ofstream(path) << "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\n"
                         "c0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)\n"
                         "c0-0c0s0a0l01(0:0:0) ptile -> processor\n"
                         "c0-0c0s0a0l02(0:0:0) ptile -> processor\n"
                         "c0-0c0s1a0l03(0:0:1) ptile -> processor\n"
                         "c0-0c0s1a0l04(0:0:1) blue -> unused\n";
  const auto text = [&](const std::string& rates) {
    return "[architecture]\nname = \"x\"\n[composite.machine]\n[[composite.machine.part]]\n"
           "name = \"n\"\nkind = \"processor\"\ntemplate = \"cray:" +
           path + rates + "\"\n";
  };
  const FlatArchitecture flat = flat_of(text("?green=5GB/s"));
  EXPECT_EQ(flat.with_behaviour("processor").size(), 2U);
  EXPECT_EQ(flat.with_behaviour("switch").size(), 2U);
  ASSERT_EQ(flat.links.size(), 3U);
  EXPECT_EQ(flat.links[2].speed.bytes_per_second, 5e9);
  // Two slots beside each other, their processors below them.
  const auto at = [&](const char* path) {
    return *std::ranges::find(flat.entities, path, &FlatEntity::path);
  };
  EXPECT_LT(at("n.switch[0]").x, at("n.switch[1]").x);
  EXPECT_EQ(at("n.switch[0]").y, at("n.switch[1]").y);
  EXPECT_EQ(at("n[1]").x, at("n.switch[1]").x);
  EXPECT_GT(at("n[1]").y, at("n.switch[1]").y);
  EXPECT_THAT(fault_of(text("?pink=5GB/s")),
              testing::HasSubstr("expected green, black, blue or ptile"));
  std::ofstream(path) << "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\nnonsense\n";
  EXPECT_THAT(fault_of(text("")), testing::HasSubstr("two.interconnect:2: expected NAME(g:c:s)"));
}

}  // namespace
}  // namespace foretrace::architecture
