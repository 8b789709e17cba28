// Where ranks run: by rule, by chance, from a file.
#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::machine {
namespace {

using Numbers = std::vector<int>;

Numbers placed(std::string_view text, const Topology& topology, int ranks) {
  Numbers numbers;
  for (NodeId node : make_placement(text, topology, ranks)) numbers.push_back(node.value);
  return numbers;
}

TEST(Placement, BlockFillsOneProcessorAfterTheOther) {
  EXPECT_EQ(placed("block", make_topology("ring:4"), 3), (Numbers{0, 1, 2}));
  EXPECT_EQ(placed("block", make_topology("ring:4?ranks_per_node=2"), 7),
            (Numbers{0, 0, 1, 1, 2, 2, 3}));
}

TEST(Placement, RoundRobinDealsThemOut) {
  EXPECT_EQ(placed("round-robin", make_topology("ring:4"), 4), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(placed("round-robin", make_topology("ring:3?ranks_per_node=2"), 5),
            (Numbers{0, 1, 2, 0, 1}));
}

// The upper halves of SplitMix64's first outputs for seed 1 are 910a2dec,
// beeb8da1, f893a2ee, 71c18690, 71bb54d8, c34d0bff and e099ec6c. Place i = 7,
// 6, .. 1 changes with the upper half of (half * (i + 1)): 0x910a2dec * 8 / 2^32
// = 4.53, 0xbeeb8da1 * 7 / 2^32 = 5.22, and so on: 4, 5, 5, 2, 1, 2, 1.
//   0 1 2 3 4 5 6 7 -> 7<->4: 0 1 2 3 7 5 6 4 -> 6<->5: 0 1 2 3 7 6 5 4
//   -> 5<->5 -> 4<->2: 0 1 7 3 2 6 5 4 -> 3<->1: 0 3 7 1 2 6 5 4 -> 2<->2, 1<->1
TEST(Placement, RandomIsTheSameEverywhere) {
  EXPECT_EQ(placed("random:1", make_topology("ring:8"), 8), (Numbers{0, 3, 7, 1, 2, 6, 5, 4}));
  EXPECT_EQ(placed("random:2", make_topology("ring:8"), 8), (Numbers{0, 2, 7, 1, 6, 3, 5, 4}));
  // 3, 3, 3, 1, 0 for six ranks: 0 0 1 1 2 2 -> 0 0 1 2 2 1 -> 0 0 1 2 2 1 ->
  // (3<->3) -> 2<->1: 0 1 0 2 2 1 -> 1<->0: 1 0 0 2 2 1
  EXPECT_EQ(placed("random:1", make_topology("ring:3?ranks_per_node=2"), 6),
            (Numbers{1, 0, 0, 2, 2, 1}));
  EXPECT_EQ(placed("random:18446744073709551615", make_topology("ring:8"), 1), (Numbers{0}));
}

// 6000 seeds over the 6 orders of three: 1000 each, standard deviation 29.
TEST(Placement, RandomOrdersAreEquallyLikely) {
  const Topology topology = make_topology("ring:3");
  std::map<Numbers, int> seen;
  for (int seed = 0; seed < 6000; ++seed)
    ++seen[placed("random:" + std::to_string(seed), topology, 3)];
  ASSERT_EQ(seen.size(), 6u);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 120);
}

TEST(Placement, NoRanks) {
  EXPECT_EQ(placed("block", make_topology("ring:4"), 0), Numbers());
  EXPECT_EQ(placed("random:3", make_topology("ring:4"), 0), Numbers());
}

TEST(Placement, EveryRuleNeedsPlacesForAllRanks) {
  const Topology topology = make_topology("mesh:2x2?ranks_per_node=2");
  for (const char* rule : {"block", "round-robin", "random:1"}) {
    EXPECT_EQ(make_placement(rule, topology, 8).size(), 8u) << rule;
    try {
      make_placement(rule, topology, 9);
      ADD_FAILURE() << rule << " was accepted";
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(),
                   "topology 'mesh:2x2?ranks_per_node=2' has places for 8 ranks (4 processors with "
                   "2 each), the program has 9; take a larger one, or put several on a "
                   "processor (SHAPE?ranks_per_node=2, or ranks_per_node in its file)");
    }
  }
}

