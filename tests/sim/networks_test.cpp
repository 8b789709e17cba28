// loggps and hops by hand (docs/networks.md), and collectives as messages.
//
// In most tests L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns per byte, S = 1001
// bytes. Times in the comments are nanoseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loggps_options.hpp"
#include "programs.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using machine::SendMode;

// A message of 1 byte: sender 100, first byte there 1100, receiver +10.
TEST(LoggpsNetwork, EagerMessage) {
  Programs source(2);
  source.send(0, 1, 1);
  source.recv(1, 0, 1);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(100));
  EXPECT_EQ(run.wait(0, 0), Time());
  EXPECT_EQ(run.leave(1, 0), ns(1110));
  EXPECT_EQ(run.wait(1, 0), ns(1100));
}

// 801 bytes: 800 * 0.5 = 400 later than the first byte.
TEST(LoggpsNetwork, BytesAfterTheFirstTakeG) {
  Programs source(2);
  source.send(0, 1, 801);
  source.recv(1, 0, 801);
  source.finalize_all();
  EXPECT_EQ(replay(source, loggps()).leave(1, 0), ns(1510));
}

// An empty message must not be there a G before one of one byte.
TEST(LoggpsNetwork, EmptyMessageTakesNoG) {
  Programs source(2);
  source.send(0, 1, 0);
  source.recv(1, 0, 0);
  source.finalize_all();
  EXPECT_EQ(replay(source, loggps()).leave(1, 0), ns(1110));
}

// A receiver that is late pays its overhead alone.
TEST(LoggpsNetwork, LateReceiverWaitsForNobody) {
  Programs source(2);
  source.send(0, 1, 1);
  source.recv(1, 0, 1, ns(5000));
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(1, 0), ns(5010));
  EXPECT_EQ(run.wait(1, 0), Time());
}

// G = 0.08 ns: 1,001 bytes stream for 80 ns, 11 bytes for 0.8 ns.
TEST(LoggpsNetwork, GBelowOneNanosecondIsKept) {
  Programs source(2);
  source.send(0, 1, 11);
  source.recv(1, 0, 11);
  source.finalize_all();
  SimulateOptions options = loggps();
  options.network.loggps.gap_per_byte = 0.08e-9;
  EXPECT_EQ(replay(source, options).leave(1, 0), ns(1110) + Time::ps(800));
}

// The second message starts when the first, 401 bytes, has left: at g + 200 = 250.
TEST(LoggpsNetwork, GapBetweenTwoSends) {
  Programs source(2);
  source.send(0, 1, 401);
  source.send(0, 1, 1);
  source.recv(1, 0, 401);
  source.recv(1, 0, 1);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(100));
  EXPECT_EQ(run.leave(0, 1), ns(350));
  EXPECT_EQ(run.leave(1, 0), ns(1310));  // 100 + 1000 + 200, + 10
  EXPECT_EQ(run.leave(1, 1), ns(1360));  // 350 + 1000, + 10
}

// Two ranks send 401 bytes at once to a third: the second message has its last
// byte g + 200 after the first's, 1300.
TEST(LoggpsNetwork, ReceiverTakesOneMessageAfterTheOther) {
  Programs source(3);
  source.send(1, 0, 401);
  source.send(2, 0, 401);
  source.recv(0, 1, 401);
  source.recv(0, 2, 401);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1310));
  EXPECT_EQ(run.leave(0, 1), ns(1560));
}

// The message taken second was in before the first began to come in, at 6100 +
// ... so it does not wait for the door.
TEST(LoggpsNetwork, MessageThatWasInBeforePasses) {
  Programs source(3);
  source.send(1, 0, 401, ns(5000));  // arrives 6300, begins 6100
  source.send(2, 0, 401);            // arrives 1300
  source.recv(0, 1, 401);
  source.recv(0, 2, 401);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(6310));
  EXPECT_EQ(run.leave(0, 1), ns(6320));
}

