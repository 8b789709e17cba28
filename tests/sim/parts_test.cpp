// Collectives with a count for each rank as messages, by hand: who sends how much, and when it is
// there (docs/collectives.md).
//
// L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns per byte, no rendezvous. Times in the
// comments are nanoseconds.
#include <gtest/gtest.h>

#include "loggps_options.hpp"
#include "programs.hpp"
#include "topology/builders.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using trace::Counts;

class Parts : public testing::Test {
 protected:
  Parts() {
    options_ = loggps();
    options_.network.loggps.sync_threshold.reset();
  }

  void call(Programs& source, int rank, Cost collective, const Counts& counts, int root = -1) {
    const std::string name = "MPI_" + std::string(machine::name_of(collective));
    Operation operation = source.make(trace::EventKind::collective, name.c_str(), {});
    operation.collective = collective;
    operation.root = LocalRank(root);
    std::uint64_t sum = 0;
    for (const Bytes each : counts) sum += each.count;
    operation.bytes = Bytes(collective == Cost::reduce_scatter ? sum : sum / counts.size());
    if (trace::are_told(collective, counts)) operation.counts = &counts;
    source.add(WorldRank(rank), operation);
  }
  // All ranks make the call with their own counts.
  Replayed run(Cost collective, const std::vector<Counts>& counts, const char* algorithms,
               int root = -1) {
    Programs source(static_cast<int>(counts.size()));
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      call(source, static_cast<int>(rank), collective, counts[rank], root);
    source.finalize_all();
    const AlgorithmTable table(algorithms);
    options_.algorithms = &table;
    return replay(source, options_);
  }

  SimulateOptions options_;
};

Counts list(std::initializer_list<std::uint64_t> bytes) {
  Counts counts;
  for (const std::uint64_t each : bytes) counts.emplace_back(each);
  return counts;
}

// The root sends 101 bytes until 100, and 401 from 100 on, when the first have left (g + 50 =
// 100). They are there at 100 + 1000 + 50 and 200 + 1000 + 200.
TEST_F(Parts, ScattervFansOut) {
  const Replayed run =
      this->run(Cost::scatterv, {list({7, 101, 401}), list({101}), list({401})}, "openmpi", 0);
  EXPECT_EQ(run.leave(0, 0), ns(200));
  EXPECT_EQ(run.leave(1, 0), ns(1160));
  EXPECT_EQ(run.leave(2, 0), ns(1410));
  EXPECT_EQ(run.result.stats.messages, 2u);
}

// Nothing is sent to rank 1, which does not wait. 401 bytes are there at 1300.
TEST_F(Parts, ScattervWithoutAPart) {
  for (const char* library : {"openmpi", "mpich"}) {
    const Replayed run =
        this->run(Cost::scatterv, {list({7, 0, 401}), list({0}), list({401})}, library, 0);
    EXPECT_EQ(run.leave(0, 0), ns(100));
    EXPECT_EQ(run.leave(1, 0), Time());
    EXPECT_EQ(run.leave(2, 0), ns(1310));
    EXPECT_EQ(run.result.stats.messages, 1u);
  }
}

// Of a gatherv each rank's own size counts; the root waits for whom it expects something of.
TEST_F(Parts, GathervFansIn) {
  for (const char* library : {"openmpi", "mpich"}) {
    const Replayed run = this->run(
        Cost::gatherv, {list({0, 401, 0, 0}), list({401}), list({0}), list({0})}, library, 0);
    EXPECT_EQ(run.leave(0, 0), ns(1310));
    EXPECT_EQ(run.leave(1, 0), ns(100));
    EXPECT_EQ(run.leave(2, 0), Time());
    EXPECT_EQ(run.result.stats.messages, 1u);
  }
}

// A trace without counts is as ever: empty messages go.
TEST_F(Parts, WithoutCountsAllSend) {
  Programs source(3);
  for (int rank = 0; rank < 3; ++rank) source.collective(rank, Cost::gatherv, {}, 0, 0, 0);
  source.finalize_all();
  const AlgorithmTable table("openmpi");
  options_.algorithms = &table;
  EXPECT_EQ(replay(source, options_).result.stats.messages, 2u);
}

