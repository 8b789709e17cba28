// Collectives: who waits for whom, on MPI_COMM_WORLD and parts of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using testing::HasSubstr;

std::string replay_error(Programs& p) {
  try {
    replay(p);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Collective, AllWaitForAll) {
  Programs p(3);
  p.collective(0, Cost::barrier);
  p.collective(1, Cost::barrier, us(100));
  p.collective(2, Cost::barrier, us(50));
  p.finalize_all();
  const Replayed r = replay(p);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(r.leave(rank, 0), us(140));
  EXPECT_EQ(r.wait(0, 0), us(100));
  EXPECT_EQ(r.wait(1, 0), us(0));
  EXPECT_EQ(r.wait(2, 0), us(50));
}

TEST(Collective, AllWaitForTheRoot) {
  Programs p(3);
  p.collective(0, Cost::bcast, us(0), 1);
  p.collective(1, Cost::bcast, us(100), 1);
  p.collective(2, Cost::bcast, us(200), 1);
  p.finalize_all();
  const Replayed r = replay(p);  // T = 100 + 2 * 3
  EXPECT_EQ(r.leave(0, 0), us(206));
  EXPECT_EQ(r.wait(0, 0), us(100));
  EXPECT_EQ(r.leave(1, 0), us(206));
  EXPECT_EQ(r.leave(2, 0), us(306));
  EXPECT_EQ(r.wait(2, 0), us(0));
}

// By the rule of Howell's thesis all leave the latest start, 200, plus T = 106.
TEST(Collective, SynchronisedAllWaitForAll) {
  machine::MachineModel model = test_machine();
  model.collectives.synchronise = true;
  Programs p(3);
  p.collective(0, Cost::bcast, us(0), 1);
  p.collective(1, Cost::bcast, us(100), 1);
  p.collective(2, Cost::bcast, us(200), 1);
  p.collective(0, Cost::scan, us(100));  // from 406, 306, 306 on; T = 13
  p.collective(1, Cost::scan);
  p.collective(2, Cost::scan);
  p.finalize_all();
  const Replayed r = replay(p, {}, model);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(r.leave(rank, 0), us(306));
    EXPECT_EQ(r.wait(rank, 0), us(200 - 100 * rank));
    EXPECT_EQ(r.leave(rank, 1), us(419));
  }
}

// 10 + 1 for each element of 8 bytes: 20, 110 and 11 us for themselves, 110 for the
// largest. A rooted one, in which not all wait for all, stays as it is.
TEST(Collective, AllPayForTheLargestSize) {
  machine::MachineModel model = test_machine();
  machine::Regime regime;
  regime.equation.constant.value = 10;
  regime.equation.data.value = 1;
  for (const char* name : {"alltoallv", "gather"}) model.functions[name] = {name, "", "", {regime}};
  const std::uint64_t sizes[] = {80, 800, 8};
  Programs p(3);
  for (int rank = 0; rank < 3; ++rank) {
    p.collective(rank, Cost::alltoallv, us(0), -1, 0, sizes[rank]);
    p.collective(rank, Cost::gatherv, us(0), 0, 0, sizes[rank]);
  }
  p.finalize_all();
  const Replayed own = replay(p, {}, model);
  EXPECT_EQ(own.leave(0, 0), us(20));
  EXPECT_EQ(own.leave(1, 0), us(110));
  EXPECT_EQ(own.leave(2, 0), us(11));
  model.collectives.largest_count = true;
  const Replayed largest = replay(p, {}, model);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(largest.leave(rank, 0), us(110));
  EXPECT_EQ(largest.leave(2, 1), us(110 + 11));
}

TEST(Collective, TheRootDoesNotWait) {
  Programs p(2);
  for (int i = 0; i < 5; ++i) {
    p.collective(0, Cost::bcast, us(0), 0);
    p.collective(1, Cost::bcast, us(1000), 0);
  }
  p.finalize_all();
  const Replayed r = replay(p);  // T = 104
  EXPECT_EQ(r.result.ranks[0].time, us(520));
  EXPECT_EQ(r.result.ranks[1].time, us(5520));
}

TEST(Collective, TheRootWaitsForAll) {
  Programs p(3);
  p.collective(0, Cost::reduce, us(10), 0);
  p.collective(1, Cost::reduce, us(0), 0);
  p.collective(2, Cost::reduce, us(400), 0);
  p.finalize_all();
  const Replayed r = replay(p);  // T = 306
  EXPECT_EQ(r.leave(0, 0), us(706));
  EXPECT_EQ(r.wait(0, 0), us(390));
  EXPECT_EQ(r.leave(1, 0), us(306));
  EXPECT_EQ(r.leave(2, 0), us(706));
  EXPECT_EQ(r.wait(2, 0), us(0));
}

