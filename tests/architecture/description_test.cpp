// Descriptions: what they mean, and what is wrong with them, with its line.
#include <gmock/gmock.h>

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

FlatArchitecture flat_of(const std::string& text, const std::vector<LevelChoice>& levels = {}) {
  static std::vector<std::unique_ptr<Description>> kept;
  kept.push_back(std::make_unique<Description>(parse_description(text, "t.arch.toml", "")));
  return elaborate(*kept.back(), levels);
}

std::string fault_of(const std::string& text, const std::vector<LevelChoice>& levels = {}) {
  try {
    flat_of(text, levels);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
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
  const FlatArchitecture flat = flat_of(kNode, {{"grid[*", "coarse"}});
  EXPECT_EQ(flat.entities.size(), 16U);
  const FlatArchitecture mixed = flat_of(kNode, {{"grid[0..3].router", "crossbar"}});
  EXPECT_EQ(mixed.entities[1].level, "crossbar");
  EXPECT_EQ(mixed.entities[7].level, "crossbar");
  EXPECT_EQ(mixed.entities[9].level, "packet");
  EXPECT_THAT(fault_of(kNode, {{"nobody", "vc"}}), testing::HasSubstr("no box has such a path"));
  EXPECT_THAT(fault_of(kNode, {{"grid[2]", "fine"}}),
              testing::HasSubstr("'grid[2]' has no level 'fine'; it has inside, coarse"));
}

TEST(Elaborate, MatchesPaths) {
  EXPECT_TRUE(matches_path("node[0..3].nic", "node[2].nic"));
  EXPECT_FALSE(matches_path("node[0..3].nic", "node[12].nic"));
  EXPECT_TRUE(matches_path("*.nic", "rack[1].node[2].nic"));
  EXPECT_FALSE(matches_path("node", "node[2]"));
}

struct Fault {
  const char* what;
  const char* text;
  const char* message;
};

class Wrong : public testing::TestWithParam<Fault> {};

TEST_P(Wrong, IsSaidWithItsLineAndARemedy) {
  const std::string head = "[architecture]\nname = \"x\"\n[composite.machine]\n";
  EXPECT_THAT(fault_of(head + GetParam().text), testing::HasSubstr(GetParam().message))
      << GetParam().what;
}

constexpr const char* kTwo =
    "[[composite.machine.part]]\nname = \"a\"\nkind = \"processor\"\n"
    "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\n";

INSTANTIATE_TEST_SUITE_P(
    Descriptions, Wrong,
    testing::Values(
        Fault{"no parts", "",
              "t.arch.toml:3: [composite.machine]: has no [[composite.machine.part]]; add one"},
        Fault{"unknown kind", "[[composite.machine.part]]\nname = \"a\"\nkind = \"procesor\"\n",
              "t.arch.toml:4: there is no entity, composite or behaviour 'procesor'; built in are "
              "processor"},
        Fault{"not connected", "[[composite.machine.part]]\nname = \"a\"\nkind = \"processor\"\n",
              "t.arch.toml:4: the port 'net' of 'a' is not connected; add a link"},
        Fault{"unit missing",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\nparameters = { cycle = "
              "2 }\n",
              "t.arch.toml:7: parameter 'cycle' is a time and needs a unit, for example \"1us\""},
        Fault{"no time between packets",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"source\"\nparameters = { "
              "interval = \"0us\" }\n",
              "t.arch.toml:7: 'interval' must be above zero, found '0us'; correct it"},
        Fault{"time goes back between packets",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"source\"\nparameters = { "
              "interval = \"-1us\" }\n",
              "t.arch.toml:7: 'interval' must be above zero, found '-1us'; correct it"},
        Fault{"unknown parameter",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\nparameters = { speed = "
              "2 }\n",
              "t.arch.toml:7: 's' has no parameter 'speed'; it has cycle, flit"},
        Fault{"out of range",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\nparameters = { vcs = "
              "99 }\n",
              "t.arch.toml:7: parameter 'vcs' is a whole number from 1 to 32, found 99"},
        Fault{
            "wrong word",
            "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\nparameters = { routing = "
            "\"best\" }\n",
            "found 'best'; it is one of own, table"},
        Fault{"level without behaviour",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"switch\"\nlevel = \"quantum\"\n",
              "t.arch.toml:4: 's' has no level 'quantum'; it has packet, hops, vc, crossbar"},
        Fault{"template",
              "[[composite.machine.part]]\nname = \"s\"\nkind = \"processor\"\ntemplate = "
              "\"mesh:4y4\"\n",
              "t.arch.toml:4: template: topology 'mesh:4y4'"}));

TEST(Links, ThatAreWrongAreSaidWithTheirLine) {
  const std::string head =
      std::string("[architecture]\nname = \"x\"\n[composite.machine]\n") + kTwo;
  const auto link = [&](const char* from, const char* to, const char* more = "") {
    return fault_of(head + "[[composite.machine.link]]\nfrom = \"" + from + "\"\nto = \"" + to +
                    "\"\n" + more);
  };
  EXPECT_EQ(link("a.net", "s.net"), "accepted");
  EXPECT_THAT(link("a.nit", "s.net"),
              testing::HasSubstr("t.arch.toml:10: 'a' has no port 'nit'; it has net"));
  EXPECT_THAT(link("b.net", "s.net"),
              testing::HasSubstr("t.arch.toml:10: there is no part 'b' here; there are a, s"));
  EXPECT_THAT(link("s.net", "s.net"),
              testing::HasSubstr("t.arch.toml:10: 's' has a link to itself; remove it"));
  EXPECT_THAT(link("a.net", "s.net", "latency = 3\n"),
              testing::HasSubstr("t.arch.toml:13: link: 'latency' must be a time with its unit"));
  EXPECT_THAT(link("a.net", "s.net", "delay = \"1ns\"\n"),
              testing::HasSubstr("unknown key 'delay'"));
}

TEST(Composites, ThatContainThemselvesAreNamed) {
  const std::string text =
      "[architecture]\nname = \"x\"\n"
      "[composite.machine]\n[[composite.machine.part]]\nname = \"a\"\nkind = \"one\"\n"
      "[composite.one]\n[[composite.one.part]]\nname = \"b\"\nkind = \"two\"\n"
      "[composite.two]\n[[composite.two.part]]\nname = \"c\"\nkind = \"one\"\n";
  EXPECT_THAT(fault_of(text),
              testing::HasSubstr("t.arch.toml:12: the composite 'one' contains itself "
                                 "(machine -> one -> two -> one)"));
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
  EXPECT_THAT(fault_of(text("?pink=5GB/s")),
              testing::HasSubstr("expected green, black, blue or ptile"));
  std::ofstream(path) << "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\nnonsense\n";
  EXPECT_THAT(fault_of(text("")), testing::HasSubstr("two.interconnect:2: expected NAME(g:c:s)"));
}

}  // namespace
}  // namespace foretrace::architecture
