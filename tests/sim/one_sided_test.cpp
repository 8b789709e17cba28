// One-sided communication by hand (docs/theory.md): accesses, what waits for them, locks; on the
// data sheet, and as messages (docs/networks.md).
//
// The machine (programs.hpp) has no access of its own: 800 bytes there take recv(800) + recv(0) =
// 110 + 60 = 170 us, none 120; so the bytes take 50. Posting takes isend1: 39, without bytes 30.
#include <gtest/gtest.h>

#include "loggps_options.hpp"
#include "programs.hpp"

namespace foretrace::sim {
namespace {

using machine::OneSided;
using trace::EventKind;

class Accesses : public Programs {
 public:
  using Programs::Programs;

  void one_sided(int rank, OneSided what, int target, std::uint64_t bytes = 0, Time at = {},
                 std::uint64_t request = 0, const char* name = "MPI_Win") {
    Operation operation = make(EventKind::call, name, at);
    operation.one_sided = what;
    operation.send.peer = target < 0 ? WorldRank() : WorldRank(target);
    operation.bytes = Bytes(bytes);
    operation.request = request;
    add(WorldRank(rank), operation);
  }
  void fence(int rank) {
    one_sided(rank, OneSided::flush, -1);
    collective(rank, machine::Cost::barrier);
  }
};

// The second put begins when the bytes of the first are through, at 50, and ends at 220.
TEST(OneSided, TheExampleOfThePage) {
  Accesses p(3);
  p.one_sided(0, OneSided::put, 1, 800);
  p.one_sided(0, OneSided::put, 2, 800);
  p.one_sided(0, OneSided::flush, 1);
  p.fence(0);
  p.fence(1);
  p.fence(2);
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 0), us(39));
  EXPECT_EQ(run.leave(0, 1), us(78));
  EXPECT_EQ(run.leave(0, 2), us(170));
  EXPECT_EQ(run.wait(0, 2), us(92));
  EXPECT_EQ(run.leave(0, 3), us(220));
  EXPECT_EQ(run.wait(0, 3), us(50));
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(run.leave(rank, rank == 0 ? 4 : 1), us(260)) << rank;
  EXPECT_EQ(run.wait(1, 1), us(220));
}

TEST(OneSided, AGetPostsItsRequestAlone) {
  Accesses p(2);
  p.one_sided(0, OneSided::get, 1, 800);
  p.one_sided(0, OneSided::flush, 1);
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 0), us(30));
  EXPECT_EQ(run.leave(0, 1), us(170));
}

// 110 there and 110 back.
TEST(OneSided, WhatGoesBothWaysTakesTwoMessages) {
  Accesses p(2);
  p.one_sided(0, OneSided::get_accumulate, 1, 800);
  p.one_sided(0, OneSided::flush, -1);
  p.finalize_all();
  EXPECT_EQ(replay(p).leave(0, 1), us(220));
}

// The put's buffer is free when its call leaves; the get ends at 50 + 170.
TEST(OneSided, ALocalFlushWaitsForWhatComesBack) {
  Accesses p(2);
  p.one_sided(0, OneSided::put, 1, 800);
  p.one_sided(0, OneSided::flush_local, 1);
  p.one_sided(0, OneSided::get, 1, 800);
  p.one_sided(0, OneSided::flush_local, 1);
  p.one_sided(0, OneSided::put, 1, 800);
  p.one_sided(0, OneSided::flush, 1);
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 1), us(39));
  EXPECT_EQ(run.leave(0, 3), us(220));
  EXPECT_EQ(run.leave(0, 5), us(220 + 170));
}

// Of the windows of two communicators; and 200 of computation hide what is under way.
TEST(OneSided, FlushesAreOfOneWindow) {
  Accesses p(2);
  const trace::CommId other = p.add_comm({WorldRank(0), WorldRank(1)});
  p.one_sided(0, OneSided::put, 1, 800);
  Operation flush = p.make(EventKind::call, "MPI_Win", {});
  flush.one_sided = OneSided::flush;
  flush.comm = other;
  p.add(WorldRank(0), flush);
  p.one_sided(0, OneSided::flush, 1, 0, us(200));
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 1), us(39));
  EXPECT_EQ(run.leave(0, 2), us(239));
  EXPECT_EQ(run.wait(0, 2), us(0));
}

// A put's request ends with its call, a get's with the access: 50 + 170.
TEST(OneSided, RequestsCostNothingButTime) {
  Accesses p(2);
  p.one_sided(0, OneSided::put, 1, 800, {}, 1);
  p.one_sided(0, OneSided::get, 1, 800, {}, 2);
  p.wait(0, {1});
  p.wait(0, {2});
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 2), us(69));
  EXPECT_EQ(run.leave(0, 3), us(220));
}