// 2,001 bytes: request taken in at 1110, receiver there: answer taken in at 2120,
// data leaves from 2220 to 3220, is there at 4220.
TEST(LoggpsNetwork, RendezvousHasTheRepliesLatency) {
  Programs source(2);
  source.send(0, 1, 2001);
  source.recv(1, 0, 2001);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(3220));
  EXPECT_EQ(run.wait(0, 0), Time());
  EXPECT_EQ(run.leave(1, 0), ns(4230));
}

// The receiver comes at 3000, 1890 after the request. Taken in at 4010.
TEST(LoggpsNetwork, RendezvousSenderWaitsForTheReceiver) {
  Programs source(2);
  source.send(0, 1, 2001);
  source.recv(1, 0, 2001, ns(3000));
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(5110));
  EXPECT_EQ(run.wait(0, 0), ns(1890));
  EXPECT_EQ(run.leave(1, 0), ns(6120));
}

TEST(LoggpsNetwork, SynchronousSendIsARendezvousAtAnySize) {
  Programs source(2);
  source.send(0, 1, 1, {}, 0, SendMode::synchronous);
  source.recv(1, 0, 1);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(2220));
  EXPECT_EQ(run.leave(1, 0), ns(3230));
}

// Both partners: send leaves at 100, the other's message is there at 1100.
TEST(LoggpsNetwork, Sendrecv) {
  Programs source(2);
  source.sendrecv(0, 1, 1, 1);
  source.sendrecv(1, 0, 0, 1);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1110));
  EXPECT_EQ(run.leave(1, 0), ns(1110));
  EXPECT_EQ(run.wait(0, 0), ns(1000));
}

// Posted receives are completed as they arrive, 2 before 1, each with its o_r.
TEST(LoggpsNetwork, WaitallTakesMessagesAsTheyArrive) {
  Programs source(3);
  source.irecv(0, 1, 1, 1);
  source.irecv(0, 2, 1, 2);
  source.wait(0, {1, 2});
  source.send(1, 0, 1, ns(2000));  // arrives 3100
  source.send(2, 0, 1);            // arrives 1100
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 1), Time());
  EXPECT_EQ(run.leave(0, 2), ns(3110));
  EXPECT_EQ(run.wait(0, 2), ns(3090));
}

