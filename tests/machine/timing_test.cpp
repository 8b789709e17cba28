// The timing rules (docs/theory.md), every time worked out by hand with the
// Cray T3D of Howell's thesis, appendix B, and S = 8192 bytes. What each function
// takes for a small, a large and a huge message stands in TableOfThisTest.
#include "machine/timing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "constant_function.hpp"
#include "machine/machine_file.hpp"
#include "machine/moving.hpp"
#include "microseconds.hpp"

namespace foretrace::machine {
namespace {

// Hundredths of microseconds are the finest that the table needs.
MachineModel t3d() {
  MachineModel model = read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
  model.loggps.sync_threshold = Bytes(8192);
  return model;
}

class T3d : public testing::Test {
 protected:
  static constexpr Bytes kSmall{64};
  static constexpr Bytes kLarge{800};
  static constexpr Bytes kHuge{16000};
  const MachineModel model_ = t3d();
  const Timing timing_{model_, Bound::avg};
};

TEST_F(T3d, TableOfThisTest) {
  const std::vector<std::pair<Cost, std::array<double, 3>>> rows{
      // us for     64 B, 800 B, 16000 B
      {Cost::send, {30, 39, 210}},          {Cost::ssend, {84, 110, 300}},
      {Cost::rsend, {30.8, 39, 210}},       {Cost::bsend, {30, 39, 210}},
      {Cost::recv, {65.6, 110, 1060}},      {Cost::recvmin, {37.2, 70, 830}},
      {Cost::isend1, {31.6, 39, 210}},      {Cost::isend2, {10, 10.1, 12}},
      {Cost::isendoverlap, {3, 3.02, 3.4}}, {Cost::irecv1, {30, 40, 40}},
      {Cost::irecv2, {40, 55, 1005}},       {Cost::irecvoverlap, {0.76, 1, 10.5}},
      {Cost::sendrecv, {98, 150, 1290}},
  };
  for (const auto& [cost, times] : rows) {
    EXPECT_EQ(timing_.cost(cost, 2, kSmall), us(times[0])) << name_of(cost);
    EXPECT_EQ(timing_.cost(cost, 2, kLarge), us(times[1])) << name_of(cost);
    EXPECT_EQ(timing_.cost(cost, 2, kHuge), us(times[2])) << name_of(cost);
  }
}

// The costs that were asked for lately are kept in a small table; a hundred
// sizes and rank counts in turn must not disturb each other.
TEST_F(T3d, CostDoesNotDependOnWhatWasAskedBefore) {
  for (int round = 0; round < 2; ++round)
    for (int p = 1; p < 20; ++p)
      for (std::uint64_t elements = 33; elements < 80; ++elements) {
        const Timing fresh(model_, Bound::avg);
        const Bytes bytes(elements * 8);
        ASSERT_EQ(timing_.cost(Cost::alltoall, p, bytes), fresh.cost(Cost::alltoall, p, bytes));
      }
  EXPECT_EQ(timing_.cost(Cost::alltoall, 4, kLarge), us(40 * 4 + 0.3 * 4 * 100));
}

// irecv2 takes 40 up to 256 bytes, then 5 + 0.5 d: least at 257 bytes.
TEST_F(T3d, LeastOfAllSizes) {
  EXPECT_EQ(timing_.least(Cost::irecv1), us(30));
  EXPECT_EQ(timing_.least(Cost::irecv2), Time::ps(21'062'500));
}

TEST_F(T3d, RendezvousFromSOn) {
  for (const SendMode mode : {SendMode::standard, SendMode::ready}) {
    EXPECT_FALSE(timing_.is_rendezvous(mode, Bytes(0)));
    EXPECT_FALSE(timing_.is_rendezvous(mode, Bytes(8191)));
    EXPECT_TRUE(timing_.is_rendezvous(mode, Bytes(8192)));
    EXPECT_TRUE(timing_.is_rendezvous(mode, Bytes(UINT64_MAX)));
  }
  EXPECT_TRUE(timing_.is_rendezvous(SendMode::synchronous, Bytes(0)));
  EXPECT_FALSE(timing_.is_rendezvous(SendMode::buffered, Bytes(UINT64_MAX)));
}

TEST(Rendezvous, ModelWithoutSHasOnlySynchronousOnes) {
  const MachineModel model;
  const Timing timing(model, Bound::avg);
  EXPECT_FALSE(timing.is_rendezvous(SendMode::standard, Bytes(UINT64_MAX)));
  EXPECT_FALSE(timing.is_rendezvous(SendMode::ready, Bytes(UINT64_MAX)));
  EXPECT_TRUE(timing.is_rendezvous(SendMode::synchronous, Bytes(0)));
}

TEST(Rendezvous, OfAThresholdAlone) {
  EXPECT_TRUE(is_rendezvous(SendMode::standard, Bytes(8), Bytes(8)));
  EXPECT_TRUE(is_rendezvous(SendMode::ready, Bytes(8), Bytes(8)));
  EXPECT_FALSE(is_rendezvous(SendMode::standard, Bytes(7), Bytes(8)));
  EXPECT_FALSE(is_rendezvous(SendMode::buffered, Bytes(8), Bytes(8)));
  EXPECT_TRUE(is_rendezvous(SendMode::synchronous, Bytes(0), std::nullopt));
  EXPECT_FALSE(is_rendezvous(SendMode::standard, Bytes(UINT64_MAX), std::nullopt));
}

TEST(Rendezvous, SOfZeroMakesAllMessagesMeet) {
  MachineModel model;
  model.loggps.sync_threshold = Bytes(0);
  const Timing timing(model, Bound::avg);
  EXPECT_TRUE(timing.is_rendezvous(SendMode::standard, Bytes(0)));
  EXPECT_FALSE(timing.is_rendezvous(SendMode::buffered, Bytes(0)));
}

TEST_F(T3d, EagerSenderGoesOn) {
  EXPECT_EQ(timing_.send_eager_leave(us(200), SendMode::standard, kLarge), us(239));
  EXPECT_EQ(timing_.send_eager_leave(us(0), SendMode::standard, kSmall), us(30));
  EXPECT_EQ(timing_.send_eager_leave(us(0), SendMode::ready, kSmall), us(30.8));
  // The T3D has no bsend: send stands in.
  EXPECT_EQ(timing_.send_eager_leave(us(0), SendMode::buffered, kHuge), us(210));
}

// allgatherv, which was measured too little, gives way to allgather; that one, as bad, would not.
TEST_F(T3d, WhatIsNotToBeTrustedGivesWayToItsStandIn) {
  MachineModel model = model_;
  Function bad = *model.find("allgather");
  bad.name = "allgatherv";
  bad.regimes = {Regime{}};
  bad.regimes[0].equation.constant.value = 1e6;
  bad.held_out = HeldOutError{0.88, 1.5};
  model.functions["allgatherv"] = bad;
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(timing.cost(Cost::allgatherv, 4, kLarge), timing_.cost(Cost::allgather, 4, kLarge));
  EXPECT_EQ(timing.unknowns().replaced,
            std::vector<std::string>{
                "allgatherv (off by 88 % at sizes that were left out) by allgather"});
  EXPECT_TRUE(timing.unknowns().unreliable.empty());

  model.functions["allgather"].valid = false;
  const Timing neither(model, Bound::avg);
  EXPECT_EQ(neither.cost(Cost::allgatherv, 4, kLarge), Time::from_seconds(1));
  EXPECT_EQ(neither.unknowns().unreliable.size(), 1U);
  EXPECT_TRUE(neither.unknowns().replaced.empty());
}

// max(r0 + T_recvmin, s0 + T_recv)
TEST_F(T3d, EagerReceiver) {
  EXPECT_EQ(timing_.recv_leave(us(500), {us(0), kLarge}), us(570));     // max(570, 110)
  EXPECT_EQ(timing_.recv_leave(us(0), {us(200), kLarge}), us(310));     // max(70, 310)
  EXPECT_EQ(timing_.recv_leave(us(0), {us(0), kLarge}), us(110));       // max(70, 110)
  EXPECT_EQ(timing_.recv_leave(us(40), {us(0), kLarge}), us(110));      // max(110, 110)
  EXPECT_EQ(timing_.recv_leave(us(41), {us(0), kLarge}), us(111));      // max(111, 110)
  EXPECT_EQ(timing_.recv_leave(us(0), {us(10), kSmall}), us(75.6));     // max(37.2, 75.6)
  EXPECT_EQ(timing_.recv_leave(us(100), {us(10), kSmall}), us(137.2));  // max(137.2, 75.6)
  EXPECT_EQ(timing_.recv_minimum(kLarge), us(70));
}

// m = max(s0, r0): the sender leaves at m + T_ssend, the receiver at m + T_recv.
TEST_F(T3d, RendezvousStartsWhenBothAreThere) {
  EXPECT_EQ(timing_.send_rendezvous_leave(us(0), us(500), kHuge), us(800));
  EXPECT_EQ(timing_.send_rendezvous_leave(us(500), us(0), kHuge), us(800));
  EXPECT_EQ(timing_.send_rendezvous_leave(us(500), us(500), kHuge), us(800));
  EXPECT_EQ(timing_.recv_leave(us(500), {us(0), kHuge, true}), us(1560));
  EXPECT_EQ(timing_.recv_leave(us(0), {us(500), kHuge, true}), us(1560));
  // Synchronous and small: 84 and 65.6.
  EXPECT_EQ(timing_.send_rendezvous_leave(us(7), us(3), kSmall), us(91));
  EXPECT_EQ(timing_.recv_leave(us(3), {us(7), kSmall, true}), us(72.6));
}

// The same message of 8192 bytes = 1024 elements, eager and rendezvous:
// recvmin 30 + 409.6, recv 60 + 512. r0 = 1000: eager max(1439.6, 572).
TEST_F(T3d, AMessageOfExactlySMeets) {
  const Bytes s(8192);
  ASSERT_TRUE(timing_.is_rendezvous(SendMode::standard, s));
  EXPECT_EQ(timing_.recv_leave(us(1000), {us(0), s, true}), us(1572));
  EXPECT_EQ(timing_.recv_leave(us(1000), {us(0), s, false}), us(1439.6));
}

TEST_F(T3d, PostingCalls) {
  EXPECT_EQ(timing_.isend_post_leave(us(100), kLarge), us(139));
  EXPECT_EQ(timing_.isend_post_leave(us(100), kSmall), us(131.6));
  EXPECT_EQ(timing_.irecv_post_leave(us(100), kLarge), us(140));
  EXPECT_EQ(timing_.irecv_post_leave(us(100), kSmall), us(130));
}

// start + T_isend1 + T_isend2; eager: start = s0 whatever r0 is.
TEST_F(T3d, EndOfAPostedSend) {
  EXPECT_EQ(timing_.isend_end(us(0), us(9999), SendMode::standard, kLarge, false), us(49.1));
  EXPECT_EQ(timing_.isend_end(us(5), us(0), SendMode::ready, kSmall, false), us(46.6));
  EXPECT_EQ(timing_.isend_end(us(0), us(500), SendMode::standard, kHuge, true), us(722));
  EXPECT_EQ(timing_.isend_end(us(600), us(500), SendMode::standard, kHuge, true), us(822));
  // Issend: start + T_ssend.
  EXPECT_EQ(timing_.isend_end(us(0), us(500), SendMode::synchronous, kHuge, true), us(800));
  EXPECT_EQ(timing_.isend_end(us(0), us(500), SendMode::synchronous, kSmall, true), us(584));
}

// start + T_irecv1 + T_irecv2; an eager message starts when it is sent.
TEST_F(T3d, EndOfAPostedReceive) {
  EXPECT_EQ(timing_.irecv_end(us(0), {us(0), kLarge}), us(95));
  EXPECT_EQ(timing_.irecv_end(us(700), {us(100), kLarge}), us(195));
  EXPECT_EQ(timing_.irecv_end(us(500), {us(0), kHuge, true}), us(1545));
  EXPECT_EQ(timing_.irecv_end(us(0), {us(500), kHuge, true}), us(1545));
  EXPECT_EQ(timing_.irecv_end(us(0), {us(10), kSmall}), us(80));
}

// Wait at 39 on the send that ends at 49.1: max(39 + 10.1 - 3.02, 49.1) = 49.1.
// After 1000 of computation the end is over: 1039 + 7.08.
TEST_F(T3d, OverlapHidesPartOfASendsCompletion) {
  EXPECT_EQ(timing_.isend_complete_minimum(kLarge), us(7.08));
  EXPECT_EQ(timing_.isend_complete_leave(us(39), us(49.1), kLarge), us(49.1));
  EXPECT_EQ(timing_.isend_complete_leave(us(1039), us(49.1), kLarge), us(1046.08));
  // 42.02 + 7.08 = 49.1: from here on nothing more is hidden.
  EXPECT_EQ(timing_.isend_complete_leave(us(42.02), us(49.1), kLarge), us(49.1));
  EXPECT_EQ(timing_.isend_complete_leave(us(42.03), us(49.1), kLarge), us(49.11));
}

// Wait at 40 on the receive that ends at 95: max(40 + 55 - 1, 95) = 95.
TEST_F(T3d, OverlapHidesPartOfAReceivesCompletion) {
  EXPECT_EQ(timing_.irecv_complete_minimum(kLarge), us(54));
  EXPECT_EQ(timing_.irecv_complete_minimum(kSmall), us(39.24));
  EXPECT_EQ(timing_.irecv_complete_leave(us(40), us(95), kLarge), us(95));
  EXPECT_EQ(timing_.irecv_complete_leave(us(41), us(95), kLarge), us(95));
  EXPECT_EQ(timing_.irecv_complete_leave(us(42), us(95), kLarge), us(96));
}

// A receive that ends at 95 and a send that ends at 49.1, from 42 on. The receive first:
// max(42 + 54, 95) = 96, then max(96 + 7.08, 49.1). The send first: max(42 + 7.08, 49.1) = 49.1,
// then max(49.1 + 54, 95). Alone both take 54 + 7.08.
TEST_F(T3d, WaitsInTurnDependOnTheirOrder) {
  Port port;
  WaitsInTurn receive_first(us(42));
  receive_first.complete_receive(timing_, port, us(95), kLarge);
  receive_first.complete_send(timing_, port, us(49.1), kLarge);
  EXPECT_EQ(receive_first.leave(), us(103.08));
  EXPECT_EQ(receive_first.alone(), us(103.08));
  WaitsInTurn send_first(us(42));
  send_first.complete_send(timing_, port, us(49.1), kLarge);
  send_first.complete_receive(timing_, port, us(95), kLarge);
  EXPECT_EQ(send_first.leave(), us(103.1));
  EXPECT_EQ(send_first.alone(), us(103.08));
}

// The second ends at 500: what the call takes after the first is waiting but for the 54.
TEST_F(T3d, WaitsInTurnTellWaitingFromWork) {
  Port port;
  WaitsInTurn waits(us(40));
  EXPECT_EQ(waits.leave(), us(40));
  EXPECT_EQ(waits.alone(), us(40));
  waits.complete_receive(timing_, port, us(95), kLarge);
  waits.complete_receive(timing_, port, us(500), kLarge);
  EXPECT_EQ(waits.leave(), us(500));
  EXPECT_EQ(waits.alone(), us(148));
  EXPECT_EQ(wait_time(waits.leave(), waits.alone()), us(352));
}

TEST(WaitTime, IsNotBelowZero) {
  EXPECT_EQ(wait_time(us(5), us(3)), us(2));
  EXPECT_EQ(wait_time(us(3), us(3)), Time());
  EXPECT_EQ(wait_time(us(3), us(5)), Time());
}

// As in RendezvousStartsWhenBothAreThere: what the sender stays longer than 300.
TEST_F(T3d, SenderOfARendezvousWaitsForItsReceiver) {
  for (const auto& [s0, r0] : {std::pair(0, 500), {500, 0}, {500, 500}}) {
    const Time leave = timing_.send_rendezvous_leave(us(s0), us(r0), kHuge);
    EXPECT_EQ(Timing::rendezvous_delay(us(s0), us(r0)), wait_time(leave, us(s0 + 300)));
  }
}

// recvmin 70 from r0 on; a sendrecv's send may take longer.
TEST_F(T3d, ReceiveOfAMessageThatIsThere) {
  EXPECT_EQ(timing_.recv_alone(us(10), us(10), kLarge), us(80));
  EXPECT_EQ(timing_.recv_alone(us(10), us(120), kLarge), us(120));
}

// irecv2 = 5, irecvoverlap = 8: more can be hidden than there is.
TEST(Overlap, LeastIsNotBelowZero) {
  MachineModel model;
  for (const Function& function : {constant("isend2", 5), constant("isendoverlap", 8),
                                   constant("irecv2", 5), constant("irecvoverlap", 8)})
    model.functions[function.name] = function;
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(timing.isend_complete_minimum(Bytes(0)), Time());
  EXPECT_EQ(timing.irecv_complete_minimum(Bytes(0)), Time());
}

// Without isendoverlap the whole completion hides; without irecvoverlap the
// least of a receive is the smaller of recvmin and irecv2.
TEST(Overlap, ModelWithoutItsFigures) {
  MachineModel model;
  for (const Function& function :
       {constant("isend2", 5), constant("recvmin", 3), constant("irecv2", 4)})
    model.functions[function.name] = function;
  EXPECT_EQ(Timing(model, Bound::avg).isend_complete_minimum(Bytes(0)), Time());
  EXPECT_EQ(Timing(model, Bound::avg).irecv_complete_minimum(Bytes(0)), Time::from_seconds(3));
  model.functions["recvmin"] = constant("recvmin", 9);
  EXPECT_EQ(Timing(model, Bound::avg).irecv_complete_minimum(Bytes(0)), Time::from_seconds(4));
}

// Rank 0 enters at 0, rank 1 at 20: max(0 + 70, 20 + 150) and max(20 + 70, 150).
TEST_F(T3d, SendrecvsReceivingHalf) {
  EXPECT_EQ(timing_.sendrecv_recv_leave(us(0), {us(20), kLarge}), us(170));
  EXPECT_EQ(timing_.sendrecv_recv_leave(us(20), {us(0), kLarge}), us(150));
  EXPECT_EQ(timing_.sendrecv_recv_leave(us(100), {us(0), kLarge}), us(170));
  EXPECT_EQ(timing_.sendrecv_recv_leave(us(20), {us(0), kHuge, true}), us(1310));
  EXPECT_EQ(timing_.sendrecv_recv_leave(us(0), {us(20), kHuge, true}), us(1310));
}

// bcast of 8 elements on 16 ranks: 200 + 2 * 16 + 0.6 * 8 = 236.8.
TEST_F(T3d, CollectivesLeaveAfterTheLatestStart) {
  EXPECT_EQ(timing_.collective_leave(us(100), Cost::bcast, 16, kSmall), us(336.8));
  EXPECT_EQ(timing_.collective_leave(us(0), Cost::allgather, 16, kLarge), us(40 * 16 + 0.3 * 1600));
  // ln 16 = 2.772588722239781: barrier 10 + 8 ln 16 = 32.180709777918 us, to the picosecond.
  EXPECT_EQ(timing_.collective_leave(us(0), Cost::barrier, 16, Bytes(0)), Time::ps(32'180'710));
}

TEST(Dependence, FollowsWhatMpiComputes) {
  for (const Cost cost : {Cost::bcast, Cost::scatter, Cost::scatterv})
    EXPECT_EQ(dependence_of(cost), Dependence::all_for_root) << name_of(cost);
  for (const Cost cost : {Cost::gather, Cost::gatherv, Cost::reduce})
    EXPECT_EQ(dependence_of(cost), Dependence::root_for_all) << name_of(cost);
  for (const Cost cost : {Cost::scan, Cost::exscan})
    EXPECT_EQ(dependence_of(cost), Dependence::prefix) << name_of(cost);
  for (const Cost cost :
       {Cost::barrier, Cost::allgather, Cost::allgatherv, Cost::alltoall, Cost::alltoallv,
        Cost::alltoallw, Cost::allreduce, Cost::reduce_scatter, Cost::reduce_scatter_block,
        Cost::comm_create, Cost::comm_split, Cost::comm_dup})
    EXPECT_EQ(dependence_of(cost), Dependence::all_for_all) << name_of(cost);
}

// send 10 +- 2 s, recv 20 +- 3 s + (1 +- 0.5) s per byte of 4.
TEST(Bounds, EvaluateEachEnd) {
  MachineModel model;
  model.functions["send"] = constant("send", 10);
  model.functions["send"].regimes[0].equation.constant.error = 2;
  model.functions["recv"] = constant("recv", 20);
  model.functions["recv"].regimes[0].equation.constant.error = 3;
  model.functions["recv"].regimes[0].equation.data = {1, 0.5};
  const auto at = [&](Bound bound) {
    const Timing timing(model, bound);
    EXPECT_EQ(timing.bound(), bound);
    const Time send = timing.send_eager_leave(Time(), SendMode::standard, Bytes(4));
    const Time recv = timing.recv_leave(Time(), {Time(), Bytes(4)});
    return std::pair(send.seconds(), recv.seconds());
  };
  EXPECT_EQ(at(Bound::min), std::pair(8.0, 19.0));   // 10 - 2; 17 + 0.5 * 4
  EXPECT_EQ(at(Bound::avg), std::pair(10.0, 24.0));  // 10; 20 + 1 * 4
  EXPECT_EQ(at(Bound::max), std::pair(12.0, 29.0));  // 10 + 2; 23 + 1.5 * 4
}

TEST_F(T3d, ComputeSteps) {
  EXPECT_EQ(timing_.compute(0), Time());
  EXPECT_EQ(timing_.compute(1), us(1));
  EXPECT_EQ(timing_.compute(2.5), us(2.5));
  // Rounded once: 1e6 steps of a third of a picosecond are 333,333 ps.
  MachineModel model;
  model.compute_step = 1e-12 / 3;
  EXPECT_EQ(Timing(model, Bound::avg).compute(1e6), Time::ps(333'333));
}

TEST(LocalCall, TakesItsEquationOrNothing) {
  MachineModel model;
  model.functions["comm_rank"] = constant("comm_rank", 3);
  model.functions["pack"] = constant("pack", 4);
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(timing.local_call("MPI_Comm_rank", 4), Time::from_seconds(3));
  EXPECT_EQ(timing.local_call("MPI_Pack_c", 4), Time::from_seconds(4));
  EXPECT_EQ(timing.local_call("MPI_Comm_size", 4), Time());
  EXPECT_EQ(timing.local_call("comm_rank", 4), Time());
}

TEST(LocalCall, TakesNothingWhereItWouldMoveSomethingButDoesNot) {
  MachineModel model;
  for (const char* name : {"put", "bcast", "ibcast", "send", "win_flush"})
    model.functions[name] = constant(name, 3);
  const Timing timing(model, Bound::avg);
  for (const char* name :
       {"MPI_Put", "MPI_Rput", "MPI_Bcast", "MPI_Ibcast", "MPI_Send", "MPI_Put_c", "MPI_Bcast_c"})
    EXPECT_EQ(timing.local_call(name, 4), Time()) << name;
  EXPECT_EQ(timing.local_call("MPI_Win_flush", 4), Time::from_seconds(3));
}

// recv 2 s takes the place of an access, and 2 s more bring the answer; posting takes send's 1 s,
// but no longer than the access.
TEST(OneSided, AccessesTakeTheirEquationsOrMessages) {
  MachineModel model;
  model.functions["send"] = constant("send", 1);
  model.functions["recv"] = constant("recv", 2);
  const auto seconds = [](Time time) { return time.seconds(); };
  {
    const Timing timing(model, Bound::avg);
    EXPECT_EQ(seconds(timing.access_time(OneSided::put, Bytes(8))), 4);
    EXPECT_EQ(seconds(timing.access_post_time(OneSided::put, Bytes(8))), 1);
    EXPECT_EQ(seconds(timing.lock_time()), 4);
  }
  model.functions["accumulate"] = constant("accumulate", 0.5);
  model.functions["get"] = constant("get", 3);
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(seconds(timing.access_time(OneSided::get, Bytes(8))), 3);
  EXPECT_EQ(seconds(timing.access_time(OneSided::fetch_and_op, Bytes(8))), 0.5);
  EXPECT_EQ(seconds(timing.access_post_time(OneSided::fetch_and_op, Bytes(8))), 0.5);
  EXPECT_EQ(seconds(timing.lock_time()), 0.5);
  EXPECT_EQ(timing.flush_time("MPI_Win_flush"), Time());
}

// What is shown of an access is what it takes: recv 2 + 1 per byte there, and back 2, or with the
// bytes of both ways.
TEST(OneSided, FunctionsThatArePredicted) {
  MachineModel model;
  model.functions["recv"] = constant("recv", 2);
  model.functions["recv"].regimes[0].equation.data.value = 1;
  const Timing timing(model, Bound::avg);
  const auto seconds = [&](const char* name) {
    return evaluate_seconds(model, predicted_function(model, name).value(), 2, Bytes(8),
                            Bound::avg);
  };
  EXPECT_EQ(seconds("put"), timing.access_time(OneSided::put, Bytes(8)).seconds());
  EXPECT_EQ(seconds("put"), 12);
  EXPECT_EQ(seconds("rget"), 12);
  EXPECT_EQ(seconds("fetch_and_op"),
            timing.access_time(OneSided::fetch_and_op, Bytes(8)).seconds());
  EXPECT_EQ(seconds("rget_accumulate"), 20);
  EXPECT_EQ(seconds("recv"), 10);
  model.functions["put"] = constant("put", 3);
  EXPECT_EQ(seconds("rput"), 3);
  model.functions["barrier"] = constant("barrier", 5);
  EXPECT_EQ(seconds("win_fence"), 5);
  EXPECT_FALSE(predicted_function(model, "bcast").has_value());
  EXPECT_FALSE(predicted_function(model, "nosuch").has_value());
}

// 4 + 1 per byte: of 10 bytes, 10 s are the bytes'. What begins at 1 waits for them.
TEST(OneSided, BytesFollowEachOther) {
  MachineModel model;
  model.functions["put"] = constant("put", 4);
  model.functions["put"].regimes[0].equation.data.value = 1;
  model.functions["isend1"] = constant("isend1", 1);
  const Timing timing(model, Bound::avg);
  AccessPort port;
  const AccessTimes first = port.begin(timing, OneSided::put, Time(), Bytes(10));
  EXPECT_EQ(first.leave, Time::from_seconds(1));
  EXPECT_EQ(first.end, Time::from_seconds(14));
  const AccessTimes second = port.begin(timing, OneSided::put, Time::from_seconds(1), Bytes(0));
  EXPECT_EQ(second.leave, Time::from_seconds(2));
  EXPECT_EQ(second.end, Time::from_seconds(14));
  EXPECT_EQ(port.begin(timing, OneSided::put, Time::from_seconds(20), Bytes(0)).end,
            Time::from_seconds(24));
}

TEST(Meeting, OfAWindowOrFileTakesItsEquationOrABarriers) {
  MachineModel model;
  model.functions["barrier"] = constant("barrier", 2);
  model.functions["win_fence"] = constant("win_fence", 3);
  model.functions["file_write_at_all"] = constant("file_write_at_all", 5);
  const Timing timing(model, Bound::avg);
  const auto leave = [&](const char* name) {
    return timing.collective_leave(Time::from_seconds(10), Cost::barrier, 4, Bytes(8), name);
  };
  EXPECT_EQ(leave("MPI_Win_fence"), Time::from_seconds(13));
  EXPECT_EQ(leave("MPI_File_write_all"), Time::from_seconds(15));
  EXPECT_EQ(leave("MPI_File_write_all_c"), Time::from_seconds(15));
  EXPECT_EQ(leave("MPI_File_open"), Time::from_seconds(12));
  EXPECT_EQ(leave("MPI_Barrier"), Time::from_seconds(12));
  EXPECT_EQ(leave(""), Time::from_seconds(12));
}

TEST(MakingACommunicator, TakesTheEquationOfItsOwnNameOrWhatIsCharged) {
  MachineModel model;
  model.functions["comm_split"] = constant("comm_split", 2);
  model.functions["cart_create"] = constant("cart_create", 3);
  model.functions["comm_idup"] = constant("comm_idup", 5);
  const Timing timing(model, Bound::avg);
  const auto leave = [&](Cost cost, const char* name) {
    return timing.collective_leave(Time::from_seconds(10), cost, 4, Bytes(0), name);
  };
  EXPECT_EQ(leave(Cost::comm_create, "MPI_Cart_create"), Time::from_seconds(13));
  EXPECT_EQ(leave(Cost::comm_create, "MPI_Graph_create"), Time::from_seconds(12));
  EXPECT_EQ(leave(Cost::comm_split, "MPI_Cart_sub"), Time::from_seconds(12));
  // What it takes to post one is something else.
  EXPECT_EQ(leave(Cost::comm_dup, "MPI_Comm_idup"), Time::from_seconds(12));
  EXPECT_EQ(charged_function(model, "cart_create").function->name, "cart_create");
  EXPECT_EQ(charged_function(model, "graph_create").function->name, "comm_split");
}

TEST(PostingACollective, TakesItsEquationOrWhatWasMeasured) {
  MachineModel model;
  model.functions["ibcast1"] = constant("ibcast1", 3);
  model.functions["iscan"] = constant("iscan", 4);
  model.functions["iscan1"] = constant("iscan1", 5);
  model.functions["comm_idup"] = constant("comm_idup", 6);
  const Timing timing(model, Bound::avg);
  const auto leave = [&](Cost collective) {
    return timing.icollective_post_leave(Time::from_seconds(10), collective, 4, Bytes(8));
  };
  EXPECT_EQ(leave(Cost::bcast), Time::from_seconds(13));
  EXPECT_EQ(leave(Cost::scan), Time::from_seconds(14));
  EXPECT_EQ(leave(Cost::comm_dup), Time::from_seconds(16));
  EXPECT_EQ(leave(Cost::reduce), Time::from_seconds(10));
}

TEST(Unknowns, NameWhatTheModelLacksAndWhatWasNotMeasured) {
  MachineModel model;
  model.functions["send"] = constant("send", 1);
  model.functions["send"].measured = {{2}, Bytes(0), Bytes(1024)};
  model.functions["bcast"] = constant("bcast", 1);
  model.functions["bcast"].measured = {{2, 8}, Bytes(0), Bytes(1024)};
  const Timing timing(model, Bound::avg);
  timing.cost(Cost::send, 2, Bytes(8));
  timing.cost(Cost::isendoverlap, 2, Bytes(8));
  timing.cost(Cost::bcast, 8, Bytes(8));
  timing.cost(Cost::bcast, 1, Bytes(8));
  timing.least(Cost::send);  // looks at all sizes, but no message has them
  EXPECT_TRUE(notes_of(timing.unknowns()).empty());
  timing.cost(Cost::bcast, 200, Bytes(2048));
  timing.cost(Cost::barrier, 4, Bytes());
  EXPECT_EQ(notes_of(timing.unknowns()),
            (std::vector<std::string>{
                kTakesNoTime + std::string("barrier"),
                "extrapolated, beyond what was measured: bcast with 200 ranks, bcast of 2048 B"}));
}

// A file's call is a barrier with the size of what it moves.
TEST(Unknowns, ABarrierHasNoSize) {
  MachineModel model;
  model.functions["barrier"] = constant("barrier", 1);
  model.functions["barrier"].measured = {{2, 8}, Bytes(0), Bytes(0)};
  const Timing timing(model, Bound::avg);
  timing.cost(Cost::barrier, 4, Bytes(10));
  EXPECT_TRUE(notes_of(timing.unknowns()).empty());
}

TEST(Unknowns, TellWhereAnExtrapolatedEquationIsNotAbove0) {
  MachineModel model;
  model.functions["bcast"] = constant("bcast", -1);
  model.functions["bcast"].measured = {{128, 256}, Bytes(0), Bytes(1024)};
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(timing.cost(Cost::bcast, 4, Bytes(8)), Time());
  EXPECT_EQ(notes_of(timing.unknowns()),
            (std::vector<std::string>{"extrapolated, beyond what was measured: bcast with 4 ranks "
                                      "(not above 0 there: taken as 0)"}));
}

// A send of d bytes takes d - 3. What takes no time by intent, and parts of a message, are not
// told.
TEST(Unknowns, TellWhereAnEquationIsBelowZero) {
  MachineModel model;
  model.functions["send"] = constant("send", -3);
  model.functions["send"].regimes.front().equation.data.value = 1;
  model.functions["recv"] = constant("recv", 0);
  model.functions["isendoverlap"] = constant("isendoverlap", -1);
  model.functions["barrier"] = constant("barrier", -1);
  const Timing timing(model, Bound::avg);
  timing.cost(Cost::send, 2, Bytes(4));
  timing.cost(Cost::recv, 2, Bytes(4));
  timing.cost(Cost::isendoverlap, 2, Bytes(4));
  timing.cost(Cost::barrier, 1, Bytes(0));
  EXPECT_TRUE(notes_of(timing.unknowns()).empty());
  for (const std::uint64_t bytes : {2, 1, 3}) timing.cost(Cost::send, 2, Bytes(bytes));
  timing.cost(Cost::barrier, 4, Bytes(0));
  EXPECT_EQ(
      notes_of(timing.unknowns()),
      (std::vector<std::string>{
          "below zero by the machine model's equations, and taken as 0: send of 1 B, barrier"}));
}

TEST(LocalCall, ClockMovesByTheTimersResolution) {
  MachineModel model;
  model.timer_resolution = 2e-9;
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Wtime", 4), Time::ns(2));
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Comm_rank", 4), Time());
  model.timer_resolution = 0;
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Wtime", 4), Time::ns(100));
  model.timer_resolution = 2e-9;
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Wtick", 4), Time());
  model.functions["wtime"] = constant("wtime", 5e-9);
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Wtime", 4), Time::ns(5));
  model.functions["wtime"] = constant("wtime", 1e-9);
  EXPECT_EQ(Timing(model, Bound::avg).local_call("MPI_Wtime", 4), Time::ns(2));
}

}  // namespace
}  // namespace foretrace::machine
