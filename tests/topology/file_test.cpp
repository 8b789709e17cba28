// Topology files: the three forms, the shipped ones, and every fault with its
// line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "examples.hpp"
#include "topology/file.hpp"

namespace foretrace::machine {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Lines 1 and 2 of texts that add to it.
const std::string kHead = "[topology]\nname = \"t\"\n";

TEST(TopologyFile, KindAndParameters) {
  const Topology t = parse_topology(kHead +
                                        "kind = \"torus\"\nparameters = \"3x4\"\nlatency = 1e-6\n"
                                        "bandwidth = \"1GB/s\"\nburst = \"32k\"\n"
                                        "header = 96\n"
                                        "ranks_per_node = 2\n"
                                        "intra_latency = \"100ns\"\nintra_bandwidth = 5e9\n",
                                    "t.toml");
  EXPECT_EQ(t.name(), "t");
  EXPECT_EQ(format_shape(t.shape()), "torus:3x4");
  EXPECT_EQ(t.speed(LinkId(0)).latency, Time::ns(1000));
  EXPECT_EQ(t.speed(LinkId(0)).bytes_per_second, 1e9);
  EXPECT_EQ(t.speed(LinkId(0)).burst, 32768u);
  EXPECT_EQ(t.header(), 96u);
  EXPECT_EQ(t.ranks(), 24);
  EXPECT_EQ(t.intra_node().latency, Time::ns(100));
  EXPECT_EQ(t.intra_node().bytes_per_second, 5e9);
  EXPECT_EQ(parse_topology("[topology]\nkind=\"ring\"\nparameters=5\n", "t.toml").processors(), 5);
}

TEST(TopologyFile, IncidenceListsAreOneWay) {
  const Topology t =
      parse_topology(kHead +
                         "incidence = [[1], [2, 0], []]\nlatency = \"1us\"\n"
                         "[[link]]\nfrom = 1\nto = 2\nlatency = \"5us\"\nburst = 7\n",
                     "t.toml");
  EXPECT_THAT(links_of(t), ElementsAre(Pair(0, 1), Pair(1, 0), Pair(1, 2)));
  EXPECT_EQ(t.speed(LinkId(0)).latency, Time::ns(1000));
  EXPECT_EQ(t.speed(LinkId(2)).latency, Time::ns(5000));
  EXPECT_EQ(t.speed(LinkId(2)).burst, 7u);
  EXPECT_FALSE(t.speed(LinkId(0)).burst.has_value());
  EXPECT_EQ(t.node_name(NodeId(2)), "2");
}

TEST(TopologyFile, IncidenceListsWithSwitches) {
  const Topology t =
      parse_topology(kHead + "switches = 1\nincidence = [[2], [2], [0, 1]]\n", "t.toml");
  EXPECT_EQ(t.processors(), 2);
  EXPECT_EQ(t.switches(), 1);
  EXPECT_EQ(way(t, 0, 1), (Way{0, 2, 1}));
}

const std::string kNodes =
    "[topology]\nbandwidth = 100\n[[node]]\nname = \"net\"\nkind = \"bus\"\n"
    "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";

TEST(TopologyFile, NodesAndLinks) {
  // Processors come first in the numbering: a 0, b 1, net 2.
  const Topology t = parse_topology(
      kNodes +
          "[[link]]\nfrom = \"a\"\nto = \"net\"\nboth_ways = true\n"
          "[[link]]\nfrom = \"net\"\nto = 1\n[[link]]\nfrom = \"b\"\nto = \"a\"\nbandwidth = 7\n",
      "t.toml");
  EXPECT_EQ(t.name(), "t.toml");
  EXPECT_EQ(t.node_name(NodeId(2)), "net");
  EXPECT_THAT(links_of(t), ElementsAre(Pair(0, 2), Pair(1, 0), Pair(2, 0), Pair(2, 1)));
  EXPECT_EQ(hops(t, 0, 1), 1);
  EXPECT_EQ(t.speed(LinkId(0)).bytes_per_second, 100);
  EXPECT_EQ(t.speed(LinkId(1)).bytes_per_second, 7);
  EXPECT_EQ(t.speed(LinkId(3)).bytes_per_second, std::numeric_limits<double>::infinity());
}

// A passage through a bus is one hop: two links and two steps, but nearer than
// two hops over a processor.
TEST(TopologyFile, ABusIsNearerThanTwoLinks) {
  const Topology t = parse_topology(
      kNodes +
          "[[node]]\nname = \"c\"\n"
          "[[link]]\nfrom = \"a\"\nto = \"net\"\n[[link]]\nfrom = \"net\"\nto = \"b\"\n"
          "[[link]]\nfrom = \"a\"\nto = \"c\"\n[[link]]\nfrom = \"c\"\nto = \"b\"\n",
      "t.toml");
  EXPECT_EQ(way(t, 0, 1), (Way{0, 3, 1}));
}

struct Fault {
  std::string text;
  int line;
  std::string says;
};

TEST(TopologyFile, FaultsNameTheLine) {
  const std::string lists = kHead + "incidence = [\n[1],\n[0]]\n";  // lines 3 to 5
  const std::string node = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
  for (const Fault& fault : std::vector<Fault>{
           {"x = [", 1, ""},
           {"", 1, "not a topology: it has no [topology] table"},
           {"topology = 3\n", 1, "'topology' must be a table"},
           {kHead, 1, "needs 'kind' and 'parameters', or 'incidence', or [[node]]"},
           {kHead + "color = 1\n", 3, "unknown key 'color'; known here: name, kind"},
           {kHead + "[other]\n", 3, "unknown key 'other'; known here: topology, node, link"},
           {kHead + "kind = \"torus\"\n", 3, "'kind' needs 'parameters'"},
           {kHead + "kind = 4\n", 3, "'kind' must be a string"},
           {kHead + "parameters = 4\n", 3, "'parameters' needs 'kind'"},
           {kHead + "kind = \"ring\"\nparameters = 1.5\n", 4, "a number or a text"},
           {kHead + "kind = \"ring\"\nparameters = 0\n", 4, "every size must be 1 or more"},
           {kHead + "kind = \"rong\"\nparameters = 4\n", 4, "unknown topology 'rong'"},
           {kHead + "kind = \"ring\"\nparameters = 4\nincidence = [[]]\n", 5, "remove one"},
           {kHead + "kind = \"ring\"\nparameters = 4\nswitches = 1\n", 5, "has no 'switches'"},
           {kHead + "kind = \"ring\"\nparameters = 4\n[[link]]\nfrom = 0\n", 5, "has no [[link]]"},
           {kHead + "latency = -1\n", 3, "'latency' must be seconds, 0 or more"},
           {kHead + "latency = \"1 hour\"\n", 3, "such as \"1us\""},
           {kHead + "latency = inf\n", 3, "'latency' must be seconds"},
           {kHead + "bandwidth = 0\n", 3, "'bandwidth' must be bytes per second, above 0"},
           {kHead + "bandwidth = true\n", 3, "'bandwidth' must be bytes per second"},
           {kHead + "ranks_per_node = 0\n", 3, "'ranks_per_node' must be a whole number from 1"},
           {kHead + "intra_latency = \"x\"\n", 3, "'intra_latency' must be"},
           {kHead + "incidence = 3\n", 3, "'incidence' must be an array"},
           {kHead + "incidence = []\n", 3, "needs a list for each processor"},
           {kHead + "incidence = [[1], 0]\n", 3, "list 1 of 'incidence' must be an array"},
           {kHead + "incidence = [\n[1],\n[2]]\n", 5, "node numbers from 0 to 1"},
           {kHead + "incidence = [\n[1],\n[-1]]\n", 5, "node numbers from 0 to 1"},
           {kHead + "incidence = [\n[1],\n[0.5]]\n", 5, "node numbers from 0 to 1"},
           {kHead + "incidence = [\n[1],\n[1]]\n", 5, "node 1 has a link to itself; remove it"},
           {kHead + "incidence = [\n[1,\n1], []]\n", 5, "link from 0 to 1 is there twice"},
           {kHead + "switches = 2\nincidence = [[], []]\n", 4, "each of the 2 switches"},
           {lists + node, 3, "either 'incidence' or [[node]]"},
           {lists + "[[link]]\nfrom = 0\nto = 0\n", 6, "no link from 0 to 0; add it there"},
           {lists + "[[link]]\nfrom = 0\nto = 1\n[[link]]\nfrom = 0\nto = 1\n", 9, "there twice"},
           {lists + "[[link]]\nfrom = 0\nto = \"a\"\n", 8, "names 'a', which is no node"},
           {lists + "[[link]]\nfrom = 0\n", 6, "[[link]]: needs 'to'"},
           {lists + "[[link]]\nfrom = 2\nto = 0\n", 7, "'from' must hold node numbers from 0 to 1"},
           {lists + "[[link]]\nfrom = 0\nto = 1\nboth_ways = 1\n", 9, "true or false"},
           {lists + "[[link]]\nfrom = 0\nto = 1\nspeed = 1\n", 9, "unknown key 'speed'"},
           {kHead + "link = [1]\nincidence = [[]]\n", 3, ""},
           {kHead + "[[node]]\nkind = \"switch\"\n", 3, "[[node]]: needs a 'name'"},
           {kHead + "[[node]]\nname = \"a\"\nkind = \"router\"\n", 5, "\"switch\" or \"bus\""},
           {kHead + "[[node]]\nname = \"a\"\nkind = \"switch\"\n", 1, "no node of kind"},
           {kHead + node + "[[node]]\nname = \"a\"\n", 8, "the node 'a' is there twice"},
           {kHead + "switches = 1\n" + node, 3, "'switches' goes with 'incidence'"},
           {kHead + node + "[[link]]\nfrom = \"a\"\nto = \"a\"\n", 7, "'a' has a link to itself"},
           {kHead + node + "[[link]]\nfrom = \"a\"\nto = \"b\"\n[[link]]\nfrom = 0\nto = 1\n", 10,
            "from 'a' to 'b' is there twice"},
           {kHead + node +
                "[[node]]\nname = \"x\"\nkind = \"bus\"\n[[node]]\nname = \"y\"\nkind = \"bus\"\n"
                "[[link]]\nfrom = \"x\"\nto = \"y\"\n",
            13, "two buses need a switch between them"},
       }) {
    SCOPED_TRACE(fault.text);
    try {
      parse_topology(fault.text, "t.toml");
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.substr(0, what.find(' ')), "t.toml:" + std::to_string(fault.line) + ":")
          << what;
      EXPECT_NE(what.find(fault.says), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
}

TEST(TopologyFile, MissingFile) {
  EXPECT_THROW(make_topology("/nowhere/t.toml"), Error);
  EXPECT_THROW(make_topology("nothing"), UsageError);
}

TEST(TopologyFile, ShippedOnesAreRead) {
  const std::string folder = FORETRACE_SOURCE_DIR "/topologies/";
  EXPECT_EQ(make_topology(folder + "cray-t3d-64.toml").links(), 384);
  EXPECT_EQ(links_of(make_topology(folder + "ring-as-lists.toml")), links_of(build("ring:4")));
  EXPECT_EQ(make_topology(folder + "ethernet-8.toml").speed(LinkId(0)).bytes_per_second, 1.25e6);
  // 16 processors below and 8 spines above each of 4 leaves.
  EXPECT_EQ(make_topology(folder + "fat-tree-64.toml").switches(), 12);
  const Topology clusters = make_topology(folder + "two-clusters.toml");
  EXPECT_EQ(clusters.ranks(), 24);
  // a0 -> left -> right -> b2
  EXPECT_EQ(way(clusters, 0, 5), (Way{0, 6, 7, 5}));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NO_THROW(make_topology(entry.path())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 5);
}

}  // namespace
}  // namespace foretrace::machine
