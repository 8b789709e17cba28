#include "analysis/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::find_waits;
using analysis::Waited;
using machine::Cost;
using machine::SendMode;
using test::TraceBuilder;
using test::us;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::EventKind;

// "rank.event waited for partner: wait/late", in microseconds.
std::vector<std::string> waits(TraceBuilder builder) {
  std::vector<std::string> list;
  for (const Waited& w : find_waits(builder.trace()).calls)
    list.push_back(std::to_string(w.rank.value) + "." + std::to_string(w.event) + " for " +
                   std::to_string(w.partner.value) + ": " +
                   (w.known ? std::to_string(w.wait.count_ps() / 1000000) + "/" +
                                  std::to_string(w.late.count_ps() / 1000000)
                            : "unknown"));
  return list;
}

trace::Event& complete(TraceBuilder& b, int rank, Time compute, Time takes,
                       std::vector<trace::Completion> done) {
  trace::Event& event = b.add(rank, EventKind::complete, "MPI_Waitall", compute, takes);
  event.completions = std::move(done);
  return event;
}

// The sender comes at 30; the receiver is there from 10 to 35: 20 late. The
// second message is there before its receive.
TEST(Waiting, AReceiveWaitsForALateSender) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(30), us(1));  // 30 to 31
  b.send(0, 1, 7, 8, us(1), us(1));   // 32 to 33
  b.recv(1, 0, 7, 8, us(10), us(25));
  b.recv(1, 0, 7, 8, us(5), us(9));  // 40 to 49
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 20/20"));
}

trace::Event& one_sided(TraceBuilder& b, int rank, machine::OneSided what, int target, Time compute,
                        Time takes, Time wait = Time()) {
  trace::Event& event = b.add(rank, EventKind::call, "MPI_Win_x", compute, takes, wait);
  event.one_sided = what;
  event.send.peer = WorldRank(target);
  return event;
}

// Rank 1 holds rank 0's lock until 30, rank 2 gets it then and holds it until 50, when rank 3 gets
// it. At 30 rank 3 gives back the lock of another target, which nobody waits for.
TEST(Waiting, ALockWaitsForWhoHadItBefore) {
  using machine::OneSided;
  TraceBuilder b(4);
  one_sided(b, 0, OneSided::unlock, -1, us(60), us(0));
  one_sided(b, 1, OneSided::lock, 0, us(0), us(5));
  one_sided(b, 1, OneSided::unlock, 0, us(25), us(2));
  one_sided(b, 2, OneSided::lock, 0, us(10), us(20), us(15));
  one_sided(b, 2, OneSided::unlock, 0, us(20), us(0));
  one_sided(b, 3, OneSided::unlock, 1, us(30), us(0));
  one_sided(b, 3, OneSided::lock, 0, us(5), us(15), us(10));
  one_sided(b, 3, OneSided::lock_shared, 2, us(1), us(9), us(4));    // until 60: lock_all
  one_sided(b, 3, OneSided::lock_shared, 2, us(1), us(19), us(14));  // until 80: nobody known
  EXPECT_THAT(waits(b), ElementsAre("2.0 for 1: 15/15", "3.1 for 2: 10/10", "3.2 for 0: 4/4",
                                    "3.3 for -1: 14/0"));
}

// The k-th send of a channel meets its k-th receive; another tag is another
// channel. Sends are entered at 10 (tag 7), 20 (tag 9), 30 (tag 7).
TEST(Waiting, TheKthSendOfAChannelMeetsItsKthReceive) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));
  b.send(0, 1, 9, 8, us(9), us(1));
  b.send(0, 1, 7, 8, us(9), us(1));
  b.recv(1, 0, 9, 8, us(1), us(22));  // 1 to 23: 19
  b.recv(1, 0, 7, 8, us(1), us(1));   // 24 to 25: sent at 10
  b.recv(1, 0, 7, 8, us(1), us(9));   // 26 to 35: 4
  b.recv(1, 0, 7, 8, us(1), us(1));   // never sent
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 19/19", "1.2 for 0: 4/4", "1.3 for -1: unknown"));
}

// A call does not wait longer than it lasts, whatever the clocks say.
TEST(Waiting, IsNotLongerThanTheCall) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(50), us(1));
  b.recv(1, 0, 7, 8, us(10), us(5));
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 5/5"));
  EXPECT_EQ(find_waits(b.trace()).clock_violations, 1u);
}

TEST(Waiting, CountsMessagesThatArriveBeforeTheyAreSent) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));  // entered at 10
  b.send(0, 1, 7, 8, us(9), us(1));   // at 20
  b.recv(1, 0, 7, 8, us(5), us(4));   // left at 9: too early
  b.recv(1, 0, 7, 8, us(1), us(10));  // at 20: at the same time is possible
  EXPECT_EQ(analysis::profile_trace(b.trace()).clock_violations, 1u);
  b.trace().info.clock = trace::Clock::virtual_;
  EXPECT_EQ(analysis::profile_trace(b.trace()).clock_violations, std::nullopt);
}