TEST(OneSided, ALockIsAnAtomicAccess) {
  Accesses p(2);
  p.one_sided(0, OneSided::lock, 1);
  p.one_sided(0, OneSided::unlock, 1);
  p.one_sided(0, OneSided::lock_shared, -1);
  p.finalize_all();
  const Replayed run = replay(p);
  EXPECT_EQ(run.leave(0, 0), us(121));
  EXPECT_EQ(run.wait(0, 0), us(0));
  EXPECT_EQ(run.leave(0, 1), us(121));
  EXPECT_EQ(run.leave(0, 2), us(121));
}

// put 7 + 0.1 per element: 17 for 800 bytes, of which the bytes are 10; posting is no longer
// than all of it. Flushes have a time of their own under their own name alone.
TEST(OneSided, MeasuredAccessesTakeTheirEquations) {
  machine::MachineModel model = test_machine();
  const auto add = [&](const std::string& name, double constant, double per_element) {
    machine::Regime regime;
    regime.equation.constant.value = constant;
    regime.equation.data.value = per_element;
    model.functions[name] = {name, "", "", {regime}};
  };
  add("put", 7, 0.1);
  add("win_lock", 5, 0);
  add("win_flush", 2, 0);
  Accesses p(2);
  p.one_sided(0, OneSided::lock, 1);
  p.one_sided(0, OneSided::put, 1, 800);
  p.one_sided(0, OneSided::put, 1, 800);
  p.one_sided(0, OneSided::flush, 1, 0, {}, 0, "MPI_Win_flush");
  p.one_sided(0, OneSided::accumulate, 1, 800);
  p.one_sided(0, OneSided::flush, 1, 0, {}, 0, "MPI_Win_unlock");
  p.finalize_all();
  const Replayed run = replay(p, {}, model);
  EXPECT_EQ(run.leave(0, 0), us(5));
  EXPECT_EQ(run.leave(0, 1), us(22));
  EXPECT_EQ(run.leave(0, 2), us(39));
  EXPECT_EQ(run.leave(0, 3), us(41));
  EXPECT_EQ(run.leave(0, 4), us(58));
  EXPECT_EQ(run.leave(0, 5), us(58));
}

// L = 10 us, o_s = 1 us, G = 0.1 us.
SimulateOptions coarse() {
  SimulateOptions options = loggps();
  machine::LogGPSTimes& times = options.network.loggps;
  times.latency = us(10);
  times.overhead_send = us(1);
  times.overhead_recv = us(1);
  times.gap = Time();
  times.gap_per_byte = 0.1e-6;
  return options;
}

// There at 21, back at 32; the request is there at 11, the data at 32.
TEST(OneSidedMessages, TheExampleOfThePage) {
  for (const OneSided what : {OneSided::put, OneSided::get}) {
    Accesses p(2);
    p.one_sided(0, what, 1, 101);
    p.one_sided(0, OneSided::flush, 1);
    p.finalize_all();
    const Replayed run = replay(p, coarse());
    EXPECT_EQ(run.leave(0, 0), us(1));
    EXPECT_EQ(run.leave(0, 1), us(32));
    EXPECT_EQ(run.wait(0, 1), us(31));
  }
  Accesses p(2);
  p.one_sided(0, OneSided::lock, 1);
  p.finalize_all();
  EXPECT_EQ(replay(p, coarse()).leave(0, 0), us(22));
}

// Rank 1 gets from rank 0 while that sends 201 bytes to rank 2, from 5 on: the port is busy until
// 25. The request is there at 11; the data has the port at 25, and is there at 25 + 1 + 10 + 10.
TEST(OneSidedMessages, WhatGoesBackWaitsForThePort) {
  Accesses p(3);
  p.send(0, 2, 201, us(5));
  p.recv(2, 0, 201);
  p.one_sided(1, OneSided::get, 0, 101);
  p.one_sided(1, OneSided::flush, 0);
  p.finalize_all();
  EXPECT_EQ(replay(p, coarse()).leave(1, 1), us(46));
}

// On one node nothing is in the way; the rank's own memory is as far as the network says.
TEST(OneSidedMessages, WithinANodeNothingIsInTheWay) {
  Accesses p(2);
  p.one_sided(0, OneSided::put, 1, 101);
  p.one_sided(0, OneSided::flush, 1);
  p.finalize_all();
  SimulateOptions options = coarse();
  options.network.placement = {machine::NodeId(0), machine::NodeId(0)};
  EXPECT_EQ(replay(p, options).leave(0, 1), us(32));
}

}  // namespace
}  // namespace foretrace::sim