// A posted rendezvous send goes on while the rank computes.
TEST(LoggpsNetwork, PostedRendezvousOverlapsComputation) {
  Programs source(2);
  source.isend(0, 1, 2001, 1);
  source.wait(0, {1}, ns(10'000));
  source.recv(1, 0, 2001);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(100));
  EXPECT_EQ(run.leave(0, 1), ns(10'100));
  EXPECT_EQ(run.wait(0, 1), Time());
  EXPECT_EQ(run.leave(1, 0), ns(4230));
}

// Computation of 0.3 us between messages is not dropped.
TEST(LoggpsNetwork, ShortComputationIsKept) {
  Programs source(2);
  source.send(0, 1, 1, ns(300));
  source.recv(1, 0, 1);
  source.finalize_all();
  EXPECT_EQ(replay(source, loggps()).leave(1, 0), ns(1410));
}

TEST(LoggpsNetwork, RanksOnOneNodeHaveItsSpeed) {
  const machine::Topology topology =
      machine::make_topology("full:2?ranks_per_node=2&intra_latency=20ns&intra_bandwidth=1GB/s");
  Programs source(4);
  source.send(0, 1, 100);  // 100 + 20 + 100, + 10
  source.recv(1, 0, 100);
  source.send(2, 0, 1);  // to the other node
  source.recv(0, 2, 1);
  source.finalize_all();
  SimulateOptions options = loggps();
  options.network.topology = &topology;
  const Replayed run = replay(source, options);
  EXPECT_EQ(run.leave(1, 0), ns(230));
  EXPECT_EQ(run.leave(0, 1), ns(1110));
}

// ---- hops: start-up 10 ns, 1 GB/s = 1 ns a byte, o = 0 ----

SimulateOptions hops(const machine::Topology& topology) {
  SimulateOptions options;
  options.network.kind = NetworkKind::hops;
  options.network.topology = &topology;
  return options;
}

const machine::Topology& line() {
  static const machine::Topology topology =
      machine::make_topology("array:4?latency=10ns&bandwidth=1GB/s");
  return topology;
}

// When 100 bytes from rank 0 are at rank 3.
Time arrival_of_100_bytes(const SimulateOptions& options) {
  Programs source(4);
  source.send(0, 3, 100);
  source.recv(3, 0, 100);
  source.finalize_all();
  return replay(source, options).leave(3, 0);
}

// From 0 to 3 on a line: 3 hops. One block: 3 (10 + 100) = 330.
TEST(HopsNetwork, StoreAndForward) {
  EXPECT_EQ(arrival_of_100_bytes(hops(line())), ns(330));
}

// Blocks of 30 bytes: 4 of them, 3 (4 * 10 + 100) = 420.
TEST(HopsNetwork, StoreAndForwardInBlocks) {
  SimulateOptions options = hops(line());
  options.network.block = Bytes(30);
  EXPECT_EQ(arrival_of_100_bytes(options), ns(420));
}

// The head needs 30, the rest follows at 1 ns a byte: 130.
TEST(HopsNetwork, CutThrough) {
  SimulateOptions options = hops(line());
  options.network.cut_through = true;
  EXPECT_EQ(arrival_of_100_bytes(options), ns(130));
}

// A ring of 4 goes the other way round: 1 hop.
TEST(HopsNetwork, TopologyMatters) {
  const machine::Topology ring = machine::make_topology("ring:4?latency=10ns&bandwidth=1GB/s");
  EXPECT_EQ(arrival_of_100_bytes(hops(ring)), ns(110));
}

// Rank 3 on the processor beside rank 0's.
TEST(HopsNetwork, PlacementMatters) {
  SimulateOptions options = hops(line());
  using machine::NodeId;
  options.network.placement = {NodeId(0), NodeId(3), NodeId(2), NodeId(1)};
  EXPECT_EQ(arrival_of_100_bytes(options), ns(110));
}

TEST(HopsNetwork, NoWayIsAnError) {
  const machine::Topology graph =
      machine::parse_topology("[topology]\nincidence = [[1], []]\n", "t.toml");
  Programs source(2);
  source.send(1, 0, 100);
  source.recv(0, 1, 100);
  source.finalize_all();
  EXPECT_THAT([&] { replay(source, hops(graph)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("no way from 1 to 0")));
}

TEST(HopsNetwork, TooSmallTopologyIsAnError) {
  const machine::Topology ring = machine::make_topology("ring:3?latency=10ns&bandwidth=1GB/s");
  Programs source(4);
  source.finalize_all();
  EXPECT_THAT([&] { replay(source, hops(ring)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("has 3 processors")));
}

// ---- collectives as messages, loggps ----

// Recursive doubling on 4 ranks: two exchanges of 1110 each, the second one's
// sends start at 1110.
TEST(ExpandedCollectives, Allreduce) {
  Programs source(4);
  for (int r = 0; r < 4; ++r) source.collective(r, Cost::allreduce, r == 2 ? ns(500) : Time());
  source.finalize_all();
  const AlgorithmTable table("openmpi,allreduce=recursive_doubling");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  const Replayed run = replay(source, options);
  // Rank 2 begins at 500 and finds rank 3's message at 1100; its own is there at
  // 1600. So rank 3 begins its second step at 1610, which rank 1 waits for; the
  // others begin theirs at 1110.
  EXPECT_EQ(run.result.stats.messages, 8u);
  EXPECT_EQ(run.leave(0, 0), ns(2220));
  EXPECT_EQ(run.leave(1, 0), ns(1610 + 1110));
  EXPECT_EQ(run.leave(2, 0), ns(2220));
  EXPECT_EQ(run.leave(3, 0), ns(2220));
  EXPECT_EQ(run.event(0, 0).enter, Time());
  EXPECT_EQ(run.event(2, 0).compute, ns(500));
  EXPECT_EQ(run.trace.ranks[0].size(), 2u);
}

// All collectives by the algorithm of that number; 0: as the table says.
class Choosing : public Programs {
 public:
  Choosing(int ranks, std::uint32_t number) : Programs(ranks), number_(number) {}
  bool next(WorldRank rank, Operation& operation) override {
    if (!Programs::next(rank, operation)) return false;
    if (operation.kind == trace::EventKind::collective) operation.algorithm = number_;
    return true;
  }

 private:
  std::uint32_t number_;
};

// An algorithm that a call asks for takes what it takes where the table has it: its wait is for all
// of its requests, whatever its number.
TEST(ExpandedCollectives, AlgorithmOfTheCall) {
  const machine::Topology ring = machine::make_topology("ring:4?latency=10ns&bandwidth=1GB/s");
  const auto& algorithms = algorithms_for(Cost::alltoall);
  for (std::uint32_t number = 1; number <= algorithms.size(); ++number) {
    const auto run = [&ring](std::uint32_t own, const std::string& choices) {
      Choosing source(4, own);
      for (int r = 0; r < 4; ++r) source.collective(r, Cost::alltoall, ns(100 * r), -1, 0, 4096);
      source.finalize_all();
      const AlgorithmTable table(choices);
      SimulateOptions options = loggps();
      options.network.kind = NetworkKind::flow;
      options.network.topology = &ring;
      options.algorithms = &table;
      return replay(source, options).result.time;
    };
    const std::string name(algorithms[number - 1].name);
    EXPECT_EQ(run(number, "openmpi"), run(0, "openmpi,alltoall=" + name)) << name;
  }
}

// When rank 0 leaves a reduce, 308 us by the equation. It was measured with 2 to 4 ranks.
Time leave_of_reduce(int ranks, bool valid, std::uint32_t algorithm) {
  machine::MachineModel model = test_machine();
  model.functions["reduce"].measured = machine::MeasuredRange{{2, 4}, Bytes(0), Bytes(100)};
  model.functions["reduce"].valid = valid;
  Choosing source(ranks, algorithm);
  for (int r = 0; r < ranks; ++r) source.collective(r, Cost::reduce, Time(), 0);
  source.finalize_all();
  const AlgorithmTable table("openmpi");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  options.measured_collectives = true;
  return replay(source, options, model).leave(0, 0);
}

// The equation of what was measured with so many ranks; messages for the rest, for what cannot be
// trusted, and for a call that says by which algorithm.
TEST(ExpandedCollectives, EquationsOfWhatWasMeasured) {
  EXPECT_EQ(leave_of_reduce(2, true, 0), us(304));
  EXPECT_EQ(leave_of_reduce(3, true, 0), us(306));
  EXPECT_EQ(leave_of_reduce(4, true, 0), us(308));
  EXPECT_LT(leave_of_reduce(5, true, 0), us(10));
  EXPECT_LT(leave_of_reduce(4, false, 0), us(10));
  EXPECT_LT(leave_of_reduce(4, true, 1), us(10));
}

// Rank 1 comes at 10,000 to a gatherv of 2,001 bytes, which are a rendezvous. MPICH's root has
// posted all its receives: rank 2 is free at 3220, as if it were alone. Open MPI's takes one after
// the other: rank 1's until 10,000 + 4230; only then it answers rank 2, whose data leaves 2110
// later.
TEST(ExpandedCollectives, WhoWaitsInAGatherv) {
  for (const auto& [library, free] : {std::pair{"mpich", 3220}, {"openmpi", 14'230 + 2110}}) {
    Programs source(3);
    for (int r = 0; r < 3; ++r)
      source.collective(r, Cost::gatherv, ns(r == 1 ? 10'000 : 0), 0, 0, 2001);
    source.finalize_all();
    const AlgorithmTable table(library);
    SimulateOptions options = loggps();
    options.algorithms = &table;
    EXPECT_EQ(replay(source, options).leave(2, 0), ns(free)) << library;
  }
}

// The barrier of ranks 1 and 3 of a sub-communicator is theirs alone.
TEST(ExpandedCollectives, SubCommunicator) {
  Programs source(4);
  const trace::CommId odd = source.add_comm({WorldRank(1), WorldRank(3)});
  source.collective(1, Cost::barrier, {}, -1, odd);
  source.collective(3, Cost::barrier, {}, -1, odd);
  source.finalize_all();
  const AlgorithmTable table("openmpi,barrier=dissemination");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  const Replayed run = replay(source, options);
  EXPECT_EQ(run.result.stats.messages, 2u);
  EXPECT_EQ(run.leave(1, 0), ns(1110));
  EXPECT_EQ(run.leave(0, 0), Time());
}

// Members that do not make the same call are told apart by name.
TEST(ExpandedCollectives, MismatchIsAnError) {
  Programs source(2);
  source.collective(0, Cost::barrier);
  source.collective(1, Cost::allreduce);
  source.finalize_all();
  const AlgorithmTable table("openmpi");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  EXPECT_THAT([&] { replay(source, options); },
              testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("do not match"),
                                                           testing::HasSubstr("MPI_barrier"),
                                                           testing::HasSubstr("MPI_allreduce"))));
}

// One exchange of 1,000 bytes, 100 + 1000 + 499.5 + 10, then 1,000 bytes at 1 ns.
TEST(ExpandedCollectives, ReductionTakesTime) {
  Programs source(2);
  source.collective(0, Cost::allreduce, {}, -1, 0, 1000);
  source.collective(1, Cost::allreduce, {}, -1, 0, 1000);
  source.finalize_all();
  const AlgorithmTable table("openmpi,allreduce=recursive_doubling");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  options.reduce_per_byte = 1e-9;
  EXPECT_EQ(replay(source, options).leave(0, 0), Time::ps(1'609'500) + ns(1000));
}

// The same by what is combined, as the model says it: 3 ns a byte; where the call does not say,
// 2 ns. --reduction comes before that.
TEST(ExpandedCollectives, ReductionTakesTheTimeOfItsClass) {
  const machine::Reduction minimum =
      machine::reduction_of(machine::Combining::minmax, machine::Operand::int32);
  machine::MachineModel model = test_machine();
  model.reductions = {{machine::Reduction::sum_double, 2e-9}, {minimum, 3e-9}};
  for (const machine::Reduction reduction : {machine::Reduction::none, minimum}) {
    Programs source(2);
    for (int rank = 0; rank < 2; ++rank) {
      Operation operation = source.make(trace::EventKind::collective, "MPI_Allreduce", {});
      operation.collective = Cost::allreduce;
      operation.bytes = Bytes(1000);
      operation.reduction = reduction;
      source.add(WorldRank(rank), operation);
    }
    source.finalize_all();
    const AlgorithmTable table("openmpi,allreduce=recursive_doubling");
    SimulateOptions options = loggps();
    options.algorithms = &table;
    const int each = reduction == minimum ? 3 : 2;
    EXPECT_EQ(replay(source, options, model).leave(0, 0), Time::ps(1'609'500) + ns(1000 * each));
    options.reduce_per_byte = 1e-9;
    EXPECT_EQ(replay(source, options, model).leave(0, 0), Time::ps(1'609'500) + ns(1000));
  }
}

// MPI_Reduce_local of 1,000 bytes at 3 ns, twice at once.
TEST(Combining, ACallOfItsOwnRank) {
  machine::MachineModel model = test_machine();
  model.reductions = {{machine::Reduction::sum_double, 3e-9}};
  Programs source(1);
  Operation operation = source.make(trace::EventKind::call, "MPI_Reduce_local", {});
  operation.bytes = Bytes(1000);
  operation.count = 2;
  operation.reduction = machine::Reduction::sum_double;
  source.add(WorldRank(0), operation);
  source.finalize_all();
  const Replayed run = replay(source, {}, model);
  EXPECT_EQ(run.leave(0, 0), ns(6000));
  EXPECT_TRUE(run.result.unknowns.missing.empty());
  EXPECT_EQ(run.event(0, 0).reduction, machine::Reduction::sum_double);
}

}  // namespace
}  // namespace foretrace::sim
