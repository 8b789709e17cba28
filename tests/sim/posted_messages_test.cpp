// Posted collectives as messages.
//
// In most tests L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns per byte, S = 1001
// bytes. Times in the comments are nanoseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "base/error.hpp"
#include "loggps_options.hpp"
#include "reacting_source.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using testing::HasSubstr;

SimulateOptions with(const AlgorithmTable& table) {
  SimulateOptions options = loggps();
  options.algorithms = &table;
  return options;
}

// One collective, blocking, or posted and completed at once.
struct Case {
  Cost collective = Cost::barrier;
  std::uint32_t algorithm = 0;
  int root = -1;
  std::uint64_t bytes = 0;
  std::vector<Time> starts;
};

// All collectives by the algorithm of that number.
class Choosing : public Programs {
 public:
  Choosing(int ranks, std::uint32_t number) : Programs(ranks), number_(number) {}
  bool next(WorldRank rank, Operation& operation) override {
    if (!Programs::next(rank, operation)) return false;
    if (operation.kind == trace::EventKind::collective ||
        operation.kind == trace::EventKind::icollective)
      operation.algorithm = number_;
    return true;
  }

 private:
  std::uint32_t number_;
};

// How many messages there are (as a time), and when each rank leaves.
std::vector<Time> leaves(const Case& one, bool posted, const SimulateOptions& options) {
  const int ranks = static_cast<int>(one.starts.size());
  Choosing source(ranks, one.algorithm);
  for (int r = 0; r < ranks; ++r) {
    const Time start = one.starts[static_cast<std::size_t>(r)];
    if (posted) {
      source.icollective(r, one.collective, 7, start, one.root, 0, one.bytes);
      source.wait(r, {7});
    } else {
      source.collective(r, one.collective, start, one.root, 0, one.bytes);
    }
  }
  source.finalize_all();
  const Replayed run = replay(source, options);
  std::vector<Time> all{Time::ps(static_cast<std::int64_t>(run.result.stats.messages))};
  for (int r = 0; r < ranks; ++r) all.push_back(run.leave(r, posted ? 1 : 0));
  return all;
}

