// Blocking messages: eager, rendezvous, sendrecv, MPI_PROC_NULL, compute time.
#include <gtest/gtest.h>

#include "programs.hpp"

namespace foretrace::sim {
namespace {

using machine::SendMode;

TEST(Eager, MessageIsThere) {
  Programs p(2);
  p.send(0, 1, 800);
  p.recv(1, 0, 800, us(500));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(39));   // T_send
  EXPECT_EQ(r.leave(1, 0), us(570));  // 500 + recvmin 70; 0 + recv 110 is past
  EXPECT_EQ(r.wait(1, 0), us(0));
  EXPECT_EQ(r.result.time, us(570));
  EXPECT_EQ(r.result.stats.messages, 1u);
  EXPECT_EQ(r.result.stats.operations, 4u);
}

TEST(Eager, SenderIsLate) {
  Programs p(2);
  p.send(0, 1, 800, us(200));
  p.recv(1, 0, 800);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(239));
  EXPECT_EQ(r.leave(1, 0), us(310));  // 200 + recv 110
  EXPECT_EQ(r.wait(1, 0), us(240));   // beyond 0 + recvmin 70
  EXPECT_EQ(r.result.ranks[1].wait, us(240));
  EXPECT_EQ(r.result.ranks[0].compute, us(200));
}

TEST(Eager, BothAtOnce) {
  Programs p(2);
  p.send(0, 1, 800);
  p.recv(1, 0, 800);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(1, 0), us(110));  // T_recv
  EXPECT_EQ(r.wait(1, 0), us(40));
}

TEST(Eager, EmptyMessage) {
  Programs p(2);
  p.send(0, 1, 0);
  p.recv(1, 0, 0);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(30));
  EXPECT_EQ(r.leave(1, 0), us(60));
}

TEST(Eager, BufferedSendStaysEagerAboveThreshold) {
  Programs p(2);
  p.send(0, 1, 16000, {}, 0, SendMode::buffered);
  p.recv(1, 0, 16000, us(5000));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(210));   // no bsend in the model: send
  EXPECT_EQ(r.leave(1, 0), us(5830));  // recvmin
}

TEST(Rendezvous, ReceiverIsLate) {
  Programs p(2);
  p.send(0, 1, 16000);
  p.recv(1, 0, 16000, us(500));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(800));   // 500 + ssend 300
  EXPECT_EQ(r.wait(0, 0), us(500));    // alone 300
  EXPECT_EQ(r.leave(1, 0), us(1560));  // 500 + recv 1060
  EXPECT_EQ(r.wait(1, 0), us(230));    // beyond 500 + recvmin 830
}

TEST(Rendezvous, SenderIsLate) {
  Programs p(2);
  p.send(0, 1, 16000, us(100));
  p.recv(1, 0, 16000);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(400));
  EXPECT_EQ(r.wait(0, 0), us(0));
  EXPECT_EQ(r.leave(1, 0), us(1160));
  EXPECT_EQ(r.wait(1, 0), us(330));  // 1160 - 830
}

TEST(Rendezvous, SynchronousSendOfAnySize) {
  Programs p(2);
  p.send(0, 1, 800, {}, 0, SendMode::synchronous);
  p.recv(1, 0, 800, us(100));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(210));  // 100 + ssend 110
  EXPECT_EQ(r.leave(1, 0), us(210));  // 100 + recv 110
}

TEST(Rendezvous, BeginsAtThreshold) {
  for (const std::uint64_t bytes : {8191, 8192}) {
    Programs p(2);
    p.send(0, 1, bytes);
    p.recv(1, 0, bytes, us(5000));
    p.finalize_all();
    EXPECT_EQ(replay(p).leave(0, 0) > us(5000), bytes == 8192);
  }
}

TEST(Sendrecv, BothHalvesStartTogether) {
  Programs p(2);
  p.sendrecv(0, 1, 1, 800);
  p.sendrecv(1, 0, 0, 800, us(20));
  p.finalize_all();
  const Replayed r = replay(p);
  // Rank 0: send 39; receive max(0 + recvmin 70, 20 + sendrecv 150).
  EXPECT_EQ(r.leave(0, 0), us(170));
  EXPECT_EQ(r.wait(0, 0), us(100));  // beyond the larger of 39 and 70
  // Rank 1: send 20 + 39; receive max(20 + 70, 0 + 150).
  EXPECT_EQ(r.leave(1, 0), us(150));
  EXPECT_EQ(r.wait(1, 0), us(60));
}

TEST(Sendrecv, RendezvousInARingDoesNotBlock) {
  Programs p(3);
  for (int i = 0; i < 3; ++i) p.sendrecv(i, (i + 1) % 3, (i + 2) % 3, 16000, us(100 * i));
  p.finalize_all();
  const Replayed r = replay(p);
  // Rank 0 at 0 sends to 1 (at 100), receives from 2 (at 200): max(100 + 300, 200 + 1290).
  EXPECT_EQ(r.leave(0, 0), us(1490));
  // Rank 1 at 100 sends to 2, receives from 0: max(200 + 300, 100 + 1290).
  EXPECT_EQ(r.leave(1, 0), us(1390));
  // Rank 2 at 200 sends to 0, receives from 1: 200 + 1290.
  EXPECT_EQ(r.leave(2, 0), us(1490));
}

