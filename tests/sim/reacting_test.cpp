// Sources that behave like running processes: operations that are not there yet,
// and what comes back from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// The receiver's message depends on who is first: rank 2 sends at 10, rank 1 at
// 20, whoever's process is slow.
TEST(Parked, NothingLaterIsDecidedBeforeAParkedRank) {
  ReactingSource p(3);
  p.recv(0, -1);
  p.recv(0, -1);
  p.send(1, 0, 800, us(20), 0);
  p.send(2, 0, 800, us(10), 0);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 0).message.peer, WorldRank(2));
  EXPECT_EQ(r.of(0, 1).message.peer, WorldRank(1));
  EXPECT_EQ(r.leave(0, 0), us(120));  // sent at 10, + recv 110
  EXPECT_EQ(r.leave(0, 1), us(190));  // the second was there: + recvmin 70
}

// Both messages are there at 10; at one time the lower rank is first, also if its
// process is slow and the other's is not.
TEST(Parked, TiesAreByRank) {
  ReactingSource p(3);
  p.recv(0, -1);
  p.recv(0, -1);
  p.send(1, 0, 0, us(5));
  p.send(1, 0, 800, {}, 0);
  p.send(2, 0, 800, us(35));
  p.recv(0, -1);
  p.finalize_all();
  const Reaction r = react(p);
  // Rank 1 sends at 5 and at 35.
  EXPECT_EQ(r.of(0, 0).message.peer, WorldRank(1));
  EXPECT_EQ(r.of(0, 1).message.peer, WorldRank(1));
  EXPECT_EQ(r.of(0, 2).message.peer, WorldRank(2));
}

// Of ranks that are all slow the one with the lowest clock is waited for first,
// then the lowest rank.
TEST(Parked, TheLowestClockIsWaitedForFirst) {
  for (const bool races : {true, false}) {
    ReactingSource p(3);
    p.add(0, trace::EventKind::call, "MPI_Comm_rank", us(7));
    p.add(1, trace::EventKind::call, "MPI_Comm_rank", us(5));
    p.add(2, trace::EventKind::call, "MPI_Comm_rank", us(9));
    p.finalize_all();
    std::vector<int> order;
    p.asked = [&](WorldRank rank) { order.push_back(rank.value); };
    p.restart(Pace::slow, races);
    const machine::MachineModel model = test_machine();
    const machine::Timing timing(model, machine::Bound::avg);
    NullSink sink;
    simulate(p, timing, {}, sink);
    if (races)
      EXPECT_THAT(order, ElementsAre(0, 1, 2, 1, 1, 0, 0, 2, 2));
    else
      EXPECT_THAT(order, SizeIs(9));
  }
}

// Without races a rank whose operations are there runs on past one that is slow.
TEST(Parked, OthersGoOnWhereNothingRaces) {
  ReactingSource p(2);
  for (int i = 0; i < 3; ++i) {
    p.send(0, 1, 800);
    p.recv(1, 0);
  }
  p.finalize_all();
  const Reaction r = react(p, {}, false);
  EXPECT_EQ(r.leave(0, 2), us(117));  // 3 * 39
  EXPECT_EQ(r.leave(1, 0), us(110));
  EXPECT_EQ(react(p).told, r.told);
}

TEST(Parked, ManyRanks) {
  constexpr int kRanks = 4096;
  ReactingSource p(kRanks);
  for (int r = 0; r < kRanks; ++r) {
    p.send(r, (r + 1) % kRanks, 8, us(r % 7)).payload = static_cast<std::uint64_t>(r);
    p.recv(r, (r + kRanks - 1) % kRanks);
  }
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(17, 1).payload, 16u);
  EXPECT_EQ(r.told, react(p, {}, false).told);
}

// Eager and rendezvous, before and after the receive, blocking, posted, open.
TEST(Payload, TravelsWithTheMessage) {
  for (const std::uint64_t bytes : {800u, 16000u}) {
    for (const bool first : {true, false}) {
      ReactingSource p(2);
      const Time late = us(5000);
      const auto from = first ? Time() : late;
      const auto to = first ? late : Time();
      p.send(0, 1, bytes, from).payload = 11;
      p.isend(0, 1, bytes, 1, from).payload = 12;
      p.complete(0, {1});
      p.send(0, 1, bytes, from).payload = 13;
      p.isend(0, 1, bytes, 2, from).payload = 14;
      p.complete(0, {2});
      Operation& exchange = p.add(0, trace::EventKind::sendrecv, "MPI_Sendrecv", from);
      exchange.send = exchange.recv = Programs::end(1, bytes, 0);
      exchange.payload = 15;
      p.recv(1, 0, to);
      p.irecv(1, 0, 5);
      p.complete(1, {5}, Completing::all, to);
      p.recv(1, -1, to);
      p.irecv(1, -1, 6);
      p.complete(1, {6}, Completing::any, to);
      Operation& back = p.add(1, trace::EventKind::sendrecv, "MPI_Sendrecv", to);
      back.send = back.recv = Programs::end(0, bytes, 0);
      back.payload = 16;
      p.finalize_all();
      const Reaction r = react(p);
      EXPECT_EQ(r.of(1, 0).payload, 11u);
      EXPECT_THAT(r.of(1, 2).payloads, ElementsAre(12u));
      EXPECT_EQ(r.of(1, 3).payload, 13u);
      EXPECT_THAT(r.of(1, 5).payloads, ElementsAre(14u));
      EXPECT_EQ(r.of(1, 6).payload, 15u);
      EXPECT_EQ(r.of(0, 6).payload, 16u);
      EXPECT_EQ(r.of(0, 0).payload, 0u);
      EXPECT_THAT(r.of(0, 2).payloads, ElementsAre(0u));
    }
  }
}

TEST(Payload, OfSharedLinks) {
  const machine::MachineModel model = test_machine();
  ReactingSource p(4);
  for (int r = 0; r < 4; ++r) {
    p.isend(r, (r + 1) % 4, 100'000, 1).payload = static_cast<std::uint64_t>(100 + r);
    p.send(r, (r + 2) % 4, 100).payload = static_cast<std::uint64_t>(200 + r);
    p.irecv(r, (r + 3) % 4, 2);
    p.recv(r, (r + 2) % 4);
    p.complete(r, {1, 2});
  }
  p.finalize_all();
  SimulateOptions options;
  options.network.kind = NetworkKind::bus;
  options.network.loggps.latency = us(1);
  options.network.loggps.gap_per_byte = 1e-9;
  options.network.loggps.sync_threshold = Bytes(4096);
  const Reaction r = react(p, options);
  EXPECT_EQ(r.of(0, 3).payload, 202u);
  EXPECT_THAT(r.of(0, 4).payloads, ElementsAre(0u, 103u));
}

}  // namespace
}  // namespace foretrace::sim