// The receiver comes at 40. A send that is still there by then waited; one that
// was left at 11 went by itself; a buffered one never waits.
TEST(Waiting, ASendWaitsForALateReceiver) {
  const auto of = [](SendMode mode, Time takes) {
    TraceBuilder b(2, trace::Clock::wall);
    b.send(0, 1, 7, 8, us(10), takes);
    b.trace().ranks[0][0].mode = mode;
    b.recv(1, 0, 7, 8, us(40), us(5));
    return waits(b);
  };
  EXPECT_THAT(of(SendMode::synchronous, us(34)), ElementsAre("0.0 for 1: 30/30"));
  EXPECT_THAT(of(SendMode::standard, us(34)), ElementsAre("0.0 for 1: 30/30"));
  EXPECT_THAT(of(SendMode::standard, us(1)), IsEmpty());
  EXPECT_THAT(of(SendMode::buffered, us(34)), IsEmpty());
}

// Rank 1 waits in Waitall from 20: rank 0 sends at 30, rank 2 at 50, and rank 3
// receives the posted send at 45. The last is rank 2: 30.
TEST(Waiting, ACompletionWaitsForTheLastOfItsPartners) {
  TraceBuilder b(4, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(30), us(1));
  b.irecv(1, 1, 0, 7, 8, us(1), us(1));
  b.irecv(1, 2, -1, 7, 8, us(1), us(1));  // a wildcard
  b.isend(1, 3, 3, 7, 8, us(1), us(1));
  complete(b, 1, us(14), us(35),
           {{1, WorldRank(0), 7, Bytes(8), false},
            {2, WorldRank(2), 7, Bytes(8), false},
            {3, WorldRank(), 0, Bytes(0), false}});
  b.send(2, 1, 7, 8, us(50), us(1));
  b.recv(3, 1, 7, 8, us(45), us(5));
  EXPECT_THAT(waits(b), ElementsAre("1.3 for 2: 30/30"));
}

// Two posted receives of one channel, completed in the other order: the first
// posted has the first message (sent at 10), the other one that of 40. A
// cancelled one takes none.
TEST(Waiting, PostedReceivesCountInTheOrderOfPosting) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));
  b.isend(0, 1, 1, 7, 16, us(29), us(1));
  b.irecv(1, 1, -1, 7, 64, Time(), us(1));
  b.irecv(1, 2, 0, 7, 64, Time(), us(1));  // cancelled
  b.irecv(1, 3, 0, 7, 64, Time(), us(1));
  complete(b, 1, Time(), us(42), {{3, WorldRank(0), 7, Bytes(16), false}});  // from 3
  complete(b, 1, Time(), us(1),
           {{1, WorldRank(0), 7, Bytes(8), false}, {2, WorldRank(0), 7, Bytes(0), true}});
  EXPECT_THAT(waits(b), ElementsAre("1.3 for 0: 37/37"));
}

// The probe takes the first message (of 10) out of matching and waits for it
// from 1; the receive after it gets the second one (of 30), from 15.
TEST(Waiting, AMatchedProbeTakesItsPlace) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));
  b.send(0, 1, 7, 16, us(19), us(1));
  b.recv(1, 0, 7, 8, us(1), us(10));
  b.recv(1, 0, 7, 16, us(4), us(18));
  b.recv(1, 0, 7, 8, us(1), us(1));
  auto& events = b.trace().ranks[1];
  events[0].kind = EventKind::probe;
  events[0].request = 5;
  events[2].taken = 5;
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 9/9", "1.1 for 0: 15/15"));
}

// It waits from 1 for the message of 10, which the receive after it gets.
TEST(Waiting, AProbeLeavesItsMessage) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));
  b.send(0, 1, 7, 16, us(19), us(1));
  b.recv(1, 0, 7, 8, us(1), us(10));
  b.recv(1, 0, 7, 8, us(1), us(1));
  b.recv(1, 0, 7, 16, us(2), us(18));
  b.trace().ranks[1][0].kind = EventKind::probe;
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 9/9", "1.2 for 0: 15/15"));
}

