// Times: tests/sim/programs.hpp. An empty message: send 30, recv 60, recvmin 30 us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "explain/lanes.hpp"
#include "explain/path_stretches.hpp"
#include "explain/what_if.hpp"
#include "explained.hpp"
#include "topology/builders.hpp"

namespace foretrace::explain {
namespace {

using machine::Cost;
using trace::EventKind;

TEST(CriticalPath, PassesThroughTheLateSender) {
  Programs programs(2);
  send(programs, 0, 1, us(500), "send");
  recv(programs, 1, 0, us(100), "recv");
  programs.finalize(0);
  programs.finalize(1, us(50));
  // Rank 1 leaves at 500 + 60 and ends at 610.
  const Explanation explanation = explain_program(programs).explanation;
  EXPECT_EQ(explanation.time, us(610));
  EXPECT_EQ(explanation.path.parts.sum(), us(610));
  EXPECT_EQ(explanation.path.parts.compute, us(550));
  EXPECT_EQ(explanation.path.parts.latency, us(60));
  EXPECT_EQ(explanation.path.messages, 1);
}

TEST(CriticalPath, IsDrawnAsStretchesOnRanks) {
  Programs programs(2);
  send(programs, 0, 1, us(500), "send");
  recv(programs, 1, 0, us(100), "recv");
  programs.finalize(0);
  programs.finalize(1, us(50));
  const auto run = explain_program(programs).run;
  const std::vector<Stretch> stretches = path_stretches(run, critical_path(run));
  // The message is on its way for 60 us.
  ASSERT_EQ(stretches.size(), 2);
  EXPECT_EQ(stretches[0].rank, WorldRank(0));
  EXPECT_EQ(stretches[0].from, Time());
  EXPECT_EQ(stretches[0].to, us(500));
  EXPECT_EQ(stretches[1].rank, WorldRank(1));
  EXPECT_EQ(stretches[1].from, us(560));
  EXPECT_EQ(stretches[1].to, us(610));
}

TEST(CriticalPath, SplitsBytesFromLatency) {
  Programs programs(2);
  send(programs, 0, 1, us(500), "send", 800);
  recv(programs, 1, 0, us(100), "recv", 800);
  programs.finalize_all();
  // recv 60 + 0.5 for each of 100 elements.
  const Parts parts = explain_program(programs).explanation.path.parts;
  EXPECT_EQ(parts.latency, us(60));
  EXPECT_EQ(parts.bytes, us(50));
}

// A rendezvous: o_s 1, the request 10 and o_r 2, the answer 10 and o_r 2, o_s 1 for the data, 10
// and its bytes, o_r 2.
TEST(CriticalPath, ProcessorsTakeInARendezvous) {
  const machine::Topology pair = machine::make_topology("full:2?latency=10us&bandwidth=1GB/s");
  for (const auto kind :
       {sim::NetworkKind::loggps, sim::NetworkKind::hops, sim::NetworkKind::flow}) {
    sim::NetworkOptions network;
    network.kind = kind;
    if (kind != sim::NetworkKind::loggps) network.topology = &pair;
    network.loggps.latency = us(10);
    network.loggps.overhead_send = us(1);
    network.loggps.overhead_recv = us(2);
    network.loggps.gap_per_byte = 1e-9;
    network.loggps.sync_threshold = Bytes(0);
    Programs programs(2);
    send(programs, 0, 1, us(100), "send", 20'001);
    recv(programs, 1, 0, us(0), "recv", 20'001);
    programs.finalize_all();
    const Parts parts = explain_program(programs, network).explanation.path.parts;
    EXPECT_EQ(parts.compute, us(100));
    EXPECT_EQ(parts.overhead, us(8));
    EXPECT_EQ(parts.latency, us(30));
    EXPECT_EQ(parts.bytes, kind == sim::NetworkKind::loggps ? us(20) : us(20) + Time::ns(1));
    EXPECT_EQ(parts.queue, Time());
  }
}

TEST(Efficiencies, MultiplyToTheParallelOne) {
  Programs programs(2);
  send(programs, 0, 1, us(300), "send");
  recv(programs, 1, 0, us(100), "recv");
  programs.finalize_all();
  // Time 360; compute 300 and 100; ideal network: 300.
  const Efficiency efficiency = explain_program(programs).explanation.efficiency;
  EXPECT_DOUBLE_EQ(efficiency.parallel, 200.0 / 360);
  EXPECT_DOUBLE_EQ(efficiency.load_balance, 200.0 / 300);
  EXPECT_DOUBLE_EQ(efficiency.serialisation, 1);
  EXPECT_DOUBLE_EQ(efficiency.transfer, 300.0 / 360);
}

TEST(Waits, LateSender) {
  Programs programs(2);
  send(programs, 0, 1, us(500), "send");
  recv(programs, 1, 0, us(100), "recv");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const WaitGroup* group = explained.waits_at("recv");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->kind, WaitKind::late_sender);
  // It enters at 100; alone it would leave at 130, it leaves at 560. The sender came at 500.
  EXPECT_EQ(group->time, us(430));
  EXPECT_EQ(group->late_time, us(400));
  EXPECT_EQ(group->late_rank, WorldRank(0));
  EXPECT_EQ(group->late->function, "send");
  EXPECT_EQ(group->blamed_kind, DelayKind::computation);
  EXPECT_EQ(group->blamed_time, us(400));
}

TEST(Waits, LateReceiver) {
  Programs programs(2);
  send(programs, 0, 1, us(100), "send", 16000);
  recv(programs, 1, 0, us(500), "recv", 16000);
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const WaitGroup* group = explained.waits_at("send");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->kind, WaitKind::late_receiver);
  EXPECT_EQ(group->time, us(400));
  EXPECT_EQ(group->late->function, "recv");
}

// A port sends the data when the receiver is there; the sender waits for that end.
TEST(Waits, LateReceiverAtAPort) {
  Programs programs(2);
  send(programs, 0, 1, us(100), "send", 16000);
  recv(programs, 1, 0, us(500), "recv", 16000);
  programs.finalize_all();
  sim::NetworkOptions network;
  network.kind = sim::NetworkKind::loggps;
  network.loggps.latency = us(5);
  network.loggps.overhead_send = network.loggps.overhead_recv = us(1);
  network.loggps.gap_per_byte = 1e-9;
  network.loggps.sync_threshold = Bytes(1000);
  const Explained explained = explain_program(programs, network);
  const WaitGroup* group = explained.waits_at("send");
  ASSERT_TRUE(group);
  EXPECT_EQ(name_of(group->kind), name_of(WaitKind::late_receiver));
  EXPECT_EQ(group->late->function, "recv");
  EXPECT_EQ(group->late_rank, WorldRank(1));
}

// Who waits, and for whom, in each family of collectives; all enter 100 us apart.
struct CollectiveCase {
  Cost collective;
  int root;
  WaitKind kind;
  std::int64_t waited;  // us, over all ranks
};

class CollectiveWaits : public testing::TestWithParam<CollectiveCase> {};

TEST_P(CollectiveWaits, AreNamedAsInScalasca) {
  const CollectiveCase& given = GetParam();
  Programs programs(3);
  for (int rank = 0; rank < 3; ++rank)
    programs.collective(rank, given.collective, us(100 * (rank == given.root ? 3 : rank)),
                        given.root);
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_EQ(explanation.waits.size(), 1u);
  EXPECT_EQ(explanation.waits[0].kind, given.kind);
  EXPECT_EQ(explanation.waits[0].time, us(given.waited));
}

INSTANTIATE_TEST_SUITE_P(
    All, CollectiveWaits,
    testing::Values(CollectiveCase{Cost::barrier, -1, WaitKind::wait_at_barrier, 300},
                    CollectiveCase{Cost::allreduce, -1, WaitKind::wait_at_nxn, 300},
                    // The root enters at 300, the others at 0 and 100 or 200.
                    CollectiveCase{Cost::bcast, 2, WaitKind::late_broadcast, 500}));

TEST(Waits, EarlyReduce) {
  Programs programs(3);
  for (int rank = 0; rank < 3; ++rank) programs.collective(rank, Cost::reduce, us(100 * rank), 0);
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_EQ(explanation.waits.size(), 1u);
  EXPECT_EQ(explanation.waits[0].kind, WaitKind::early_reduce);
  EXPECT_EQ(explanation.waits[0].time, us(200));
  EXPECT_EQ(explanation.waits[0].late_rank, WorldRank(2));
}

TEST(Phases, HaveEfficienciesOfTheirOwn) {
  Programs programs(2);
  const auto mark = [&](int rank, EventKind kind) {
    programs.add(WorldRank(rank), programs.make(kind, "solve", us(0)));
  };
  for (int rank = 0; rank < 2; ++rank) {
    mark(rank, EventKind::phase_begin);
    programs.collective(rank, Cost::barrier, us(rank == 0 ? 100 : 300));
    mark(rank, EventKind::phase_end);
  }
  programs.finalize(0, us(60));
  programs.finalize(1, us(60));
  // The barrier takes 40: solve 340 on both ranks, 300 on an ideal network.
  const Explanation explanation = explain_program(programs).explanation;
  ASSERT_EQ(explanation.phases.size(), 2u);
  const PhaseEfficiency& solve = explanation.phases[0];
  EXPECT_EQ(solve.phase, "solve");
  EXPECT_EQ(solve.time, us(340));
  EXPECT_EQ(solve.ideal, us(300));
  EXPECT_DOUBLE_EQ(solve.efficiency.parallel, 200.0 / 340);
  EXPECT_DOUBLE_EQ(solve.efficiency.load_balance, 200.0 / 300);
  EXPECT_DOUBLE_EQ(solve.efficiency.serialisation, 1);
  EXPECT_DOUBLE_EQ(solve.efficiency.transfer, 300.0 / 340);
  EXPECT_EQ(explanation.phases[1].time, us(60));
  EXPECT_DOUBLE_EQ(explanation.phases[1].efficiency.parallel, 1);
}

TEST(Curves, AreExact) {
  Programs programs(2);
  send(programs, 0, 1, us(500), "late");
  recv(programs, 1, 0, us(100), "recv");
  programs.finalize(0);
  programs.finalize(1, us(50));
  const Explanation explanation = explain_program(programs).explanation;
  for (const Region& region : explanation.regions) {
    if (region.place.function != "late") continue;
    ASSERT_EQ(region.curve.size(), kSpeedUps.size());
    // late / f + 60 + 50, but the receiver is there at 100 only.
    EXPECT_EQ(region.curve[3], us(360));  // 2 x
    EXPECT_EQ(region.curve[4], us(235));  // 4 x
    EXPECT_EQ(region.curve[6], us(180));  // 100 + 30 (received at once) + 50
    EXPECT_EQ(region.curve[3], region.twice_as_fast);
    return;
  }
  FAIL() << "no region before the late send";
}

TEST(Waits, OfALoopAreOneGroup) {
  Programs programs(2);
  for (int i = 0; i < 1000; ++i) {
    send(programs, 0, 1, us(100), "send");
    recv(programs, 1, 0, us(10), "recv");
  }
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  const WaitGroup* group = explained.waits_at("recv");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->count, 1000u);
  EXPECT_EQ(explained.first("wait")->place.function, "recv");
}

// As figure 4 of Kanbe et al. 2003: the path leads from the receiver at the end to the
// sender that it waited for, to that one's own receive, and on to the rank that was late.
TEST(Domino, LeadsFromTheReceiverToTheSenders) {
  Programs programs(3);
  recv(programs, 0, 1, us(100), "r0");  // waits for 1, which waits for 2
  recv(programs, 1, 2, us(50), "r1");
  send(programs, 1, 0, us(10), "s1");
  send(programs, 2, 1, us(800), "s2");
  programs.finalize(0, us(100));
  programs.finalize(1);
  programs.finalize(2);
  // r1 leaves at 860, s1 enters at 870, r0 leaves at 930, the run ends at 1030. Without
  // r0's wait rank 0 ends at 230 and rank 1 at 900. Without r1's, r1 leaves at 80, s1
  // enters at 90, r0 leaves at 150; rank 2 ends at 830, as the last.
  const Explanation explanation = explain_program(programs).explanation;
  EXPECT_EQ(explanation.time, us(1030));
  std::vector<std::string> path;
  for (const Domino& step : explanation.domino) path.push_back(step.place.function);
  EXPECT_THAT(path, testing::ElementsAre("r0", "s1", "r1", "s2"));
  EXPECT_EQ(explanation.domino[0].time_without, us(900));
  EXPECT_EQ(explanation.domino[2].time_without, us(830));
}

// Rank 1 waits 400 for rank 0; rank 2 ends at 610, 100 before rank 1 does.
TEST(Findings, SayHowFarTheirGainGoes) {
  Programs programs(3);
  send(programs, 0, 1, us(500), "late");
  recv(programs, 1, 0, us(130), "recv");
  programs.finalize(0);
  programs.finalize(1, us(150));
  programs.finalize(2, us(610));
  const Explained explained = explain_program(programs);
  EXPECT_EQ(explained.explanation.time, us(710));
  const Finding* wait = explained.first("wait");
  ASSERT_TRUE(wait);
  // 560 - 160: from 400 to 300 of it the run ends with rank 2.
  EXPECT_EQ(wait->gain, us(100));
  ASSERT_TRUE(wait->holds);
  EXPECT_NEAR(*wait->holds, 0.25, 1.0 / 256);
  EXPECT_NEAR(wait->gain_there.seconds(), 100e-6, 2e-6);
  EXPECT_NEAR(wait->enough, 0.25, 1.0 / 256);
  EXPECT_EQ(wait->effort, Effort::calls);
  EXPECT_EQ(wait->check, "--zero-wait recv");
}

// Two waits of one chain: the run is 60 shorter when both are 30 shorter.
TEST(Findings, GainInProportionAlongAChain) {
  Programs programs(3);
  send(programs, 0, 1, us(500), "s0");
  recv(programs, 1, 0, us(100), "recv");
  send(programs, 1, 2, us(300), "s1");
  recv(programs, 2, 1, us(100), "recv");
  programs.finalize(0);
  programs.finalize(1);
  programs.finalize(2, us(500));
  const Explained explained = explain_program(programs);
  const Finding* wait = explained.first("wait");
  ASSERT_TRUE(wait && wait->holds);
  // recv leaves at 560 (430 of it waiting), s1 enters at 860, recv leaves at 920 (790 waiting).
  // Each picosecond less of both waits brings two, until rank 2 does not wait any more: 395.
  EXPECT_NEAR(*wait->holds, 0.5, 1.0 / 256);
}

TEST(Findings, TellAnImbalanceOnce) {
  Programs programs(2);
  for (int rank = 0; rank < 2; ++rank) {
    programs.collective(rank, Cost::barrier, rank == 0 ? us(100) : us(300));
    programs.collective(rank, Cost::allreduce, rank == 0 ? us(100) : us(200));
  }
  programs.finalize_all();
  const Explanation explanation = explain_program(programs).explanation;
  // All equalised, both ranks compute 200 + 150: 150 less, more than the 100 and 50 of the places
  // alone.
  int imbalances = 0;
  for (const Finding& finding : explanation.findings) {
    if (finding.kind != "imbalance") continue;
    ++imbalances;
    EXPECT_TRUE(finding.whole_phase);
    EXPECT_EQ(finding.gain, us(150));
  }
  EXPECT_EQ(imbalances, 1);
}

// One short wait is on the critical path; waits ten times as long are not.
TEST(Findings, NameTheCulpritAmongLongerHarmlessWaits) {
  std::mt19937 random(7);
  const auto between = [&random](int least, int most) {
    return us(std::uniform_int_distribution<int>(least, most)(random));
  };
  for (int plant = 0; plant < 200; ++plant) {
    const int pairs = 2 + static_cast<int>(random() % 4);
    const int culprit = static_cast<int>(random() % static_cast<unsigned>(pairs));
    Programs programs(2 * pairs);
    for (int pair = 0; pair < pairs; ++pair) {
      const int sender = 2 * pair;
      const int receiver = sender + 1;
      if (pair == culprit) {
        // 8000 + wait + 2000 at least, all else ends before 9000.
        const Time wait = between(50, 400);
        send(programs, sender, receiver, us(8000) + wait, "late");
        recv(programs, receiver, sender, us(8000), "culprit");
        programs.finalize(sender);
        programs.finalize(receiver, us(2000));
      } else {
        send(programs, sender, receiver, between(5000, 8000), "harmless send");
        recv(programs, receiver, sender, between(0, 500), "harmless");
        programs.finalize(sender);
        programs.finalize(receiver, between(0, 800));
      }
    }
    const Explained explained = explain_program(programs);
    EXPECT_GT(explained.explanation.longest.front().wait, us(4000));
    ASSERT_TRUE(explained.first("wait")) << plant;
    EXPECT_EQ(explained.first("wait")->place.function, "culprit") << plant;
    EXPECT_EQ(explained.explanation.best.front().place.function, "culprit") << plant;
    for (const Finding& finding : explained.explanation.findings)
      EXPECT_TRUE(finding.kind == "imbalance" || finding.place.function == "culprit") << plant;
  }
}

// Where messages share ports, the best findings are simulated.
TEST(Findings, WithoutWaitsAreSimulatedOnPorts) {
  sim::NetworkOptions network;
  network.kind = sim::NetworkKind::loggps;
  network.loggps.latency = us(10);
  network.loggps.overhead_send = network.loggps.overhead_recv = us(1);
  network.loggps.gap_per_byte = 1e-9;
  Programs programs(3);
  send(programs, 0, 2, us(100), "send", 20001);
  send(programs, 1, 2, us(95), "early send", 20001);
  recv(programs, 2, 0, us(5), "recv", 20001);
  recv(programs, 2, 1, us(0), "early recv", 20001);
  recv(programs, 0, 2, us(0), "last", 0);
  send(programs, 2, 0, us(50), "reply");
  programs.finalize_all();
  // Rank 1's message has the receiver's port from 106 to 126, rank 0's from 126 to 146. Rank 2
  // has both at 148, its reply is sent at 199, there at 209: 210.
  // Without the wait in recv rank 2 leaves it at 6, early recv at 127, sends at 178: 189.
  ExplainOptions how;
  how.estimate_waits = true;
  const Explained explained = explain_program(programs, network, how);
  EXPECT_EQ(explained.explanation.time, us(210));
  const Finding* best = explained.first("wait");
  ASSERT_TRUE(best);
  for (const Finding& finding : explained.explanation.findings) {
    if (finding.place.function != "recv") continue;
    EXPECT_EQ(finding.predicted, us(189));
    EXPECT_FALSE(finding.estimated);
    EXPECT_TRUE(finding.verified);
    best = nullptr;
  }
  EXPECT_FALSE(best) << "no finding for recv";
  // Nobody waits: rank 0 sends at 101 and takes 1 us to receive.
  EXPECT_EQ(explained.explanation.bounds.no_waits, us(102));
}

TEST(CriticalPath, TellsByWhichMessagesItPasses) {
  Programs programs(3);
  for (int round = 0; round < 2; ++round) {
    send(programs, 0, 1, us(100), "to one");
    recv(programs, 1, 0, us(0), "at one");
    send(programs, 1, 0, us(100), "back");
    recv(programs, 0, 1, us(0), "at zero");
  }
  programs.finalize_all();
  const PathSummary path = explain_program(programs).explanation.path;
  EXPECT_EQ(path.messages, 4u);
  ASSERT_EQ(path.passages.size(), 2u);
  Time in_all;
  for (const Passage& passage : path.passages) {
    EXPECT_EQ(passage.count, 2u);
    EXPECT_EQ(passage.to.function, passage.from.function == "back" ? "at zero" : "at one");
    in_all += passage.parts.sum();
  }
  // 400 us are computation.
  EXPECT_EQ(in_all, explain_program(programs).explanation.time - us(400));
}

// A rendezvous takes recv, 60, after both are there; recvmin, for which an eager message's
// receiver stays at least, is longer here.
TEST(WhatIf, TakingAWaitAwayMakesNoCallLonger) {
  machine::MachineModel model = sim::test_machine();
  model.functions["recvmin"].regimes[0].equation.constant.value = 200;
  model.loggps.sync_threshold = Bytes(0);
  const machine::Timing timing(model, machine::Bound::avg);
  Programs programs(2);
  send(programs, 0, 1, us(10), "send");
  recv(programs, 1, 0, us(20), "recv");
  programs.finalize_all();
  const auto simulated = [&](sim::Source& source, sim::Sink& sink, sim::Dependences* log) {
    sim::SimulateOptions options;
    options.order = sim::ReadyOrder::by_time;
    options.dependences = log;
    return sim::simulate(source, timing, options, sink).time;
  };
  explain::Run run;
  programs.rewind();
  RunSink sink(programs, run);
  EXPECT_EQ(simulated(programs, sink, &run.graph), us(120));
  sink.finish();
  Edits edits;
  take_waits_away(
      run, [](const Call& call) { return call.kind == EventKind::recv; }, edits);
  auto fresh = std::make_unique<Programs>(programs);
  fresh->rewind();
  EditedSource edited(std::move(fresh), run, edits);
  sim::NullSink nothing;
  EXPECT_EQ(simulated(edited, nothing, nullptr), us(120));
  EXPECT_EQ(time_with(run, edits), us(120));
}

TEST(Sensitivity, FindsTheBreakPoint) {
  // 3 us + 2 L, or 10 us: they meet at 3.5 us.
  const auto time = [](double latency) {
    return std::max(us(3) + Time::from_seconds(2 * latency), us(10));
  };
  const Sensitivity found = find_sensitivity({"L", "s", 1e-6, 20e-6, 1e-12, 0, 64}, time);
  EXPECT_EQ(found.slope, 0);
  ASSERT_EQ(found.break_points.size(), 1u);
  EXPECT_NEAR(found.break_points[0], 3.5e-6, 1e-11);
  EXPECT_NEAR(found.pieces[1].slope, 2, 1e-6);
  // 10.1 us at L = 3.55 us.
  EXPECT_NEAR(found.tolerance[0].value(), 3.55e-6, 1e-11);
  EXPECT_TRUE(found.exact);
}

// On random programs, within each piece; where no message gets into another's way.
TEST(Sensitivity, SlopesAreFiniteDifferences) {
  static const machine::MachineModel model = sim::test_machine();
  static const machine::Timing timing(model, machine::Bound::avg);
  const machine::Topology full = machine::make_topology("full:5");
  int compared = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    constexpr unsigned kRanks = 5;
    Programs programs(kRanks);
    for (int i = 0; i < 30; ++i) {
      const auto from = static_cast<int>(random() % kRanks);
      const auto to = static_cast<int>((static_cast<unsigned>(from) + 1 + random() % 4) % kRanks);
      send(programs, from, to, us(random() % 20), "send", random() % 9000);
      recv(programs, to, from, us(random() % 20), "recv", 9000);
    }
    programs.finalize_all();
    const auto time_at = [&](double latency) {
      sim::SimulateOptions options;
      options.network.kind = sim::NetworkKind::hops;
      options.network.topology = &full;
      options.network.loggps.latency = Time::from_seconds(latency);
      options.network.loggps.overhead_send = options.network.loggps.overhead_recv = us(1);
      options.network.loggps.gap = us(1);
      options.network.loggps.gap_per_byte = 1e-9;
      programs.rewind();
      sim::NullSink nothing;
      return sim::simulate(programs, timing, options, nothing).time;
    };
    const Sensitivity found = find_sensitivity({"L", "s", 5e-6, 50e-6, 1e-12, 0, 64}, time_at);
    for (const Piece& piece : found.pieces) {
      // Two points within it, in whole picoseconds.
      const double whole = std::floor((piece.to - piece.from) / 3e-12) * 1e-12;
      if (!found.exact || whole < 1e-9) continue;
      const double first = piece.from + whole;
      const double rise = (time_at(first + whole) - time_at(first)).seconds();
      EXPECT_NEAR(rise / whole, piece.slope, 1e-6 + 2e-12 / whole) << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace foretrace::explain
