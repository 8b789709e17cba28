// Messages that move only while their receiver is in a call (docs/theory.md, "Receivers that
// compute"), by hand.
//
// P = 257 bytes, S = 8192. In most tests rank 1 computes while rank 0 waits for it. Microseconds
// on test_machine():
//
//     bytes      send ssend recv recvmin isend1 isend2 overlap irecv1 irecv2 overlap sendrecv
//     0            30   100   60      30     30     10       3     40      5     0.5       90
//     800          39   110  110      70     39   10.1       3     40     55     0.5      150
//     16000       210   300 1060     830    210     12       3     40   1005     0.5     1290
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "loggps_options.hpp"
#include "reacting_source.hpp"
#include "topology/builders.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using machine::SendMode;
using testing::SizeIs;
using trace::EventKind;

machine::MachineModel model_with(std::uint64_t attended_from) {
  machine::MachineModel model = test_machine();
  model.loggps.attended_from = Bytes(attended_from);
  return model;
}

SimulateOptions in_calls(SimulateOptions options = {}) {
  options.progress = Progress::calls;
  return options;
}

Replayed run(Programs& source, const SimulateOptions& options = in_calls(),
             const machine::MachineModel& model = model_with(257)) {
  source.finalize_all();
  return replay(source, options, model);
}

Reaction run(ReactingSource& source) {
  source.finalize_all();
  return react(source, in_calls(), true, model_with(257));
}

// Rank 1 posts its receive at 0 until 40, computes, and waits for it from `comes` on.
Programs posted_receive(std::uint64_t bytes, Time comes) {
  Programs source(2);
  source.irecv(1, 0, bytes, 1);
  source.wait(1, {1}, comes - us(40));
  return source;
}

// 39 by itself. What rank 1 does with the message takes as long as before: max(1040 + 54.5, 95).
TEST(Progress, BlockingSendWaitsForTheReceiver) {
  Programs source = posted_receive(800, us(1040));
  source.send(0, 1, 800);
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 0), us(1040));
  EXPECT_EQ(r.wait(0, 0), us(1001));
  EXPECT_EQ(r.leave(1, 1), tenths(10'945));
  EXPECT_EQ(r.wait(1, 1), us(0));
}

// Its send takes 200 where the receiver, in its receive at 0, has the message at 110 and computes
// then; or where that has posted the receive, and waits for it until max(40 + 54.5, 95).
TEST(Progress, WhoHasTheMessageWasInMpi) {
  machine::MachineModel model = model_with(257);
  for (machine::Regime& regime : model.functions.at("send").regimes) {
    regime.equation = {};
    regime.equation.constant.value = 200;
  }
  for (const bool posted : {false, true}) {
    Programs source(2);
    source.send(0, 1, 800);
    if (posted) {
      source.irecv(1, 0, 800, 1);
      source.wait(1, {1});
    } else {
      source.recv(1, 0, 800);
    }
    source.recv(1, 0, 0, us(1000));
    source.send(0, 1, 0);
    const Replayed r = run(source, in_calls(), model);
    EXPECT_EQ(r.leave(0, 0), us(200)) << posted;
    EXPECT_EQ(r.wait(0, 0), us(0)) << posted;
  }
}

// Calls that take no time: both ranks leave their barrier at 100. What one posts then comes after.
TEST(Progress, MessagesThatTakeNoTime) {
  machine::MachineModel model = model_with(257);
  model.functions.clear();
  Programs source(2);
  source.collective(0, Cost::barrier, us(100));
  source.collective(1, Cost::barrier);
  source.isend(0, 1, 800, 1);
  source.wait(0, {1});
  source.recv(1, 0, 800, us(1000));
  const Replayed r = run(source, in_calls(), model);
  EXPECT_EQ(r.leave(0, 2), us(1100));
  EXPECT_EQ(r.wait(0, 2), us(1000));
}

// No receive is needed, any call will do. The receive: max(1000 + 70, 0 + 110).
TEST(Progress, ReceiverNeedsNoReceive) {
  Programs source(2);
  source.send(0, 1, 800);
  source.recv(1, 0, 800, us(1000));
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 0), us(1000));
  EXPECT_EQ(r.leave(1, 0), us(1070));
  EXPECT_EQ(r.wait(1, 0), us(0));
}

