// The [topology] of a machine file: what it may say, how it reads back, what is
// wrong with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

const std::string kMachineHead = "[machine]\nname = \"m\"\n";

MachineModel model_with_tables(const std::string& tables) {
  return parse_machine(kMachineHead + tables, "some/folder/m.toml");
}

// The same after a round trip through the file's text.
MachineModel written_and_read(const MachineModel& model) {
  const std::string text = format_machine(model);
  SCOPED_TRACE(text);
  MachineModel again = parse_machine(text, "some/folder/again.toml");
  EXPECT_EQ(format_machine(again), text);
  return again;
}

TEST(MachineTopology, Expression) {
  const MachineModel model = model_with_tables(
      "[topology]\nexpression = \"torus:4x4x2?latency=1500ns&bandwidth=1GB/s\"\n");
  for (const MachineModel& one : {model, written_and_read(model)}) {
    const TopologySpec& spec = one.topology.value().spec.value();
    EXPECT_EQ(spec.name, "torus:4x4x2?latency=1500ns&bandwidth=1GB/s");
    EXPECT_EQ(format_shape(spec.shape), "torus:4x4x2");
    EXPECT_EQ(spec.link, (LinkSpeed{Time::ns(1500), 1e9}));
    EXPECT_EQ(spec.intra_node, LinkSpeed());
    EXPECT_EQ(spec.ranks_per_node, 1);
    EXPECT_EQ(topology_of(one).processors(), 32);
  }
}

TEST(MachineTopology, KindAndParameters) {
  const MachineModel model = model_with_tables(R"([topology]
name = "two \"racks\""
kind = "xgft"
parameters = "2;4,2;1,2"
latency = 1e-6
burst = 4096
header = 96
ranks_per_node = 4
intra_latency = "1ps"
intra_bandwidth = 123456789.125
)");
  for (const MachineModel& one : {model, written_and_read(model)}) {
    const TopologySpec& spec = one.topology.value().spec.value();
    EXPECT_EQ(spec.name, "two \"racks\"");
    EXPECT_EQ(format_shape(spec.shape), "xgft:2;4,2;1,2");
    EXPECT_EQ(spec.link, (LinkSpeed{Time::ns(1000), std::nullopt, 4096}));
    EXPECT_EQ(spec.header, 96u);
    EXPECT_EQ(spec.intra_node, (LinkSpeed{Time::ps(1), 123456789.125}));
    EXPECT_EQ(topology_of(one).ranks(), 32);
  }
}

// A network that takes seconds to build costs nothing as long as nobody asks.
TEST(MachineTopology, IsNotBuiltWhileReading) {
  const MachineModel model =
      model_with_tables("[topology]\nkind = \"hypercube\"\nparameters = 19\n");
  EXPECT_EQ(model.topology->spec->name, "hypercube:19");
  EXPECT_TRUE(model.topology->graph.empty());
}

TEST(MachineTopology, IncidenceLists) {
  const MachineModel model = model_with_tables(R"([topology]
name = "three"
switches = 1
latency = "1us"
incidence = [
  [2],
  [2],
  [0, 1],
]

[[link]]
from = 2
to = 1
latency = "5us"
bandwidth = 0.1
[compute]
step = 1
)");
  EXPECT_EQ(model.compute_step, 1);
  EXPECT_FALSE(model.topology.value().spec);
  for (const MachineModel& one : {model, written_and_read(model)}) {
    const Topology topology = topology_of(one);
    EXPECT_EQ(topology.name(), "three");
    EXPECT_EQ(topology.processors(), 2);
    EXPECT_EQ(topology.switches(), 1);
    // By (from, to): 0-2, 1-2, 2-0, 2-1.
    ASSERT_EQ(topology.links(), 4);
    EXPECT_EQ(topology.speed(LinkId(2)), (LinkSpeed{Time::ns(1000), std::nullopt}));
    EXPECT_EQ(topology.speed(LinkId(3)), (LinkSpeed{Time::ns(5000), 0.1}));
  }
}

TEST(MachineTopology, NamedNodes) {
  const MachineModel model = model_with_tables(R"([[node]]
name = "left \u0007 \\ 'x' \"y\""
[[node]]
name = "ether"
kind = "bus"
[[node]]
name = "right"
[[link]]
from = "right"
to = "ether"
both_ways = true
[topology]
bandwidth = "10Mbit/s"
)");
  for (const MachineModel& one : {model, written_and_read(model)}) {
    const Topology topology = topology_of(one);
    EXPECT_EQ(topology.name(), "[topology] of m");
    EXPECT_EQ(topology.node_name(NodeId(0)), "left \a \\ 'x' \"y\"");
    EXPECT_EQ(topology.node_name(NodeId(1)), "right");
    EXPECT_EQ(topology.kind(NodeId(2)), NodeKind::bus);
    ASSERT_EQ(topology.links(), 2);
    EXPECT_EQ(topology.speed(LinkId(0)).bytes_per_second, 1.25e6);
  }
}