TEST(Waiting, SendrecvIsBothAndNobodyIsNone) {
  TraceBuilder b(2, trace::Clock::wall);
  for (int rank = 0; rank < 2; ++rank) {
    trace::Event& both =
        b.add(rank, EventKind::sendrecv, "MPI_Sendrecv", us(1 + 9 * rank), us(11 - 9 * rank));
    both.send = TraceBuilder::endpoint(1 - rank, 3, 8);
    both.recv = TraceBuilder::endpoint(1 - rank, 3, 8);
    b.send(rank, -1, 0, 8, us(1), us(9));
    b.recv(rank, -1, 0, 8, us(1), us(9));
  }
  // Rank 0 enters at 1, rank 1 at 10.
  EXPECT_THAT(waits(b), ElementsAre("0.0 for 1: 9/9"));
}

// Ranks come at 30, 10, 20 and leave at 50.
TraceBuilder collective_of_three(std::string_view name, Cost which, int root) {
  TraceBuilder b(3, trace::Clock::wall);
  const std::int64_t start[] = {30, 10, 20};
  for (int rank = 0; rank < 3; ++rank)
    b.collective(rank, name, which, 8, us(start[rank]), us(50 - start[rank])).root =
        LocalRank(root);
  return b;
}

TEST(Waiting, InCollectivesByTheirKind) {
  EXPECT_THAT(waits(collective_of_three("MPI_Barrier", Cost::barrier, -1)),
              ElementsAre("1.0 for 0: 20/20", "2.0 for 0: 10/10"));
  // Everybody waits for the root, rank 2, which comes at 20.
  EXPECT_THAT(waits(collective_of_three("MPI_Bcast", Cost::bcast, 2)),
              ElementsAre("1.0 for 2: 10/10"));
  // The root, rank 1, waits for all.
  EXPECT_THAT(waits(collective_of_three("MPI_Reduce", Cost::reduce, 1)),
              ElementsAre("1.0 for 0: 20/20"));
  // Rank i waits for ranks 0 to i.
  EXPECT_THAT(waits(collective_of_three("MPI_Scan", Cost::scan, -1)),
              ElementsAre("1.0 for 0: 20/20", "2.0 for 0: 10/10"));
}

TEST(Waiting, TheLastOfACollectiveIsKnown) {
  const auto found =
      find_waits(collective_of_three("MPI_Reduce", Cost::reduce, 1).trace()).collectives;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].last, WorldRank(0));
  EXPECT_EQ(found[0].spread, us(20));
  EXPECT_EQ(found[0].wait, us(20));
}

// Only members count, and each communicator has its own collectives.
TEST(Waiting, CommunicatorsAreApart) {
  TraceBuilder b(3, trace::Clock::wall);
  trace::Communicator pair;
  pair.key = 5;
  pair.members = {WorldRank(2), WorldRank(0)};
  b.trace().comms.push_back(pair);
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, us(10), us(30)).comm = 1;  // 10 to 40
  b.collective(2, "MPI_Barrier", Cost::barrier, 0, us(35), us(5)).comm = 1;
  for (int rank = 0; rank < 3; ++rank)
    b.collective(rank, "MPI_Barrier", Cost::barrier, 0, us(100) - b.now(rank), us(1));
  EXPECT_THAT(waits(b), ElementsAre("0.0 for 2: 25/25"));
}

// Posted at 5 and 60; the completing call from 10 to 61 waits for rank 1.
TEST(Waiting, APostedCollectiveIsWaitedForWhereItIsCompleted) {
  TraceBuilder b(2, trace::Clock::wall);
  for (int rank = 0; rank < 2; ++rank) {
    trace::Event& post =
        b.add(rank, EventKind::icollective, "MPI_Ibarrier", us(5 + 55 * rank), us(1));
    post.collective = Cost::barrier;
    post.request = 1;
    complete(b, rank, us(4), us(51 - 50 * rank), {{1, WorldRank(), 0, Bytes(0), false}});
  }
  EXPECT_THAT(waits(b), ElementsAre("0.1 for 1: 50/50"));
}

// A call that may wait, and of which nothing is known.
TEST(Waiting, WhatIsNotKnownIsSaid) {
  TraceBuilder b(1, trace::Clock::wall);
  b.add(0, EventKind::call, "MPI_Probe", us(1), us(20));
  b.add(0, EventKind::call, "MPI_Comm_rank", us(1), us(20));
  EXPECT_THAT(waits(b), ElementsAre("0.0 for -1: unknown"));
  const analysis::Profile p = analysis::profile_trace(b.trace());
  EXPECT_EQ(p.wait_unknown, us(20));
  EXPECT_FALSE(p.states[1].wait_known);
  EXPECT_TRUE(p.states[2].wait_known);
}

// In virtual time the trace says how long; only who is found out. The message
// of rank 0 is under way from 30 to 35, so the receive that waits 15 from 20 on
// has a late partner for 10 of them.
TEST(Waiting, AVirtualTraceSaysHowLong) {
  TraceBuilder b(2);
  b.send(0, 1, 7, 8, us(30), us(1));
  b.recv(1, 0, 7, 8, us(20), us(20), us(15));
  EXPECT_THAT(waits(b), ElementsAre("1.0 for 0: 15/10"));
  trace::Trace same = b.trace();
  analysis::fill_waits(same);
  EXPECT_EQ(same.ranks, b.trace().ranks);
}