// Rank 0 of four alone has something: 1,001 bytes go round. Each hop takes 100 + 1000 + 500 + 10.
// Meanwhile the others send empty messages, one in each round; nobody has to wait for them.
TEST_F(Parts, AllgathervOfOneRank) {
  const std::vector<Counts> counts(4, list({1001, 0, 0, 0}));
  const Replayed ring = run(Cost::allgatherv, counts, "openmpi,allgatherv=ring");
  EXPECT_EQ(ring.result.stats.messages, 12u);
  EXPECT_EQ(ring.leave(3, 0), ns(3 * 1610));
  const Replayed pipelined = run(Cost::allgatherv, counts, "mpich,allgatherv=pipelined_ring");
  EXPECT_EQ(pipelined.result.stats.messages, 3u);
  EXPECT_EQ(pipelined.leave(0, 0), ns(100));
  EXPECT_EQ(pipelined.leave(1, 0), ns(1610 + 100));
  EXPECT_EQ(pipelined.leave(3, 0), ns(3 * 1610));
}

// `linear` leaves out what is empty in MPI_Alltoallw alone.
//
// Three ranks send 1,000, 2,000 and 3,000 bytes to rank 0 at once, which share its link of 1 byte a
// ns. Each has a third of it until 3,000 ns, when the first message is over, then half until
// 5,000, then all until 6,000. Two links of 10 ns, and 10 for each that is taken in.
TEST_F(Parts, HotReceiverOfAnAlltoallv) {
  const machine::Topology star = machine::make_topology("crossbar:4?latency=10ns&bandwidth=1GB/s");
  options_.network.kind = NetworkKind::flow;
  options_.network.topology = &star;
  const std::vector<Counts> counts{
      list({0, 0, 0, 0, 0, 1000, 2000, 3000}), list({1000, 0, 0, 0, 0, 0, 0, 0}),
      list({2000, 0, 0, 0, 0, 0, 0, 0}), list({3000, 0, 0, 0, 0, 0, 0, 0})};
  for (const auto& [collective, library] : {std::pair{Cost::alltoallw, "openmpi"},
                                            {Cost::alltoallw, "mpich"},
                                            {Cost::alltoallv, "mpich"}}) {
    const Replayed run = this->run(collective, counts, library);
    EXPECT_EQ(run.leave(0, 0), ns(100 + 6000 + 20 + 10)) << library;
    for (int rank = 1; rank < 4; ++rank) EXPECT_EQ(run.leave(rank, 0), ns(100)) << library;
    EXPECT_EQ(run.result.stats.messages, 3u);
  }
}

// A rank with the same count for all, beside one with others: its messages have that size.
TEST_F(Parts, OneRankOfAnAlltoallvHasEqualCounts) {
  const std::vector<Counts> counts{list({401, 401, 401, 401}), list({401, 401, 401, 801})};
  const Replayed run = this->run(Cost::alltoallv, counts, "openmpi");
  EXPECT_EQ(run.leave(0, 0), ns(1310));
  EXPECT_EQ(run.leave(1, 0), ns(1310));
}

// Rank 1 of two gets 801 bytes, rank 0 nothing: in the one round of the halving rank 0 sends. Then
// rank 1 adds 801 bytes, 1 ns each.
TEST_F(Parts, ReduceScatterToOneRank) {
  const std::vector<Counts> counts(2, list({0, 801}));
  options_.reduce_per_byte = 1e-9;
  const Replayed run = this->run(Cost::reduce_scatter, counts, "mpich");
  EXPECT_EQ(run.leave(0, 0), ns(100));
  EXPECT_EQ(run.leave(1, 0), ns(100 + 1000 + 400 + 10 + 801));
}

// The counts come out as they went in, whatever is made of the call.
TEST_F(Parts, StandInThePredictedTrace) {
  const std::vector<Counts> counts(2, list({5, 8}));
  const Replayed run = this->run(Cost::allgatherv, counts, "openmpi");
  ASSERT_EQ(run.trace.counts, (std::vector<Counts>{counts[0]}));
  EXPECT_EQ(run.event(0, 0).counts, 1u);
  EXPECT_EQ(run.event(1, 0).counts, 1u);
  EXPECT_EQ(run.event(1, 1).counts, 0u);
}

}  // namespace
}  // namespace foretrace::sim
