// What ranks are told that can never go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "programs.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using machine::SendMode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Deadlock deadlock_of(Programs& p) {
  try {
    replay(p);
  } catch (const Deadlock& deadlock) {
    return deadlock;
  }
  throw std::logic_error("no deadlock was found");
}

TEST(Deadlock, TwoRendezvousSendsRelyOnBuffering) {
  Programs p(3);
  p.send(0, 1, 16000, {}, 5);
  p.recv(0, 1, 16000);
  p.send(1, 0, 9000, {}, 6);
  p.recv(1, 0, 16000);
  p.finalize_all();
  const Deadlock deadlock = deadlock_of(p);
  const std::string what = deadlock.what();
  EXPECT_THAT(what, HasSubstr("rank 0 in event 1, MPI_Send to rank 1, tag 5, 16000 bytes"));
  EXPECT_THAT(what, HasSubstr("rank 1 in event 1, MPI_Send to rank 0, tag 6, 9000 bytes"));
  EXPECT_THAT(what, HasSubstr("relies on buffering that the target does not have (S=8192 bytes)"));
  EXPECT_THAT(what, Not(HasSubstr("\n")));
  EXPECT_THAT(deadlock.circle(), ElementsAre(WorldRank(0), WorldRank(1)));
  EXPECT_EQ(deadlock.blocked().size(), 2u);
}

TEST(Deadlock, EagerMessagesPass) {
  Programs p(2);
  p.send(0, 1, 800);
  p.recv(0, 1, 800);
  p.send(1, 0, 800);
  p.recv(1, 0, 800);
  p.finalize_all();
  EXPECT_EQ(replay(p).result.time, us(110));  // max(39 + 70, 0 + 110)
}

TEST(Deadlock, SynchronousSendsAreTheProgramsOwnFault) {
  Programs p(2);
  p.send(0, 1, 8, {}, 0, SendMode::synchronous);
  p.send(1, 0, 8, {}, 0, SendMode::synchronous);
  EXPECT_THAT(deadlock_of(p).what(), Not(HasSubstr("buffering")));
}

TEST(Deadlock, ReceivesInARing) {
  Programs p(4);
  for (int i = 0; i < 3; ++i) p.recv(i, (i + 1) % 3, 8, {}, 7);
  p.recv(3, 0, 8);  // not in the circle, but blocked
  const Deadlock deadlock = deadlock_of(p);
  EXPECT_THAT(deadlock.circle(), ElementsAre(WorldRank(0), WorldRank(1), WorldRank(2)));
  EXPECT_EQ(deadlock.report(),
            "rank 0 in event 1, MPI_Recv from rank 1, tag 7, 8 bytes: waits for rank 1\n"
            "rank 1 in event 1, MPI_Recv from rank 2, tag 7, 8 bytes: waits for rank 2\n"
            "rank 2 in event 1, MPI_Recv from rank 0, tag 7, 8 bytes: waits for rank 0\n"
            "rank 3 in event 1, MPI_Recv from rank 0, tag 0, 8 bytes: waits for rank 0\n");
}

TEST(Deadlock, CollectiveAgainstMessage) {
  Programs p(3);
  p.collective(0, Cost::barrier);
  p.recv(1, 0, 8);
  p.collective(2, Cost::barrier);
  const Deadlock deadlock = deadlock_of(p);
  EXPECT_THAT(deadlock.circle(), ElementsAre(WorldRank(0), WorldRank(1)));
  EXPECT_THAT(deadlock.what(), HasSubstr("MPI_barrier on MPI_COMM_WORLD"));
}

TEST(Deadlock, OfACompletingCall) {
  Programs p(2);
  p.irecv(0, 1, 8, 1, {}, 3);
  p.isend(0, 1, 16000, 2, {}, 4);
  p.wait(0, {1, 2});
  p.recv(1, 0, 8, {}, 9);
  const Deadlock deadlock = deadlock_of(p);
  EXPECT_THAT(deadlock.what(),
              HasSubstr("rank 0 in event 3, MPI_Waitall of a receive from rank 1, tag 3"));
  EXPECT_THAT(deadlock.what(), HasSubstr("and of a send to rank 1, tag 4"));
  EXPECT_THAT(deadlock.what(), Not(HasSubstr("buffering")));  // the receive would still wait
}