TEST(Collective, ScanWaitsForLowerRanks) {
  Programs p(4);
  const std::int64_t starts[] = {50, 0, 100, 20};
  for (int rank = 0; rank < 4; ++rank) p.collective(rank, Cost::scan, us(starts[rank]));
  p.finalize_all();
  const Replayed r = replay(p);  // T = 10 + 4
  EXPECT_EQ(r.leave(0, 0), us(64));
  EXPECT_EQ(r.leave(1, 0), us(64));  // waits for rank 0
  EXPECT_EQ(r.leave(2, 0), us(114));
  EXPECT_EQ(r.leave(3, 0), us(114));  // waits for rank 2
  EXPECT_EQ(r.wait(3, 0), us(80));
}

TEST(Collective, ScanLetsLowerRanksRunAhead) {
  Programs p(2);
  for (int i = 0; i < 3; ++i) {
    p.collective(0, Cost::scan);
    p.collective(1, Cost::scan, us(100));
  }
  p.finalize_all();
  const Replayed r = replay(p);  // T = 12
  EXPECT_EQ(r.result.ranks[0].time, us(36));
  EXPECT_EQ(r.result.ranks[1].time, us(336));
}

TEST(Collective, PartsOfTheWorldWithTheirOwnOrder) {
  Programs p(5);
  const auto even = p.add_comm({WorldRank(4), WorldRank(0), WorldRank(2)});
  const auto odd = p.add_comm({WorldRank(1), WorldRank(3)});
  // Root 0 of `even` is world rank 4.
  p.collective(0, Cost::bcast, us(0), 0, even);
  p.collective(2, Cost::bcast, us(60), 0, even);
  p.collective(4, Cost::bcast, us(50), 0, even);
  // In `even`, rank 4 comes first: 0 waits for 4, 2 for both.
  p.collective(0, Cost::scan, us(0), -1, even);
  p.collective(2, Cost::scan, us(0), -1, even);
  p.collective(4, Cost::scan, us(500), -1, even);
  p.collective(1, Cost::barrier, us(1000), -1, odd);
  p.collective(3, Cost::barrier, us(0), -1, odd);
  p.finalize_all();
  const Replayed r = replay(p);  // bcast 100 + 6, scan 10 + 3
  EXPECT_EQ(r.leave(4, 0), us(156));
  EXPECT_EQ(r.leave(0, 0), us(156));
  EXPECT_EQ(r.leave(2, 0), us(166));
  EXPECT_EQ(r.leave(4, 1), us(669));  // 656 + 13
  EXPECT_EQ(r.leave(0, 1), us(669));
  EXPECT_EQ(r.leave(2, 1), us(669));
  EXPECT_EQ(r.leave(1, 0), us(1040));
  EXPECT_EQ(r.leave(3, 0), us(1040));
}

TEST(Collective, AloneOnItsCommunicator) {
  Programs p(2);
  const auto self = p.add_comm({WorldRank(1)});
  p.collective(1, Cost::barrier, us(5), -1, self);
  p.collective(1, Cost::bcast, us(0), 0, self);
  p.collective(1, Cost::reduce, us(0), 0, self);
  p.finalize_all();
  EXPECT_EQ(replay(p).result.time, us(5 + 40 + 102 + 302));
}

TEST(Mismatch, OfTheFunction) {
  Programs p(2);
  p.collective(0, Cost::barrier);
  p.collective(1, Cost::allreduce);
  const std::string error = replay_error(p);
  EXPECT_THAT(error, HasSubstr("MPI_COMM_WORLD"));
  EXPECT_THAT(error, HasSubstr("rank 0 calls MPI_barrier"));
  EXPECT_THAT(error, HasSubstr("rank 1 calls MPI_allreduce"));
}

TEST(Mismatch, OfTheRoot) {
  Programs p(3);
  const auto part = p.add_comm({WorldRank(2), WorldRank(1)});
  p.collective(1, Cost::bcast, {}, 0, part);
  p.collective(2, Cost::bcast, {}, 1, part);
  const std::string error = replay_error(p);
  EXPECT_THAT(error, HasSubstr("world ranks 2, 1"));
  EXPECT_THAT(error, HasSubstr("rank 1 calls MPI_bcast (root 0)"));
  EXPECT_THAT(error, HasSubstr("rank 2 calls MPI_bcast (root 1)"));
}

TEST(Mismatch, LargeCountsAreTheSameCall) {
  Programs p(2);
  Operation barrier = p.make(trace::EventKind::collective, "MPI_Allreduce", {});
  barrier.collective = Cost::allreduce;
  p.add(WorldRank(0), barrier);
  barrier.name = p.add_name("MPI_Allreduce_c");
  p.add(WorldRank(1), barrier);
  p.finalize_all();
  EXPECT_EQ(replay_error(p), "");
}

TEST(Mismatch, NoMemberNoRoot) {
  Programs p(3);
  const auto part = p.add_comm({WorldRank(0), WorldRank(1)});
  p.collective(2, Cost::barrier, {}, -1, part);
  EXPECT_THAT(replay_error(p), HasSubstr("no member"));
  Programs q(2);
  q.collective(0, Cost::bcast, {}, 2);
  EXPECT_THAT(replay_error(q), HasSubstr("no such root"));
}

}  // namespace
}  // namespace foretrace::sim