TEST(MachineTopology, FileIsLookedForBesideTheMachineFile) {
  const std::string folder = testing::TempDir() + "machine_topology";
  std::filesystem::create_directories(folder + "/nets");
  std::ofstream(folder + "/nets/ring.toml")
      << "[topology]\nname = \"a ring\"\nkind = \"ring\"\nparameters = 5\n";
  std::ofstream(folder + "/m.toml") << kMachineHead << "[topology]\nfile = \"nets/ring.toml\"\n";
  const MachineModel model = read_machine_file(folder + "/m.toml");
  EXPECT_EQ(topology_of(model).name(), "a ring");
  write_machine_file(model, folder + "/copy.toml");
  EXPECT_EQ(topology_of(read_machine_file(folder + "/copy.toml")).processors(), 5);

  std::ofstream(folder + "/nets/ring.toml") << "[topology]\nkind = \"rnig\"\nparameters = 5\n";
  try {
    topology_of(model);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(folder + "/nets/ring.toml:3: "))
        << error.what();
  }
  std::filesystem::remove(folder + "/nets/ring.toml");
  EXPECT_THROW(topology_of(model), Error);
  // An absolute path stays what it is.
  std::ofstream(folder + "/r.toml") << "[topology]\nkind = \"ring\"\nparameters = 6\n";
  EXPECT_EQ(topology_of(model_with_tables("[topology]\nfile = \"" +
                                          std::filesystem::absolute(folder + "/r.toml").string() +
                                          "\"\n"))
                .processors(),
            6);
  std::filesystem::remove_all(folder);
}

TEST(MachineTopology, NoneIsNoneAndSaysSo) {
  const MachineModel model = model_with_tables("");
  EXPECT_FALSE(model.topology);
  EXPECT_EQ(format_machine(model).find("topology"), std::string::npos);
  try {
    topology_of(model);
    ADD_FAILURE() << "was built";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the machine model 'm' has no [topology]; add one, or give --topology");
  }
}

// Lines 1 and 2 are the head, [topology] is line 3.
TEST(MachineTopology, FaultsNameTheLine) {
  const std::string kTable = "[topology]\n";
  struct Fault {
    std::string text;
    int line;
    std::string says;
  };
  const std::vector<Fault> faults{
      {kTable, 3, "needs 'kind' and 'parameters', or 'incidence', or [[node]] tables"},
      {kTable + "knid = \"ring\"\n", 4, "unknown key 'knid'"},
      {kTable + "expression = 4\n", 4, "'expression' must be a string"},
      {kTable + "expression = \"torus:4y4\"\n", 4, "topology 'torus:4y4': expected whole numbers"},
      {kTable + "\nexpression = \"ring:4?lat=1us\"\n", 5, "unknown option 'lat'"},
      {kTable + "expression = \"ring:4\"\nname = \"r\"\n", 5,
       "unknown key 'name'; known here: expression"},
      {kTable + "expression = \"ring:4\"\nfile = \"r.toml\"\n", 5, "unknown key 'file'"},
      {kTable + "expression = \"ring:4\"\n[[link]]\nfrom = 0\n", 5,
       "a topology with 'expression' has no [[link]]; remove one"},
      {kTable + "file = \"\"\n", 4, "'file' must name a topology file"},
      {kTable + "file = \"r.toml\"\nlatency = \"1us\"\n", 5, "unknown key 'latency'"},
      {kTable + "file = \"r.toml\"\n[[node]]\nname = \"a\"\n", 5,
       "a topology with 'file' has no [[node]]"},
      {kTable + "kind = \"ring\"\n", 4, "'kind' needs 'parameters'"},
      {kTable + "kind = \"ring\"\nparameters = 0\n", 5, "topology 'ring:0'"},
      {kTable + "parameters = 4\n", 4, "'parameters' needs 'kind'"},
      {kTable + "kind = \"ring\"\nparameters = 4\nlatency = -1\n", 6, "'latency' must be seconds"},
      {kTable + "kind = \"ring\"\nparameters = 4\nincidence = []\n", 6, "has no 'incidence'"},
      {kTable + "incidence = [[1],\n [2]]\n", 5, "must hold node numbers from 0 to 1"},
      {kTable + "[[node]]\nname = \"a\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n", 8,
       "'to' names 'b', which is no node"},
      {"[[node]]\nname = \"a\"\n", 3, "[[node]] needs a [topology]"},
      {"[[link]]\nfrom = 0\n", 3, "[[link]] needs a [topology]"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.text);
    try {
      parse_machine(kMachineHead + fault.text, "m.toml");
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with("m.toml:" + std::to_string(fault.line) + ": ")) << what;
      EXPECT_NE(what.find(fault.says), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
}

}  // namespace
}  // namespace foretrace::machine