TEST(Deadlock, PostedSendsRelyOnBufferingToo) {
  Programs p(2);
  for (int i = 0; i < 2; ++i) {
    p.isend(i, 1 - i, 16000, 1);
    p.wait(i, {1});
    p.recv(i, 1 - i, 16000);
  }
  EXPECT_THAT(deadlock_of(p).what(), HasSubstr("buffering"));
}

TEST(Deadlock, HalfOfASendrecv) {
  // Rank 0's send is received; its own receive waits for rank 1, which waits for it.
  Programs p(2);
  p.sendrecv(0, 1, 1, 16000);
  p.recv(1, 0, 16000);
  p.recv(1, 0, 16000);
  const Deadlock deadlock = deadlock_of(p);
  EXPECT_THAT(deadlock.what(), HasSubstr("rank 0 in event 1, MPI_Sendrecv from rank 1"));
  EXPECT_THAT(deadlock.what(), Not(HasSubstr("buffering")));
}

TEST(Deadlock, WithItself) {
  Programs p(1);
  p.send(0, 0, 16000);
  p.recv(0, 0, 16000);
  p.finalize_all();
  EXPECT_THAT(deadlock_of(p).circle(), ElementsAre(WorldRank(0)));
}

TEST(Deadlock, PartnerHasFinalized) {
  Programs p(3);
  p.recv(0, 1, 8);
  p.recv(1, 2, 8, {}, 4);
  p.finalize(2);
  const Deadlock deadlock = deadlock_of(p);
  EXPECT_TRUE(deadlock.circle().empty());
  EXPECT_THAT(deadlock.what(), HasSubstr("rank 1 in event 1, MPI_Recv from rank 2, tag 4"));
  EXPECT_THAT(deadlock.what(), HasSubstr("waits for rank 2, which ended without it"));
}

TEST(CutOff, IsNoDeadlock) {
  Programs p(4);
  p.send(3, 0, 800, us(10));
  p.recv(0, 3, 800);
  for (int i = 0; i < 3; ++i) p.collective(i, Cost::barrier);
  p.finalize(0);
  p.finalize(1);
  p.finalize(2);
  const Replayed r = replay(p);
  EXPECT_THAT(r.result.notes,
              ElementsAre("rank 3's trace ends at event 1; ranks 0, 1, 2 wait for it"));
  EXPECT_EQ(r.trace.ranks[0].size(), 1u);
  EXPECT_EQ(r.leave(0, 0), us(120));
  EXPECT_EQ(r.result.ranks[0].time, us(120));
  EXPECT_FALSE(r.result.ranks[0].finalized);
  EXPECT_EQ(r.result.ranks[3].time, us(49));
}

TEST(CutOff, NobodyWaits) {
  Programs p(2);
  p.send(0, 1, 800);
  p.finalize(1);
  EXPECT_THAT(replay(p).result.notes, ElementsAre("rank 0's trace ends at event 1"));
}

TEST(CutOff, AbortSaysSo) {
  Programs p(2);
  p.add(WorldRank(0), p.make(trace::EventKind::aborted, "MPI_Abort", us(3)));
  p.recv(1, 0, 8);
  EXPECT_THAT(replay(p).result.notes,
              ElementsAre("rank 0's trace ends at event 1 (the program aborted); "
                          "rank 1 waits for it"));
}

TEST(CutOff, DeadlockElsewhereIsStillFound) {
  Programs p(4);
  p.recv(0, 1, 8);
  p.recv(1, 0, 8);
  p.recv(2, 3, 8);
  EXPECT_THAT(deadlock_of(p).circle(), ElementsAre(WorldRank(0), WorldRank(1)));
}

}  // namespace
}  // namespace foretrace::sim