TEST(Progress, WhatMovesByItself) {
  const auto leaves = [](std::uint64_t bytes, SendMode mode, const SimulateOptions& options,
                         const machine::MachineModel& model) {
    Programs source = posted_receive(bytes, us(1040));
    source.send(0, 1, bytes, {}, 0, mode);
    return run(source, options, model).leave(0, 0);
  };
  const Time alone = Time::ns(32'880);  // 256 bytes: 30 + 0.09 * 32
  EXPECT_EQ(leaves(256, SendMode::standard, in_calls(), model_with(257)), alone);
  EXPECT_EQ(leaves(256, SendMode::standard, in_calls(), model_with(256)), us(1040));
  EXPECT_EQ(leaves(800, SendMode::buffered, in_calls(), model_with(257)), us(39));
  EXPECT_EQ(leaves(800, SendMode::ready, in_calls(), model_with(257)), us(1040));
  EXPECT_EQ(leaves(800, SendMode::standard, {}, model_with(257)), us(39));
  EXPECT_EQ(leaves(800, SendMode::standard, in_calls(), test_machine()), us(39));
  EXPECT_EQ(leaves(800, SendMode::synchronous, in_calls(), test_machine()), us(110));
}

// Posted until 39, 49.1 by itself, least 7.1. Who comes to wait after the receiver does not wait.
TEST(Progress, PostedSendEndsWhenTheReceiverIsThere) {
  for (const auto& [compute, leave, wait] :
       {std::array{us(0), us(1000), tenths(9539)}, {us(2000), tenths(20'461), us(0)}}) {
    Programs source(2);
    source.isend(0, 1, 800, 1);
    source.wait(0, {1}, compute);
    source.recv(1, 0, 800, us(1000));
    const Replayed r = run(source);
    EXPECT_EQ(r.leave(0, 0), us(39));
    EXPECT_EQ(r.leave(0, 1), leave);
    EXPECT_EQ(r.wait(0, 1), wait);
  }
}

// It would end at 25 + 49.1. Rank 1 is in a call until 70, after the post has left at 64, or until
// 80.
TEST(Progress, PostedSendNeedsTheReceiverAtItsEnd) {
  for (const auto& [first, leave] : {std::pair{us(70), us(1070)}, {us(80), tenths(741)}}) {
    Programs source(3);
    source.isend(0, 1, 800, 1, us(25));
    source.wait(0, {1});
    source.send(2, 1, 0, first - us(60));
    source.recv(1, 2, 0);
    source.recv(1, 0, 800, us(1000));
    EXPECT_EQ(run(source).leave(0, 1), leave);
  }
}

// Its receive is over at max(70, 0 + 150); what it takes alone is 70.
TEST(Progress, HalfOfSendrecv) {
  Programs source(3);
  source.sendrecv(0, 1, 2, 800);
  source.recv(1, 0, 800, us(1000));
  source.send(2, 0, 800);
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 0), us(1000));
  EXPECT_EQ(r.wait(0, 0), us(930));
  EXPECT_EQ(r.leave(2, 0), us(39));  // rank 0 is in its call
}

// An empty one would end at 45 (irecv), when rank 1 computes: 1040 takes the place of r0 = 0.
// Send 1040 + 300; receive max(1040 + 1004.5, 1040 + 1045).
TEST(Progress, RendezvousBeginsInACallOfTheReceiver) {
  Programs source = posted_receive(16'000, us(1040));
  source.send(0, 1, 16'000);
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 0), us(1340));
  EXPECT_EQ(r.wait(0, 0), us(1040));
  EXPECT_EQ(r.leave(1, 1), us(2085));
  EXPECT_EQ(r.wait(1, 1), tenths(405));
}

// A posted one: an empty one would end at 40, as it does when rank 1 is in its call by then.
TEST(Progress, PostedRendezvous) {
  for (const auto& [comes, end] : {std::pair{us(40), us(222)}, {us(41), us(41 + 222)}}) {
    Programs source = posted_receive(16'000, comes);
    source.isend(0, 1, 16'000, 1);
    source.wait(0, {1});
    const Replayed r = run(source);
    EXPECT_EQ(r.leave(0, 1), end);
    EXPECT_EQ(r.leave(1, 1), end + us(1045 - 222));
  }
}

// A synchronous send of any size is a rendezvous; this one would end at 45, by irecv.
TEST(Progress, SmallSynchronousSend) {
  for (const auto& [comes, leave] : {std::pair{us(45), us(100)}, {us(46), us(146)}}) {
    Programs source = posted_receive(0, comes);
    source.send(0, 1, 0, {}, 0, SendMode::synchronous);
    EXPECT_EQ(run(source).leave(0, 0), leave);
  }
}

// 16,000 bytes, but P is more: from S on the sender waits for the receive alone.
TEST(Progress, RendezvousBelowPMovesByItself) {
  Programs source = posted_receive(16'000, us(1040));
  source.send(0, 1, 16'000);
  EXPECT_EQ(run(source, in_calls(), model_with(16'001)).leave(0, 0), us(300));
}

// Rank 1 is in its receive from rank 2 from 0 to 60, and computes until 1060. Rank 0's message
// would end when that call leaves, or 1 us after it.
TEST(Progress, InACallUntilItLeaves) {
  for (const auto& [start, leave] : {std::pair{us(21), us(60)}, {us(22), us(1060)}}) {
    Programs source(3);
    source.send(0, 1, 800, start);
    source.send(2, 1, 0);
    source.recv(1, 2, 0);
    source.recv(1, 0, 800, us(1000));
    const Replayed r = run(source);
    EXPECT_EQ(r.leave(0, 0), leave);
    EXPECT_EQ(r.leave(1, 1), us(1130));
  }
}

// Rank 1 is in this call at 500, and in its receive 1000 later. Rank 2 receives.
enum class Between { small_send, large_send, isend, comm_rank, test, iprobe, put, file };

TEST(Progress, WhichCallsMoveMessages) {
  const auto leaves = [](Between between) {
    Programs source(3);
    source.send(0, 1, 800);
    const auto call = [&source](const char* name) {
      source.add(WorldRank(1), source.make(EventKind::call, name, us(500)));
    };
    switch (between) {
      case Between::small_send:
        source.send(1, 2, 256, us(500), 5);
        break;
      case Between::large_send:
        source.send(1, 2, 257, us(500), 5);
        break;
      case Between::isend:
        source.isend(1, 2, 16'000, 1, us(500), 5);
        break;
      case Between::comm_rank:
        call("MPI_Comm_rank");
        break;
      case Between::test:
        call("MPI_Test");
        break;
      case Between::iprobe:
        call("MPI_Iprobe");
        break;
      case Between::put:
        call("MPI_Put");
        break;
      case Between::file:
        call("MPI_File_write_at");
        break;
    }
    if (between == Between::small_send) source.recv(2, 1, 256, {}, 5);
    if (between == Between::large_send) source.recv(2, 1, 257, {}, 5);
    if (between == Between::isend) source.recv(2, 1, 16'000, {}, 5);
    source.recv(1, 0, 800, us(1000));
    if (between == Between::isend) source.wait(1, {1});
    return run(source).leave(0, 0);
  };
  EXPECT_EQ(leaves(Between::small_send), Time::ns(1'532'880));
  EXPECT_EQ(leaves(Between::isend), us(1710));
  EXPECT_EQ(leaves(Between::comm_rank), tenths(15'005));
  for (const Between one :
       {Between::large_send, Between::test, Between::iprobe, Between::put, Between::file})
    EXPECT_EQ(leaves(one), us(500)) << static_cast<int>(one);
}

// It would end at 39, 139, and 539: before rank 1's last call, and after it.
TEST(Progress, InMpiForEverAfterTheLastCall) {
  for (const auto& [start, leave] :
       {std::pair{us(0), us(100)}, {us(100), us(139)}, {us(500), us(539)}}) {
    Programs source(2);
    source.send(0, 1, 800, start);
    source.finalize(0);
    source.finalize(1, us(100));
    EXPECT_EQ(replay(source, in_calls(), model_with(257)).leave(0, 0), leave);
  }
}

// A rank's own message is over in its own calls: 49.1 by itself, the receive posted until 79.
// Waiting: send max(79 + 7.1, 79), receive max(86.1 + 54.5, 39 + 95).
TEST(Progress, MessageToItself) {
  Programs source(1);
  source.isend(0, 0, 800, 1);
  source.irecv(0, 0, 800, 2);
  source.wait(0, {1, 2});
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 2), tenths(1406));
  EXPECT_EQ(r.wait(0, 2), us(0));
}

// Ranks of a node need each other, those of two do not.
TEST(Progress, ByPath) {
  machine::MachineModel model = test_machine();
  model.paths[machine::Path::node].loggps.attended_from = Bytes(257);
  SimulateOptions options = in_calls();
  for (const int node : {0, 0, 1}) options.network.placement.emplace_back(node);
  Programs source(3);
  source.isend(0, 1, 800, 1);
  source.isend(0, 2, 800, 2);
  source.wait(0, {2});
  source.wait(0, {1});
  for (const int r : {1, 2}) source.recv(r, 0, 800, us(1000));
  const Replayed r = run(source, options, model);
  EXPECT_EQ(r.leave(0, 2), tenths(881));  // 39 + 49.1
  EXPECT_EQ(r.leave(0, 3), us(1000));
}

// Of two ranks, posted at 10; rank 1 computes until 1010. With less than P bytes each needs its
// own call alone: barrier 40, bcast 104.
TEST(Progress, PostedCollectiveOfTwoRanks) {
  const auto leaves = [](Cost which, int root, std::uint64_t bytes) {
    Programs source(2);
    for (int r = 0; r < 2; ++r) {
      source.icollective(r, which, 1, us(10), root, 0, bytes);
      source.wait(r, {1}, us(r == 1 ? 1000 : 0));
    }
    const Replayed r = run(source);
    return std::pair(r.leave(0, 1), r.leave(1, 1));
  };
  EXPECT_EQ(leaves(Cost::barrier, -1, 0), std::pair(us(50), us(1050)));
  EXPECT_EQ(leaves(Cost::bcast, 1, 256), std::pair(us(114), us(1114)));
  EXPECT_EQ(leaves(Cost::bcast, 1, 257), std::pair(us(1114), us(1114)));
  EXPECT_EQ(leaves(Cost::bcast, 0, 257), std::pair(us(114), us(1114)));  // the root needs nobody
  EXPECT_EQ(leaves(Cost::reduce, 0, 256), std::pair(us(314), us(1314)));
  EXPECT_EQ(leaves(Cost::reduce, 0, 257), std::pair(us(1314), us(1314)));
  EXPECT_EQ(leaves(Cost::reduce, 1, 257), std::pair(us(314), us(1314)));
  EXPECT_EQ(leaves(Cost::scan, -1, 257), std::pair(us(22), us(1022)));
}

// Of three ranks, posted at 10; rank 1 computes until 1010. Of whatever size: barrier 40, bcast
// 106, reduce 306, scan 13.
TEST(Progress, PostedCollectiveOfThreeRanks) {
  using Times = std::array<Time, 3>;
  const auto leaves = [](Cost which, int root) {
    Programs source(3);
    for (int r = 0; r < 3; ++r) {
      source.icollective(r, which, 1, us(10), root);
      source.wait(r, {1}, us(r == 1 ? 1000 : 0));
    }
    const Replayed r = run(source);
    return Times{r.leave(0, 1), r.leave(1, 1), r.leave(2, 1)};
  };
  EXPECT_EQ(leaves(Cost::barrier, -1), (Times{us(1050), us(1050), us(1050)}));
  EXPECT_EQ(leaves(Cost::bcast, 1), (Times{us(1116), us(1116), us(1116)}));
  EXPECT_EQ(leaves(Cost::bcast, 0), (Times{us(116), us(1116), us(116)}));
  EXPECT_EQ(leaves(Cost::reduce, 0), (Times{us(1316), us(1316), us(316)}));
  EXPECT_EQ(leaves(Cost::reduce, 1), (Times{us(316), us(1316), us(316)}));
  EXPECT_EQ(leaves(Cost::scan, -1), (Times{us(23), us(1023), us(23)}));
}

// What counts is that the members were in a call since all have come, one after the other if need
// be. Rank 2 comes last, at 100; rank 0 waits from 200 on, rank 2 looks at 300, rank 1 at 400.
TEST(Progress, MembersAreInMpiOneAfterTheOther) {
  Programs source(3);
  for (int r = 0; r < 3; ++r) {
    source.icollective(r, Cost::barrier, 1, us(r == 2 ? 100 : 10));
    if (r > 0)
      source.add(WorldRank(r), source.make(EventKind::call, "MPI_Test", us(r == 1 ? 390 : 200)));
    source.wait(r, {1}, us(r == 0 ? 190 : 5000));
  }
  const Replayed r = run(source);
  EXPECT_EQ(r.leave(0, 1), us(440));
  EXPECT_EQ(r.leave(1, 2), us(5400));
  EXPECT_EQ(r.wait(1, 2), us(0));
}

// A chain of messages (nanoseconds, loggps_options.hpp; o_s 100, a message is taken in at 1510).
// Rank 1 has it at 1510, but hands it on in its call at 9000: rank 2 has it at 9000 + 1510. The
// root's message leaves at 100 though the root computes until 500, and needs rank 1 in a call from
// then on.
TEST(Progress, LaterStepsOfPostedMessagesNeedACall) {
  const AlgorithmTable table("openmpi,bcast=chain");
  for (const bool looks : {false, true}) {
    Programs source(3);
    for (int r = 0; r < 3; ++r) {
      source.icollective(r, Cost::bcast, 1, {}, 0, 0, 801);
      if (r == 1 && looks)
        source.add(WorldRank(1), source.make(EventKind::call, "MPI_Test", ns(4000)));
      source.wait(r, {1}, ns(r == 0 ? 500 : r == 2 ? 0 : looks ? 5000 : 9000));
    }
    SimulateOptions options = in_calls(loggps());
    options.algorithms = &table;
    const Replayed r = run(source, options);
    const Time call = ns(looks ? 4000 : 9000);
    EXPECT_EQ(r.leave(0, 1), call);
    EXPECT_EQ(r.leave(2, 1), call + ns(1510));
    EXPECT_EQ(r.leave(1, looks ? 2 : 1), looks ? ns(9000) : ns(9100));
  }
}

// Before the first wait they belong to the call that posts: the root's messages begin at 0 and,
// when the first one has left the port, at 50 + 800 * 0.5, though the root computes until 5000.
TEST(Progress, FirstStepsOfPostedMessagesNeedNoCall) {
  const AlgorithmTable table("openmpi,bcast=linear");
  Programs source(3);
  for (int r = 0; r < 3; ++r) {
    source.icollective(r, Cost::bcast, 1, {}, 0, 0, 801);
    source.wait(r, {1}, ns(r == 0 ? 5000 : 0));
  }
  SimulateOptions options = in_calls(loggps());
  options.algorithms = &table;
  const Replayed r = run(source, options);
  EXPECT_EQ(r.leave(1, 1), ns(1510));
  EXPECT_EQ(r.leave(2, 1), ns(450 + 1510));
  EXPECT_EQ(r.leave(0, 1), ns(5000));
}

// Between nodes on links of 1 us and 1 GB/s: the request of 2,000 bytes is there at 1 us, and
// answered at 50. The answer is back at 51, the data has left at 53.
TEST(Progress, RequestsAreAnsweredInACall) {
  const machine::Topology topology = machine::make_topology("full:2?latency=1us&bandwidth=1GB/s");
  SimulateOptions options = in_calls(loggps());
  options.network.kind = NetworkKind::flow;
  options.network.topology = &topology;
  options.network.loggps.overhead_send = options.network.loggps.gap = Time();
  options.network.loggps.overhead_recv = Time();
  for (const auto& [compute, leave] : {std::pair{us(50), us(53)}, {us(1), us(4)}, {us(0), us(4)}}) {
    Programs source(2);
    source.send(0, 1, 2000);
    source.irecv(1, 0, 2000, 1);
    source.wait(1, {1}, compute);
    EXPECT_EQ(run(source, options).leave(0, 0), leave);
  }
}

// A request's number may be used again once it is completed.
TEST(Progress, CancelledSendEndsNoOtherOne) {
  ReactingSource p(3);
  p.isend(0, 1, 800, 1);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 1;
  p.complete(0, {1});
  p.isend(0, 2, 800, 1);
  p.complete(0, {1});
  p.add(1, EventKind::call, "MPI_Test", us(500));
  p.recv(2, 0, us(1000));
  EXPECT_EQ(run(p).leave(0, 4), us(1000));
}

// Posted until 39 and 78. Rank 2 is in a call at 500, rank 1 at 1000.
TEST(Progress, WaitForAnyAndTests) {
  ReactingSource p(3);
  p.isend(0, 1, 800, 1);
  p.isend(0, 2, 800, 2);
  p.complete(0, {1}, Completing::test_all, us(22));  // at 100, in vain: 0.1
  p.complete(0, {1, 2}, Completing::any);
  p.complete(0, {1}, Completing::any);
  p.recv(1, 0, us(1000));
  p.recv(2, 0, us(500));
  const Reaction r = run(p);
  EXPECT_EQ(r.of(0, 2).kind, EventKind::call);
  EXPECT_EQ(r.leave(0, 2), Time::ns(100'100));
  EXPECT_EQ(r.leave(0, 3), us(500));
  ASSERT_THAT(r.of(0, 3).completions, SizeIs(1));
  EXPECT_EQ(r.of(0, 3).completions[0].request, 2u);
  EXPECT_EQ(r.leave(0, 4), us(1000));
}

// Nobody waits for what is cancelled; its receiver gets the next one, which would end at
// 39 + 49.1.
TEST(Progress, CancelledSendWaitsForNobody) {
  ReactingSource p(2);
  p.isend(0, 1, 800, 1);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 1;
  p.complete(0, {1});
  p.isend(0, 1, 800, 2);
  p.complete(0, {2});
  p.recv(1, 0, us(1000));
  const Reaction r = run(p);
  EXPECT_TRUE(r.of(0, 2).completions.at(0).cancelled);
  EXPECT_EQ(r.leave(0, 2), us(39));
  EXPECT_EQ(r.leave(0, 4), us(1000));
  EXPECT_EQ(r.leave(1, 0), us(1070));
}

}  // namespace
}  // namespace foretrace::sim