TEST(Placement, WordsThatAreNone) {
  const Topology topology = make_topology("ring:4");
  for (const char* text : {"", "blok", "random", "random:", "random:x", "random:-1", "random:1.5",
                           "random:18446744073709551616", "no/such/file", "block "})
    EXPECT_THROW(make_placement(text, topology, 2), UsageError) << text;
}

class PlacementFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::string fault(const std::string& text, const Topology& topology, int ranks) const {
    try {
      make_placement(write(text), topology, ranks);
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(path_ + ":")) << what;
      return what.substr(std::min(what.size(), path_.size() + 1));
    }
    return "was accepted";
  }
  const std::string folder_ = testing::TempDir() + "placement_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = folder_ + "/ranks";
  const Topology ring_ = make_topology("ring:4");
  const Topology clusters_ =
      read_topology_file(FORETRACE_SOURCE_DIR "/topologies/two-clusters.toml");
};

TEST_F(PlacementFile, NumbersOneALine) {
  EXPECT_EQ(placed(write("2\n0\n3\n"), ring_, 3), (Numbers{2, 0, 3}));
  EXPECT_EQ(placed(write(" 2\t\r\n0"), ring_, 2), (Numbers{2, 0}))
      << "blanks, no newline at the end";
}

TEST_F(PlacementFile, LinesBeyondTheRanksDoNotMatter) {
  EXPECT_EQ(placed(write("2\n0\n\nnonsense\n"), ring_, 2), (Numbers{2, 0}));
}

// Processors are numbered in the order of the file: a0 a1 a2 b0 b1 b2.
TEST_F(PlacementFile, NamesOfNodes) {
  EXPECT_EQ(placed(write("b0\na2\nb0\n5\n"), clusters_, 4), (Numbers{3, 2, 3, 5}));
}

TEST_F(PlacementFile, NameBeforeNumber) {
  const Topology topology = parse_topology(
      "[topology]\n[[node]]\nname = \"1\"\n[[node]]\nname = \"0\"\n[[node]]\nname = \"x\"\n", "t");
  EXPECT_EQ(placed(write("1\n0\n2\n"), topology, 3), (Numbers{0, 1, 2}));
}

TEST_F(PlacementFile, FaultsNameTheLine) {
  EXPECT_EQ(fault("0\n4\n", ring_, 2),
            "2: '4' is no processor of topology 'ring:4'; write a number from 0 to 3 or a node's "
            "name");
  EXPECT_EQ(fault("0\n-1\n", ring_, 2).substr(0, 27), "2: '-1' is no processor of ");
  EXPECT_EQ(fault("1x\n", ring_, 1).substr(0, 24), "1: '1x' is no processor ");
  EXPECT_EQ(fault("a0\nc0\n", clusters_, 2).substr(0, 24), "2: 'c0' is no processor ");
  EXPECT_EQ(fault("a0\na1\nleft\n", clusters_, 3),
            "3: 'left' is a switch; ranks run on processors");
  EXPECT_EQ(fault("bus\n", make_topology("bus:4"), 1),
            "1: 'bus' is a bus; ranks run on processors");
  EXPECT_EQ(fault("0\n\n1\n", ring_, 3),
            "2: expected a processor for rank 1, found an empty line; line n is for rank n-1");
  EXPECT_EQ(fault("0\n1\n", ring_, 4),
            "3: the file ends after 2 lines, the program has 4 ranks; write a processor for each "
            "rank");
  EXPECT_EQ(fault("", ring_, 1).substr(0, 32), "1: the file ends after 0 lines, ");
}

TEST_F(PlacementFile, ProcessorsThatAreFull) {
  EXPECT_EQ(fault("1\n1\n", ring_, 2),
            "2: processor '1' is full: the topology has ranks_per_node = 1");
  EXPECT_EQ(fault("a1\na1\na1\na1\n1\n", clusters_, 5),
            "5: processor '1' is full: the topology has ranks_per_node = 4");
}

TEST_F(PlacementFile, FolderIsNoPlacement) {
  EXPECT_THROW(make_placement(folder_, ring_, 1), Error);
}

}  // namespace
}  // namespace foretrace::machine