TEST(Waiting, IsFilledIntoMeasuredTraces) {
  TraceBuilder b = collective_of_three("MPI_Barrier", Cost::barrier, -1);
  b.trace().ranks[0][0].wait = us(7);  // nonsense
  analysis::fill_waits(b.trace());
  EXPECT_EQ(b.trace().ranks[0][0].wait, Time());
  EXPECT_EQ(b.trace().ranks[1][0].wait, us(20));
}

// By pair and place; who made others wait; who came last.
TEST(Waiting, IsToldByTheProfile) {
  TraceBuilder b(2, trace::Clock::wall);
  for (int i = 0; i < 2; ++i) {
    b.collective(0, "MPI_Barrier", Cost::barrier, 0, us(30), us(5));
    b.collective(1, "MPI_Barrier", Cost::barrier, 0, us(10), us(25));
  }
  b.trace().sites = {{"halo", 1}, {"halo", 2}};
  for (auto& events : b.trace().ranks)
    for (auto& event : events) event.site = &event == &events[0] ? 1 : 2;
  const trace::TellPlace tell = [](const trace::Site&) { return "halo.c:11"; };
  const analysis::Profile p = analysis::profile_trace(b.trace(), tell);
  ASSERT_EQ(p.waits.size(), 1u);
  EXPECT_EQ(p.waits[0].rank, WorldRank(1));
  EXPECT_EQ(p.waits[0].partner, WorldRank(0));
  EXPECT_EQ(p.waits[0].function, "MPI_Barrier");
  EXPECT_EQ(p.waits[0].place, "halo.c:11");
  EXPECT_EQ(p.waits[0].count, 2u);
  EXPECT_EQ(p.waits[0].wait, us(40));
  EXPECT_EQ(p.wait, us(40));
  EXPECT_EQ(p.per_rank[1].wait, us(40));
  EXPECT_EQ(p.per_rank[0].caused, us(40));
  EXPECT_EQ(p.sites[0].wait, us(40));
  EXPECT_EQ(p.states[1].wait, us(40));
  ASSERT_EQ(p.collectives.size(), 1u);
  EXPECT_EQ(p.collectives[0].count, 2u);
  EXPECT_EQ(p.collectives[0].last, WorldRank(0));
  EXPECT_EQ(p.collectives[0].last_count, 2u);
  EXPECT_EQ(p.collectives[0].spread, us(40));
}

// Beyond what may be remembered nobody is told to wait for anybody; a predicted
// trace still says how long.
TEST(Waiting, TooManyToRememberAreNotTold) {
  const auto profile = [](trace::Clock clock, std::uint64_t most) {
    TraceBuilder b(2, clock);
    b.send(0, 1, 7, 8, us(30), us(1));
    b.recv(1, 0, 7, 8, us(20), us(20), us(15));
    b.collective(0, "MPI_Barrier", Cost::barrier, 0, us(30), us(5));
    b.collective(1, "MPI_Barrier", Cost::barrier, 0, us(10), us(25), us(11));
    return analysis::profile_trace(b.trace(), {}, most);
  };
  // A send, a receive, two barriers and the waits: two in virtual time, four calls
  // that may have waited in measured time.
  EXPECT_TRUE(profile(trace::Clock::virtual_, 6).partners_known);
  EXPECT_TRUE(profile(trace::Clock::wall, 8).partners_known);

  const analysis::Profile predicted = profile(trace::Clock::virtual_, 5);
  EXPECT_FALSE(predicted.partners_known);
  EXPECT_TRUE(predicted.waits.empty());
  EXPECT_TRUE(predicted.collectives.empty());
  EXPECT_TRUE(predicted.wait_known);
  EXPECT_EQ(predicted.wait, us(26));
  EXPECT_EQ(predicted.per_rank[1].wait, us(26));
  EXPECT_EQ(predicted.functions[1].wait, us(15));

  const analysis::Profile measured = profile(trace::Clock::wall, 7);
  EXPECT_FALSE(measured.partners_known);
  EXPECT_FALSE(measured.wait_known);
  EXPECT_EQ(measured.clock_violations, std::nullopt);
  EXPECT_TRUE(measured.waits.empty());
  for (const auto& function : measured.functions) EXPECT_FALSE(function.wait_known);

  // Of CPU times nothing is remembered.
  EXPECT_TRUE(profile(trace::Clock::cpu, 0).partners_known);
}

}  // namespace
}  // namespace foretrace
