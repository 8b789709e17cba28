// The rule that follows a rank's phases through a compute table.
#include "compute/regions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "compute/node_ranks.hpp"

namespace foretrace::compute {
namespace {

using trace::EventKind;

RegionRule rule_of(const std::string& table) {
  return RegionRule(std::make_shared<const Regions>(
      bind_table(machine::parse_compute_table(table, "t.toml"), nullptr, {}, {})));
}

class Follow {
 public:
  explicit Follow(const std::string& table) : rule_(rule_of(table)) {}
  Time begin(const char* phase) { return at(EventKind::phase_begin, phase); }
  Time end(const char* phase) { return at(EventKind::phase_end, phase); }
  Time send() { return at(EventKind::send, "MPI_Send"); }
  Time at(EventKind kind, const char* name, std::uint32_t count = 1) {
    return rule_.before({kind, name, Time::ns(100), 5, std::max(count, 1U), count == 0});
  }

 private:
  RegionRule rule_;
};

TEST(Regions, VisitsCountTheirIntervals) {
  Follow run("[[region]]\nphase = \"a\"\nvisit = [\"3us\", \"1us\"]\n");
  for (int visit = 0; visit < 2; ++visit) {
    EXPECT_EQ(run.begin("a"), Time()) << "before the phase is elsewhere";
    EXPECT_EQ(run.send(), Time::ns(3000));
    EXPECT_EQ(run.send(), Time::ns(1000));
    EXPECT_EQ(run.send(), Time()) << "there are no more than two";
    EXPECT_EQ(run.end("a"), Time());
  }
  EXPECT_EQ(run.send(), Time());
}

// Local calls and those that look end no interval: runs differ in how many there are.
TEST(Regions, LocalCallsGetNothing) {
  Follow run("[[region]]\nphase = \"a\"\nvisit = [\"3us\", \"1us\"]\n");
  run.begin("a");
  EXPECT_EQ(run.at(EventKind::call, "MPI_Comm_rank"), Time());
  EXPECT_EQ(run.at(EventKind::complete, "MPI_Test"), Time());
  EXPECT_EQ(run.at(EventKind::call, "MPI_Iprobe"), Time());
  EXPECT_EQ(run.at(EventKind::mark, "residual"), Time());
  EXPECT_EQ(run.at(EventKind::complete, "MPI_Wait"), Time::ns(3000));
  EXPECT_EQ(run.end("a"), Time::ns(1000));
}

// A neighbourhood collective is several events, a fence may be two: nothing begins in between.
TEST(Regions, ACallIsOneHoweverManyEventsItIs) {
  Follow run("[[region]]\nphase = \"a\"\nvisit = [\"1us\", \"2us\", \"4us\"]\n");
  run.begin("a");
  EXPECT_EQ(run.at(EventKind::irecv, "MPI_Neighbor_allgather"), Time::ns(1000));
  EXPECT_EQ(run.at(EventKind::isend, "MPI_Neighbor_allgather", 0), Time());
  EXPECT_EQ(run.at(EventKind::complete, "MPI_Neighbor_allgather", 0), Time());
  EXPECT_EQ(run.at(EventKind::call, "MPI_Win_fence"), Time::ns(2000)) << "what it waits for";
  EXPECT_EQ(run.at(EventKind::collective, "MPI_Win_fence", 0), Time());
  EXPECT_EQ(run.end("a"), Time::ns(4000));
}

// Accesses to windows and files are no local calls. Two that are one event are two calls.
TEST(Regions, AccessesEndIntervals) {
  Follow run("[[region]]\nphase = \"a\"\nvisit = [\"1us\", \"2us\", \"4us\", \"8us\"]\n");
  run.begin("a");
  EXPECT_EQ(run.at(EventKind::call, "MPI_Put"), Time::ns(1000));
  EXPECT_EQ(run.at(EventKind::call, "MPI_Win_get_group"), Time());
  EXPECT_EQ(run.at(EventKind::call, "MPI_File_write_at_c", 2), Time::ns(6000));
  EXPECT_EQ(run.end("a"), Time::ns(8000));
}

TEST(Regions, InnermostKnownPhaseCounts) {
  Follow run(
      "[elsewhere]\ntime = \"measured\"\n[[region]]\nphase = \"outer\"\nvisit = [1, 2, 4]\n"
      "[[region]]\nphase = \"inner\"\nstep = \"1ns\"\nscale = 2\n");
  EXPECT_EQ(run.begin("outer"), Time::ns(100));
  EXPECT_EQ(run.begin("unknown"), Time::from_seconds(1));
  EXPECT_EQ(run.begin("inner"), Time::from_seconds(2)) << "the unknown one belongs to outer";
  EXPECT_EQ(run.send(), Time::ns(10)) << "5 steps of 2 ns";
  EXPECT_EQ(run.end("inner"), Time::ns(10));
  EXPECT_EQ(run.end("unknown"), Time::from_seconds(4));
  EXPECT_EQ(run.end("outer"), Time());
  EXPECT_EQ(run.send(), Time::ns(100));
}

TEST(Regions, PhasesThatAreClosedInAnotherOrder) {
  Follow run("[[region]]\nphase = \"a\"\nvisit = [1, 1, 1, 1]\n");
  EXPECT_EQ(run.end("a"), Time()) << "was never open";
  run.begin("a");
  run.begin("b");
  EXPECT_EQ(run.end("a"), Time::from_seconds(1));
  EXPECT_EQ(run.send(), Time()) << "b alone is open, and unknown";
}

// 100,000,003 ps * 2.5 is a true half, rounded up, as `recorded:2.5` rounds it (the
// simulator's tests have the same figure).
TEST(Regions, MeasuredTimeIsScaledAsTheSimulatorDoes) {
  RegionRule rule = rule_of("[elsewhere]\ntime = \"measured\"\nscale = 2.5\n");
  EXPECT_EQ(rule.before({EventKind::send, "MPI_Send", Time::ps(100'000'003), 0}),
            Time::ps(250'000'008));
}

machine::ComputeCosts model(std::map<std::string, double, std::less<>> kernels) {
  machine::ComputeCosts costs{"m", {}, {}, {}};
  for (const auto& [name, seconds] : kernels) costs.kernels[name] = {seconds, {}};
  return costs;
}

TEST(Regions, KernelsCompareMachines) {
  const auto here = model({{"stream", 2e-9}, {"sqrt", 1e-9}, {"mine", 1}});
  const auto there = model({{"stream", 1e-9}, {"sqrt", 4e-9}, {"theirs", 1}});
  // Half of the time twice as fast, half of it four times slower.
  EXPECT_EQ(kernel_ratio({}, here, there, {}), 2.25);
  EXPECT_EQ(kernel_ratio({{"stream", 5}}, here, there, {}), 0.5);
  EXPECT_EQ(kernel_ratio({{"stream", 3}, {"sqrt", 1}}, here, there, {}), 1.375);
  EXPECT_THROW(kernel_ratio({{"mine", 1}}, here, there, {}), Error);
  EXPECT_THROW(kernel_ratio({}, here, model({{"theirs", 1}}), {}), Error);

  const auto table = machine::parse_compute_table(
      "[elsewhere]\ntime = \"measured\"\n[[region]]\nphase = \"a\"\ntime = \"measured\"\n"
      "scale = 10\nkernels = { sqrt = 1 }\n",
      "t.toml");
  const Regions regions = bind_table(table, &here, there, {});
  EXPECT_EQ(regions.elsewhere.factor, 2.25);
  EXPECT_EQ(regions.list[0].factor, 40);
  EXPECT_THROW(bind_table(table, nullptr, there, {}), Error) << "compares kernels with nothing";
}

// Memory that ranks share: how many of them compute counts, there and here.
TEST(Regions, KernelsDependOnTheRanksOfANode) {
  auto here = model({{"stream", 9}});
  auto there = here;
  here.kernels["stream"].by_ranks = {{1, 2}, {2, 4}};
  there.kernels["stream"].by_ranks = {{2, 8}, {6, 24}};
  EXPECT_EQ(kernel_ratio({}, here, there, {1, 2}), 4);
  EXPECT_EQ(kernel_ratio({}, here, there, {2, 2}), 2);
  EXPECT_EQ(kernel_ratio({}, here, there, {2, 6}), 6);
  EXPECT_EQ(kernel_ratio({}, here, there, {2, 5}), 5) << "between 2 and 6";
  EXPECT_EQ(kernel_ratio({}, here, there, {2, 1}), 2) << "below: as the first";
  EXPECT_EQ(kernel_ratio({}, here, there, {16, 64}), 6) << "beyond: as the last";
  EXPECT_EQ(kernel_ratio({}, here, there, {0, 2}), 8.0 / 9) << "not known: as all";
}

TEST(Rules, RanksOfANode) {
  EXPECT_TRUE(ranks_of_nodes({}, {}).empty());
  EXPECT_EQ(ranks_of_nodes({}, {3, 3, 1}), (std::vector<NodeRanks>{{0, 2}, {0, 2}, {0, 1}}));
  EXPECT_EQ(ranks_of_nodes({0, 1, 0}, {0, 0, 0}), (std::vector<NodeRanks>{{2, 3}, {1, 3}, {2, 3}}));
}

}  // namespace
}  // namespace foretrace::compute
