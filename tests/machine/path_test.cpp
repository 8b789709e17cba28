// Paths of a machine model: the example of docs/theory.md, what a path takes from the
// top level, its place in the file, who shares a node.
#include "machine/path.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/loggps.hpp"
#include "machine/machine_file.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

constexpr const char* kNode = R"(
[path.node.loggps]
S = 1024

[[path.node.function]]
name = "send"
[[path.node.function.regime]]
c = 5.0
k = 0.01
g = "d"

[[path.node.function]]
name = "recv"
[[path.node.function.regime]]
c = 5.0
k = 0.01
g = "d"
)";

// docs/theory.md's machine: the T3D with S = 8 KiB, and other times within a node.
MachineModel two_paths() {
  MachineModel model = read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
  model.loggps.sync_threshold = Bytes(8192);
  const std::string text = "[machine]\ntime_unit = \"us\"\nelement_bytes = 8\n";
  model.paths = parse_machine(text + kNode, "node").paths;
  return model;
}

TEST(Path, TheExampleOfTheTheory) {
  const MachineModel model = two_paths();
  const Timing timing(model, Bound::avg);
  const RankPaths paths({NodeId(0), NodeId(0), NodeId(1)});
  const Timing& near = timing.on(paths.between(WorldRank(0), WorldRank(1)));
  const Timing& far = timing.on(paths.between(WorldRank(0), WorldRank(2)));
  const Bytes bytes(800);
  const Time first = near.send_eager_leave(Time(), SendMode::standard, bytes);
  EXPECT_EQ(first, Time::ns(6'000));
  EXPECT_EQ(far.send_eager_leave(first, SendMode::standard, bytes), Time::ns(45'000));
  EXPECT_EQ(near.recv_leave(Time(), {Time(), bytes, false}), Time::ns(6'000));
  EXPECT_EQ(far.recv_leave(Time(), {first, bytes, false}), Time::ns(116'000));
  EXPECT_TRUE(near.is_rendezvous(SendMode::standard, Bytes(2000)));
  EXPECT_FALSE(far.is_rendezvous(SendMode::standard, Bytes(2000)));
}

// ssend would be `send` of the path; irecv1 has no stand-in there, bcast none at all.
TEST(Path, TakesWhatStandsInBeforeTheTopLevels) {
  const MachineModel model = two_paths();
  const MachineModel node = on_path(model, Path::node);
  EXPECT_TRUE(node.paths.empty());
  EXPECT_EQ(node.find("ssend"), nullptr);
  EXPECT_EQ(node.find("recvmin"), nullptr);
  EXPECT_NE(node.find("irecv1"), nullptr);
  const Timing timing(model, Bound::avg);
  const Timing& near = timing.on(Path::node);
  EXPECT_EQ(near.cost(Cost::ssend, 2, Bytes(800)), Time::ns(6'000));
  EXPECT_EQ(near.cost(Cost::irecv1, 2, Bytes(800)), timing.cost(Cost::irecv1, 2, Bytes(800)));
  EXPECT_EQ(near.cost(Cost::bcast, 4, Bytes(800)), timing.cost(Cost::bcast, 4, Bytes(800)));
}

// Half the time at 4 KiB and from there on, three quarters in the middle of 1 and 4 KiB on a
// logarithmic scale.
constexpr const char* kUntouched = R"(
[[function]]
name = "recv"
untouched = [[1024, 1.0], [4096, 0.5]]
[[function.regime]]
c = 8.0
[[function]]
name = "send"
[[function.regime]]
c = 1.0
)";

TEST(Path, UntouchedDataTakesItsFactors) {
  const std::string head = "[machine]\ntime_unit = \"us\"\n";
  const MachineModel model = parse_machine(head + kUntouched, "m.toml");
  EXPECT_TRUE(knows_path(model, Path::untouched));
  EXPECT_FALSE(knows_path(model, Path::node));
  const Timing timing(model, Bound::avg);
  EXPECT_FALSE(timing.has_paths());
  ASSERT_TRUE(timing.knows_untouched());
  const Timing& same = timing.on(of_data(Path::node, true));
  const auto recv = [&](std::uint64_t bytes) { return same.cost(Cost::recv, 2, Bytes(bytes)); };
  EXPECT_EQ(recv(0), Time::ns(8'000));
  EXPECT_EQ(recv(1024), Time::ns(8'000));
  EXPECT_EQ(recv(2048), Time::ns(6'000));
  EXPECT_EQ(recv(4096), Time::ns(4'000));
  EXPECT_EQ(recv(1 << 30), Time::ns(4'000));
  EXPECT_EQ(same.cost(Cost::recvmin, 2, Bytes(4096)), Time::ns(4'000)) << "recv stands in";
  EXPECT_EQ(same.cost(Cost::send, 2, Bytes(4096)), Time::ns(1'000)) << "it has no factors";
  EXPECT_EQ(timing.cost(Cost::recv, 2, Bytes(4096)), Time::ns(8'000));
  EXPECT_EQ(&timing.on(of_data(Path::outer, true)), &timing) << "between nodes it is the same";
  EXPECT_EQ(&timing.on(of_data(Path::node, false)), &timing);
}

// Of the path's own functions; the outer one's say nothing within a node.
TEST(Path, UntouchedDataIsTheNodes) {
  MachineModel model = two_paths();
  model.functions.at("send").untouched = {{Bytes(1), 0.1}};
  EXPECT_FALSE(knows_path(model, Path::untouched));
  model.paths[Path::node].functions.at("recv").untouched = {{Bytes(1), 0.5}};
  const Timing timing(model, Bound::avg);
  const Timing& same = timing.on(Path::untouched);
  EXPECT_EQ(same.cost(Cost::recv, 2, Bytes(800)), Time::ns(3'000));
  EXPECT_EQ(same.cost(Cost::send, 2, Bytes(800)), Time::ns(6'000));
  EXPECT_TRUE(same.is_rendezvous(SendMode::standard, Bytes(1024))) << "S is the node's";
  Ports ports;
  EXPECT_EQ(&timing.port(ports, Path::untouched), &timing.port(ports, Path::node));
}

TEST(Path, AModelWithoutUntouchedDataTakesTheNodes) {
  const MachineModel model = two_paths();
  const Timing timing(model, Bound::avg);
  EXPECT_FALSE(timing.knows_untouched());
  EXPECT_EQ(&timing.on(Path::untouched), &timing.on(Path::node));
}

TEST(Path, AModelWithoutPathsIsTheSameOnAll) {
  MachineModel model = two_paths();
  model.paths.clear();
  const Timing timing(model, Bound::avg);
  EXPECT_FALSE(timing.has_paths());
  EXPECT_EQ(&timing.on(Path::node), &timing);
  EXPECT_EQ(on_path(model, Path::node).functions.size(), model.functions.size());
}

// L, o_s, o_r and G of the path come from its own equations: 5 us a message each way leave
// nothing for L. Its S, and that of the top level where it says none.
TEST(Path, DerivesItsLogGPS) {
  MachineModel model = two_paths();
  model.loggps.latency = 1e-3;
  const LogGPSTimes inner = inner_times(model, Bound::avg).at(Path::node);
  EXPECT_EQ(inner.overhead_send, Time::ns(5001) + Time::ps(250));
  EXPECT_EQ(inner.latency, Time());
  EXPECT_EQ(inner.sync_threshold, Bytes(1024));
  model.paths[Path::node].loggps = {};
  EXPECT_EQ(inner_times(model, Bound::avg).at(Path::node).sync_threshold, Bytes(8192));
  model.paths[Path::node].functions.clear();
  EXPECT_EQ(inner_times(model, Bound::avg).at(Path::node).latency, Time::ns(1'000'000));
}

TEST(Path, IsWrittenAsItIsRead) {
  const MachineModel model = two_paths();
  const std::string text = format_machine(model);
  EXPECT_NE(text.find("[[path.node.function]]\nname = \"recv\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[path.node.loggps]\nS = 1024\n"), std::string::npos) << text;
  EXPECT_EQ(format_machine(parse_machine(text, "again")), text);
}

std::string fault_of(const std::string& text) {
  try {
    parse_machine("[machine]\n" + text, "m.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Path, FaultsAreNamed) {
  EXPECT_EQ(fault_of("[path.socket]\n"),
            "m.toml:2: [path]: there is no path 'socket'; known: node (the top level of the file "
            "is between nodes)");
  EXPECT_NE(fault_of("[path.outer]\n").find("there is no path 'outer'"), std::string::npos);
  EXPECT_NE(fault_of("[path.untouched]\n").find("there is no path 'untouched'"), std::string::npos);
  EXPECT_NE(fault_of("[path.node]\nlatency = 1\n").find("unknown key 'latency'"),
            std::string::npos);
  EXPECT_NE(fault_of("[[path.node.function]]\nname = \"send\"\n").find("needs at least one"),
            std::string::npos);
}

TEST(Path, UntouchedIsWrittenAsItIsReadAndChecked) {
  const std::string head = "[machine]\ntime_unit = \"us\"\n";
  const std::string text = format_machine(parse_machine(head + kUntouched, "m.toml"));
  EXPECT_NE(text.find("untouched = [[1024, 1.0], [4096, 0.5]]\n"), std::string::npos) << text;
  EXPECT_EQ(format_machine(parse_machine(text, "again")), text);
  const auto fault = [](const std::string& value) {
    return fault_of("[[function]]\nname = \"recv\"\nuntouched = " + value +
                    "\n[[function.regime]]\nc = 1\n");
  };
  EXPECT_EQ(fault("[[1, 0.5]]"), "");
  EXPECT_NE(fault("[[1, 0.5, 2]]").find("must be [[BYTES, FACTOR], ...]"), std::string::npos);
  EXPECT_NE(fault("[1, 0.5]").find("must be [[BYTES, FACTOR], ...]"), std::string::npos);
  EXPECT_NE(fault("[[1, 0]]").find("must be above 0"), std::string::npos);
  EXPECT_NE(fault("[[2, 0.5], [2, 0.5]]").find("must be ascending"), std::string::npos);
  EXPECT_NE(fault("[[0, 0.5]]").find("must be ascending, 1 or more"), std::string::npos);
  EXPECT_NE(fault("0.5").find("untouched"), std::string::npos);
}

TEST(RankPaths, FollowTheNodes) {
  const RankPaths alone;
  EXPECT_EQ(alone.between(WorldRank(0), WorldRank(1)), Path::outer);
  EXPECT_EQ(alone.between(WorldRank(1), WorldRank(1)), Path::node);
  EXPECT_EQ(alone.between(WorldRank(1), WorldRank()), Path::outer);
  const RankPaths pairs({NodeId(3), NodeId(3), NodeId(0), NodeId(0)});
  EXPECT_EQ(pairs.between(WorldRank(0), WorldRank(1)), Path::node);
  EXPECT_EQ(pairs.between(WorldRank(1), WorldRank(2)), Path::outer);
  // Rank 4 is beyond the placement: started later, on a node of its own.
  EXPECT_EQ(pairs.between(WorldRank(4), WorldRank(2)), Path::outer);
  const std::vector<WorldRank> first{WorldRank(0), WorldRank(1)};
  const std::vector<WorldRank> all{WorldRank(2), WorldRank(3), WorldRank(1)};
  EXPECT_EQ(pairs.within(first), Path::node);
  EXPECT_EQ(pairs.within(all), Path::outer);
}

}  // namespace
}  // namespace foretrace::machine