TEST(Sendrecv, WithOrdinaryPartners) {
  Programs p(3);
  p.sendrecv(1, 2, 0, 800);
  p.send(0, 1, 800, us(10));
  p.recv(2, 1, 800);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(1, 0), us(160));  // 10 + sendrecv 150
  EXPECT_EQ(r.leave(2, 0), us(110));  // 0 + recv 110
}

TEST(ProcNull, TakesNothing) {
  Programs p(2);
  p.send(0, -1, 800);
  p.recv(0, -1, 800);
  p.sendrecv(0, -1, -1, 800);
  p.isend(0, -1, 800, 1);
  p.irecv(0, -1, 800, 2);
  p.wait(0, {2, 1});
  p.sendrecv(0, 1, -1, 800);  // at 0: its send half alone
  p.sendrecv(1, -1, 0, 800);  // its receive half alone
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 5), us(0));
  EXPECT_EQ(r.leave(0, 6), us(39));
  EXPECT_EQ(r.leave(1, 0), us(150));
  EXPECT_EQ(r.result.stats.messages, 1u);
}

TEST(ToItself, PostedOrEager) {
  Programs p(1);
  p.send(0, 0, 800);
  p.recv(0, 0, 800);
  p.irecv(0, 0, 16000, 1);
  p.send(0, 0, 16000);
  p.wait(0, {1});
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 1), us(110));  // max(39 + recvmin 70, 0 + recv 110)
  EXPECT_EQ(r.leave(0, 2), us(150));  // irecv1 40
  EXPECT_EQ(r.leave(0, 3), us(450));  // max(150, 110) + ssend 300
  // Transfer from max(150, 110) on: + irecv1 40 + irecv2 1005 = 1195;
  // completing takes at least 1004.5 from 450 on.
  EXPECT_EQ(r.leave(0, 4), tenths(14545));
}

// As in the test of compute tables.
TEST(Compute, IsScaledWithOneRounding) {
  Programs p(1);
  p.add(WorldRank(0), p.make(trace::EventKind::call, "MPI_Comm_rank", Time::ps(100'000'003)));
  p.finalize_all();
  SimulateOptions options;
  options.scale = 2.5;
  EXPECT_EQ(replay(p, options).event(0, 0).enter, Time::ps(250'000'008));
}

TEST(Compute, NoneRecordedScaledAnnotated) {
  Programs p(1);
  Operation rank_call = p.make(trace::EventKind::call, "MPI_Comm_rank", Time::ps(3));
  rank_call.steps = 2;
  rank_call.count = 4;
  p.add(WorldRank(0), rank_call);
  p.finalize_all();
  SimulateOptions options;
  const auto enter = [&] { return replay(p, options).event(0, 0).enter; };
  EXPECT_EQ(enter(), Time::ps(3));
  EXPECT_EQ(replay(p, options).leave(0, 0), Time::ps(3) + us(2));  // 4 * 0.5
  options.scale = 0.5;
  EXPECT_EQ(enter(), Time::ps(2));  // 1.5 ps, half away from zero
  options.scale = 0.4;
  EXPECT_EQ(enter(), Time::ps(1));  // 1.2 ps
  options.compute = ComputeMode::none;
  EXPECT_EQ(enter(), Time::ps(0));
  EXPECT_EQ(replay(p, options).event(0, 0).compute, Time::ps(0));
  options.compute = ComputeMode::annotated;
  EXPECT_EQ(enter(), us(2));  // 2 steps of 1 us
  EXPECT_EQ(replay(p, options).event(0, 0).compute, us(2));
}

TEST(Compute, ClockStartsAtInitAndCountsUpToFinalize) {
  Programs p(1);
  p.add(WorldRank(0), p.make(trace::EventKind::init, "MPI_Init", us(900)));
  p.finalize(0, us(7));
  p.add(WorldRank(0), p.make(trace::EventKind::call, "MPI_Comm_rank", us(100)));
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(0));
  EXPECT_EQ(r.result.time, us(7));
  EXPECT_EQ(r.result.ranks[0].compute, us(7));
  EXPECT_TRUE(r.result.ranks[0].finalized);
  EXPECT_EQ(r.event(0, 2).enter, us(107));
}

TEST(Compute, EndOfTimeIsAnError) {
  Programs p(1);
  for (int i = 0; i < 3; ++i)
    p.add(WorldRank(0), p.make(trace::EventKind::call, "MPI_Wtime", Time::ps(INT64_MAX / 4)));
  EXPECT_THROW(replay(p), Error);
}

}  // namespace
}  // namespace foretrace::sim