// Where the rank does nothing else, a posted collective is over when the blocking one would be:
// every algorithm, on every network of LogGPS.
TEST(PostedMessages, AsTheBlockingOne) {
  const machine::Topology star =
      machine::make_topology("star:8?latency=300ns&bandwidth=1GB/s&header=60B");
  const AlgorithmTable table("openmpi");
  std::mt19937 random(1);
  for (int number = 0; number < static_cast<int>(Cost::kCount); ++number) {
    Case one;
    one.collective = static_cast<Cost>(number);
    const auto dependence = machine::dependence_of(one.collective);
    const bool rooted = dependence == machine::Dependence::all_for_root ||
                        dependence == machine::Dependence::root_for_all;
    const auto& algorithms = algorithms_for(one.collective);
    for (one.algorithm = 1; one.algorithm <= algorithms.size(); ++one.algorithm)
      for (const NetworkKind kind : {NetworkKind::loggps, NetworkKind::hops, NetworkKind::bus,
                                     NetworkKind::flow, NetworkKind::packet}) {
        one.starts.resize(2 + random() % 6);
        for (Time& start : one.starts) start = ns(random() % 4 == 0 ? random() % 9000 : 0);
        one.root = rooted ? static_cast<int>(random() % one.starts.size()) : -1;
        one.bytes = std::array{0u, 8u, 3000u, 70'000u}[random() % 4];
        SimulateOptions options = with(table);
        options.network.kind = kind;
        if (kind != NetworkKind::loggps) options.network.topology = &star;
        EXPECT_EQ(leaves(one, true, options), leaves(one, false, options))
            << machine::name_of(one.collective) << " " << algorithms[one.algorithm - 1].name
            << " of " << one.bytes << " bytes on " << one.starts.size() << " ranks, network "
            << static_cast<int>(kind);
      }
  }
}

// 801 bytes from rank 0: sent at 100, the last one there at 1500, taken at 1510. Who computes
// until 2000 has it before; who computes until 500 waits; the root waits for nobody.
TEST(PostedMessages, GoOnWhileTheRankComputes) {
  const AlgorithmTable table("openmpi,bcast=linear");
  for (const auto& [compute, leave] : {std::pair{2000, 2000}, {500, 1510}}) {
    Programs source(2);
    for (int r = 0; r < 2; ++r) {
      source.icollective(r, Cost::bcast, 1, {}, 0, 0, 801);
      source.wait(r, {1}, ns(compute));
    }
    source.finalize_all();
    const Replayed run = replay(source, with(table));
    EXPECT_EQ(run.leave(1, 1), ns(leave));
    EXPECT_EQ(run.wait(1, 1), ns(leave - compute));
    EXPECT_EQ(run.leave(0, 1), ns(compute));
  }
}

// A later round as well: rank 1 hands on at 1510 what it has, though it computes until 9000.
// Rank 2 has it 1510 later.
TEST(PostedMessages, LaterRoundsNeedNoCall) {
  const AlgorithmTable table("openmpi,bcast=chain");
  Programs source(3);
  for (int r = 0; r < 3; ++r) {
    source.icollective(r, Cost::bcast, 1, {}, 0, 0, 801);
    source.wait(r, {1}, ns(r == 1 ? 9000 : 0));
  }
  source.finalize_all();
  const Replayed run = replay(source, with(table));
  EXPECT_EQ(run.leave(2, 1), ns(3020));
  EXPECT_EQ(run.leave(1, 1), ns(9000));
}

// The message of the broadcast has the root's port at 0, for g = 50. So the root's own send
// begins at 50 and is over at 150; its message is there 1000 later (hops: 500 and a byte of 0.5).
TEST(PostedMessages, ShareThePortOfTheirRank) {
  const machine::Topology pair = machine::make_topology("star:2?latency=500ns&bandwidth=2GB/s");
  const AlgorithmTable table("openmpi,bcast=linear");
  for (const auto& [kind, there] :
       {std::pair{NetworkKind::loggps, ns(1150)}, {NetworkKind::hops, Time::ps(650'500)}}) {
    Programs source(2);
    source.icollective(0, Cost::bcast, 1, {}, 0, 0, 1);
    source.send(0, 1, 1);
    source.wait(0, {1});
    source.icollective(1, Cost::bcast, 1, {}, 0, 0, 1);
    source.recv(1, 0, 1);
    source.wait(1, {1});
    source.finalize_all();
    SimulateOptions options = with(table);
    options.network.kind = kind;
    if (kind == NetworkKind::hops) options.network.topology = &pair;
    const Replayed run = replay(source, options);
    EXPECT_EQ(run.leave(0, 1), ns(150));
    EXPECT_EQ(run.leave(1, 1), there + ns(10));
  }
}

// Two broadcasts of 100,000 bytes from ranks 0 and 1 to rank 2, whose link carries one byte in
// a nanosecond: 200 us for both, where each alone would take 100.
TEST(PostedMessages, ShareLinks) {
  const machine::Topology star = machine::make_topology("star:3?latency=0ns&bandwidth=1GB/s");
  const AlgorithmTable table("openmpi,bcast=linear");
  SimulateOptions options = with(table);
  options.network.kind = NetworkKind::flow;
  options.network.topology = &star;
  options.network.loggps = {};
  for (const bool both : {true, false}) {
    Programs source(3);
    std::array<trace::CommId, 2> comms{};
    for (int root = 0; root < 2; ++root)
      comms[static_cast<std::size_t>(root)] = source.add_comm({WorldRank(root), WorldRank(2)});
    for (int r = 0; r < 3; ++r) {
      if (r == 0 || r == 2) source.icollective(r, Cost::bcast, 1, {}, 0, comms[0], 100'000);
      if (both && r >= 1) source.icollective(r, Cost::bcast, 2, {}, 0, comms[1], 100'000);
      if (r == 2) source.wait(r, {1});
    }
    source.finalize_all();
    EXPECT_EQ(replay(source, options).leave(2, both ? 2 : 1), us(both ? 200 : 100));
  }
}

// The broadcast goes from rank 1 to 2, and on to 0. Before that, rank 2 sends rank 0 its part of
// the scatter, which was posted later. Were that one taken for the broadcast's, which rank 0
// waits for first, it would be over at 1100.
TEST(PostedMessages, OfSeveralAreNotMistaken) {
  const AlgorithmTable table("openmpi,bcast=chain,scatter=linear");
  SimulateOptions options = with(table);
  options.network.loggps = {};
  options.network.loggps.latency = ns(1000);
  Programs source(3);
  for (int r = 0; r < 3; ++r) {
    source.icollective(r, Cost::bcast, 1, {}, 1, 0, 8);
    source.icollective(r, Cost::scatter, 2, ns(100), 2, 0, 8);
    source.wait(r, {2});
    source.wait(r, {1});
  }
  source.finalize_all();
  const Replayed run = replay(source, options);
  EXPECT_EQ(run.leave(0, 2), ns(1100));
  EXPECT_EQ(run.leave(0, 3), ns(2000));
}

// Who looks for the end finds it where the messages have brought it.
TEST(PostedMessages, TestsFindTheEnd) {
  const AlgorithmTable table("openmpi,bcast=linear");
  ReactingSource p(2);
  for (int r = 0; r < 2; ++r) p.icollective(r, Cost::bcast, 1, {}, 0, 801);
  p.complete(1, {1}, Completing::test_all, ns(1400));         // too early
  p.complete(1, {1}, Completing::test_all).patience = us(9);  // looks until 1510
  p.complete(0, {1}, Completing::any);
  p.finalize_all();
  const Reaction r = react(p, with(table));
  EXPECT_EQ(r.of(1, 1).kind, trace::EventKind::call);
  EXPECT_EQ(r.leave(1, 2), ns(1510));
  EXPECT_EQ(r.leave(0, 1), ns(100));
}

// 1,000 bytes at 1 ns are combined after the exchange, which takes 1609.5.
TEST(PostedMessages, CombineOnTheirWay) {
  const AlgorithmTable table("openmpi,allreduce=recursive_doubling");
  SimulateOptions options = with(table);
  options.reduce_per_byte = 1e-9;
  Programs source(2);
  for (int r = 0; r < 2; ++r) {
    source.icollective(r, Cost::allreduce, 1, {}, -1, 0, 1000);
    source.wait(r, {1});
  }
  source.finalize_all();
  EXPECT_EQ(replay(source, options).leave(0, 1), Time::ps(1'609'500) + ns(1000));
}

// Rank 3 hears from rank 2 or 1, not from the root; so it waits for who has not posted.
TEST(PostedMessages, DeadlockNamesWhoIsMissing) {
  const AlgorithmTable table("openmpi,bcast=chain");
  ReactingSource p(3);
  p.icollective(0, Cost::bcast, 1, {}, 0, 8);
  p.complete(0, {1});
  p.recv(1, 2);
  p.icollective(2, Cost::bcast, 1, {}, 0, 8);
  p.complete(2, {1});
  std::string what;
  try {
    react(p, with(table));
  } catch (const Error& error) {
    what = error.what();
  }
  EXPECT_THAT(what, HasSubstr("rank 2 in event 2, MPI_Waitall of MPI_Ibcast (root 0)"));
  EXPECT_THAT(what, HasSubstr("rank 1 in event 1, MPI_Recv from rank 2"));
}

// A communicator that is freed while its collective is under way.
TEST(PostedMessages, OutliveTheirCommunicator) {
  class Freeing : public ReactingSource {
   public:
    using ReactingSource::ReactingSource;
    std::vector<trace::CommId> take_freed() override {
      if (++calls != 6) return {};
      return {0};
    }
    int calls = 0;
  };
  const AlgorithmTable table("openmpi,bcast=chain");
  Freeing p(3);
  for (int r = 0; r < 3; ++r) {
    p.icollective(r, Cost::bcast, 1, {}, 0, 801);
    p.icollective(r, Cost::bcast, 2, {}, 0, 801);
    p.complete(r, {1, 2});
  }
  p.finalize_all();
  static const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  p.restart(Pace::ready, true);
  MemorySink sink(p, {});
  const SimulateOptions options = with(table);
  EXPECT_GE(simulate(p, timing, options, sink).time, ns(3020));
}

}  // namespace
}  // namespace foretrace::sim
