// Locks in virtual time, and what is left at the end of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using trace::EventKind;

class LockingSource : public ReactingSource {
 public:
  using ReactingSource::ReactingSource;

  void lock(int rank, Locking how, Time at = {}, std::uint64_t number = 5) {
    Operation& operation =
        add(rank, EventKind::call, how == Locking::release ? "MPI_Win_unlock" : "MPI_Win_lock", at);
    operation.locking = how;
    operation.lock = number;
  }
  // From `at` on for `hold`.
  void hold(int rank, Locking how, Time at, Time hold) {
    lock(rank, how, at);
    lock(rank, Locking::release, hold);
  }
};

TEST(Lock, ExclusiveOnesFollowEachOther) {
  LockingSource p(3);
  p.hold(0, Locking::exclusive, us(10), us(100));
  p.hold(1, Locking::exclusive, us(30), us(5));
  p.hold(2, Locking::exclusive, us(20), us(50));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), us(10));
  EXPECT_EQ(r.wait(0, 0), us(0));
  EXPECT_EQ(r.leave(2, 0), us(110));  // waits since 20
  EXPECT_EQ(r.wait(2, 0), us(90));
  EXPECT_EQ(r.leave(1, 0), us(160));
  EXPECT_EQ(r.leave(1, 1), us(165));
}

TEST(Lock, TiesAreByRank) {
  LockingSource p(4);
  for (int r = 3; r >= 0; --r) p.hold(r, Locking::exclusive, us(10), us(10));
  p.finalize_all();
  const Reaction r = react(p);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(r.leave(rank, 0), us(10 + 10 * rank));
}

// 0 shares from 10 to 110, 1 with it; 2 waits for both, 3 and 4 must not
// overtake 2, and share afterwards.
TEST(Lock, SharedOnesDoNotOvertakeAnExclusiveOne) {
  LockingSource p(6);
  p.hold(0, Locking::shared, us(10), us(100));
  p.hold(1, Locking::shared, us(20), us(120));
  p.hold(2, Locking::exclusive, us(30), us(10));
  p.hold(3, Locking::shared, us(40), us(10));
  p.hold(4, Locking::shared, us(50), us(20));
  p.hold(5, Locking::exclusive, us(60), us(10));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(1, 0), us(20));
  EXPECT_EQ(r.leave(2, 0), us(140));
  EXPECT_EQ(r.leave(3, 0), us(150));
  EXPECT_EQ(r.leave(4, 0), us(150));
  EXPECT_EQ(r.leave(5, 0), us(170));
}

TEST(Lock, NumbersAreApart) {
  LockingSource p(2);
  p.lock(0, Locking::exclusive, us(1), 1);
  p.lock(0, Locking::exclusive, us(1), 2);
  p.lock(1, Locking::exclusive, us(5), 3);
  p.finalize_all();
  EXPECT_EQ(react(p).leave(1, 0), us(5));
}

TEST(Lock, DeadlockNamesTheHolder) {
  LockingSource p(2);
  p.lock(0, Locking::exclusive, us(1), 1);
  p.lock(0, Locking::exclusive, us(10), 2);
  p.lock(1, Locking::exclusive, us(1), 2);
  p.lock(1, Locking::exclusive, us(10), 1);
  const std::string what = error_of(p);
  EXPECT_THAT(what, HasSubstr("rank 0 in event 2, MPI_Win_lock, a lock that rank 1 holds"));
  EXPECT_THAT(what, HasSubstr("rank 1 in event 2, MPI_Win_lock, a lock that rank 0 holds"));
  LockingSource kept(3);
  kept.lock(0, Locking::shared, us(1));
  kept.lock(1, Locking::shared, us(1));
  kept.lock(2, Locking::exclusive, us(5));
  kept.finalize_all();
  EXPECT_THAT(error_of(kept),
              HasSubstr("a lock that rank 0 and rank 1 hold, waits for ranks 0, 1"));
}

TEST(Lock, MistakesAreErrors) {
  LockingSource p(1);
  p.lock(0, Locking::release);
  EXPECT_THAT(error_of(p), HasSubstr("releases a lock that it does not hold"));
  LockingSource no_races(1);
  no_races.lock(0, Locking::shared);
  EXPECT_THAT(error_of(no_races, false), HasSubstr("nothing races"));
}

TEST(LeftOver, MessagesAndRequests) {
  ReactingSource p(3);
  p.send(0, 2, 100, {}, 4);
  p.send(1, 2, 200, {}, 5);
  p.send(1, 2, 300, {}, 6);
  p.isend(1, 0, 8, 1);
  p.send(0, 2, 400, {}, 3);
  p.irecv(2, 0, 1, {}, 77);
  p.irecv(2, -1, 2, {}, 78);
  p.probe(2, Probing::take_wait, 0, 4).request = 9;
  p.recv(2, 1, {}, 6);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.result.left_message_count, 4u);
  ASSERT_THAT(r.result.left_messages, SizeIs(4));
  EXPECT_EQ(r.result.left_messages[0].source, WorldRank(1));
  EXPECT_EQ(r.result.left_messages[0].destination, WorldRank(0));
  EXPECT_EQ(r.result.left_messages[0].bytes, Bytes(8));
  EXPECT_EQ(r.result.left_messages[1].tag, 4);
  EXPECT_EQ(r.result.left_messages[2].tag, 3);
  EXPECT_EQ(r.result.left_messages[3].tag, 5);
  EXPECT_THAT(r.result.left_requests, ElementsAre(0u, 1u, 2u));
}

TEST(LeftOver, OnlyTheFirstMessagesAreListed) {
  ReactingSource p(2);
  for (int i = 0; i < 50; ++i) p.send(0, 1, 8);
  p.finalize_all();
  const Reaction r = react(p, {}, false);
  EXPECT_EQ(r.result.left_message_count, 50u);
  EXPECT_THAT(r.result.left_messages, SizeIs(kMostLeftMessages));
  ReactingSource cut(2);
  cut.send(0, 1, 8);
  EXPECT_THAT(react(cut).result.left_messages, IsEmpty());
}

}  // namespace
}  // namespace foretrace::sim
