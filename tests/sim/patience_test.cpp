// Polls that wait a while, messages taken by probes, and receives that are
// cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using trace::EventKind;

Operation& patient(Operation& operation, Time patience) {
  operation.patience = patience;
  return operation;
}

// On the data sheet a header is there when its send begins.
TEST(Patience, ALookWaitsForTheMessage) {
  ReactingSource p(2);
  patient(p.probe(0, Probing::look, 1), us(50));
  p.recv(0, 1);
  p.send(1, 0, 800, us(20));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), us(20));
  EXPECT_EQ(r.wait(0, 0), us(20));
  EXPECT_EQ(r.of(0, 0).message.peer, WorldRank(1));
  EXPECT_EQ(r.of(0, 0).message.bytes, Bytes(800));
}

TEST(Patience, ALookGivesUp) {
  ReactingSource p(2);
  patient(p.probe(0, Probing::look, 1), us(15));
  patient(p.probe(0, Probing::look, 1), Time::ns(30));  // less than a poll takes
  patient(p.probe(0, Probing::look, 1), us(1000));
  p.recv(0, 1);
  p.send(1, 0, 800, us(20));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), us(15));
  EXPECT_EQ(r.wait(0, 0), Time::ns(14'900));
  EXPECT_FALSE(r.of(0, 0).message.peer.valid());
  EXPECT_EQ(r.leave(0, 1), Time::ns(15'100));
  EXPECT_EQ(r.wait(0, 1), us(0));
  EXPECT_EQ(r.leave(0, 2), us(20));
}

// Two that look for each other's message before they send theirs: waiting would
// help neither, so the first gives up at once, and the second finds its message.
TEST(Patience, NobodyWaitsWhereAllLook) {
  ReactingSource p(2);
  for (int rank = 0; rank < 2; ++rank) {
    patient(p.probe(rank, Probing::look, 1 - rank), us(1'000'000));
    p.send(rank, 1 - rank, 800);
    p.recv(rank, 1 - rank);
  }
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), Time::ns(100));
  EXPECT_FALSE(r.of(0, 0).message.peer.valid());
  EXPECT_EQ(r.leave(1, 0), Time::ns(100));
  EXPECT_TRUE(r.of(1, 0).message.peer.valid());
}

// As so many tests, each of which has its event.
TEST(Patience, ARowInVain) {
  const std::array looks = {VainLook{us(1), Time()}, VainLook{us(2), us(5)},
                            VainLook{us(3), Time::ns(30)}};
  ReactingSource p(2);
  Operation& row = p.add(0, EventKind::call, "MPI_Test", us(1));
  row.in_vain = true;
  row.vains = looks.data();
  row.vain_count = looks.size();
  p.recv(0, 1);
  p.send(1, 0, 800, us(20));
  p.finalize_all();
  const Reaction r = react(p);
  const auto& events = r.trace.ranks[0];
  ASSERT_THAT(events, SizeIs(5));
  const Time enters[] = {us(1), Time::ns(3'100), Time::ns(11'100)};
  const Time leaves[] = {Time::ns(1'100), Time::ns(8'100), Time::ns(11'200)};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i].kind, EventKind::call);
    EXPECT_EQ(events[i].compute, looks[i].compute);
    EXPECT_EQ(events[i].enter, enters[i]);
    EXPECT_EQ(events[i].leave, leaves[i]);
    EXPECT_EQ(events[i].wait, i == 1 ? Time::ns(4'900) : Time());
  }
  EXPECT_EQ(r.result.ranks[0].events, 5u);
  EXPECT_EQ(r.result.ranks[0].compute, us(6));
}

// A message that is there exactly at the end is found.
TEST(Patience, TheLastMomentCounts) {
  ReactingSource p(2);
  patient(p.probe(0, Probing::look, -1, -1), us(20));
  patient(p.probe(0, Probing::look, 1, 7), us(20));
  p.recv(0, 1);
  p.irecv(0, 1, 1, {}, 7);
  patient(p.complete(0, {1}, Completing::test_all, {}), us(1000));
  p.send(1, 0, 800, us(20));
  p.send(1, 0, 800, us(1000), 7);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), us(20));
  EXPECT_TRUE(r.of(0, 0).message.peer.valid());
  EXPECT_EQ(r.leave(0, 1), us(40));
  EXPECT_FALSE(r.of(0, 1).message.peer.valid());
  EXPECT_EQ(r.leave(0, 2), us(130));  // sent at 20
  // Posted at 130..170; sent at 1059; ends at 1059 + 95 = 1154.
  EXPECT_EQ(r.leave(0, 4), us(1154));
  EXPECT_EQ(r.of(0, 4).kind, EventKind::complete);
}

// irecv of a message sent at s ends at s + 95; a test handles it in 54.5.
TEST(Patience, ATestWaitsForItsRequest) {
  ReactingSource p(2);
  p.irecv(0, 1, 1);
  patient(p.complete(0, {1}, Completing::test_any, us(10)), us(20));  // gives up at 70
  patient(p.complete(0, {1}, Completing::test_some), us(500));        // ends at 195
  p.send(1, 0, 800, us(100));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 1).kind, EventKind::call);
  EXPECT_EQ(r.leave(0, 1), us(70));
  EXPECT_EQ(r.wait(0, 1), Time::ns(19'900));
  EXPECT_EQ(r.of(0, 2).kind, EventKind::complete);
  EXPECT_EQ(r.leave(0, 2), us(195));
  EXPECT_EQ(r.wait(0, 2), tenths(905));  // it has looked since 50: from 50 + 54.5
  EXPECT_THAT(r.of(0, 2).completions, SizeIs(1));
}

TEST(Patience, TestAllWaitsForTheLast) {
  for (const bool later_first : {true, false}) {
    ReactingSource p(3);
    p.irecv(0, 1, 1);
    p.irecv(0, 2, 2);
    patient(p.complete(0, {1, 2}, Completing::test_all), us(20));
    patient(p.complete(0, {1, 2}, Completing::test_all), us(5000));
    patient(p.complete(0, {}, Completing::test_all), us(5000));
    p.send(1, 0, 800, us(later_first ? 900 : 100));
    p.send(2, 0, 800, us(later_first ? 100 : 900));
    p.finalize_all();
    const Reaction r = react(p);
    EXPECT_EQ(r.leave(0, 2), us(100));
    EXPECT_EQ(r.leave(0, 3), us(995) + (later_first ? tenths(545) : Time()));
    EXPECT_THAT(r.of(0, 3).completions, SizeIs(2));
    EXPECT_EQ(r.leave(0, 4), r.leave(0, 3) + Time::ns(100));
  }
}

// Both ends are known when the test begins, and the first listed is the last.
TEST(Patience, TestAllOfWhatIsUnderWay) {
  ReactingSource p(2);
  p.irecv(0, 1, 1);
  p.irecv(0, 1, 2);
  patient(p.complete(0, {2, 1}, Completing::test_all), us(500));
  p.send(1, 0, 800);
  p.send(1, 0, 800);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 2).kind, EventKind::complete);
  EXPECT_THAT(r.of(0, 2).completions, SizeIs(2));
}

// A rank that tests two requests in turn: the test of the first ends in vain when the
// second is done, which the next test then finds at that moment.
TEST(Patience, AWatchedRequestEndsTheTest) {
  ReactingSource p(2);
  p.irecv(0, 1, 1);         // 0..40
  p.irecv(0, 1, 2, {}, 7);  // 40..80
  patient(p.complete(0, {1, 2}, Completing::test_all), us(5000)).watched = 1;
  patient(p.complete(0, {2, 1}, Completing::test_all), us(5000)).watched = 1;
  p.complete(0, {1});
  p.send(1, 0, 800, us(100), 7);
  p.send(1, 0, 800, us(1000));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 2).kind, EventKind::call);
  EXPECT_THAT(r.of(0, 2).completions, IsEmpty());
  EXPECT_EQ(r.leave(0, 2), us(195));  // sent at 100
  EXPECT_EQ(r.of(0, 3).kind, EventKind::complete);
  EXPECT_EQ(r.of(0, 3).completions.at(0).request, 2u);
  EXPECT_EQ(r.leave(0, 3), us(195));  // it has looked since 80
  EXPECT_EQ(r.of(0, 4).completions.at(0).request, 1u);
}

// One that is done already, or is no more, keeps nobody waiting for it.
TEST(Patience, WatchedRequestsThatAreDone) {
  ReactingSource p(2);
  p.irecv(0, 1, 1);
  p.irecv(0, 1, 2, {}, 7);
  patient(p.complete(0, {1, 2}, Completing::test_all, us(500)), us(5000)).watched = 1;
  p.complete(0, {2});
  patient(p.complete(0, {1, 2}, Completing::test_all), us(50)).watched = 1;
  p.complete(0, {1});
  p.send(1, 0, 800, us(100), 7);
  p.send(1, 0, 800, us(1000));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 2), us(580) + Time::ns(100));
  EXPECT_EQ(r.leave(0, 4), r.leave(0, 3) + us(50));
}

// Taken at 100, received at 600 in whatever order: recvmin 70.
TEST(MatchedProbe, TheTakenMessageIsReceived) {
  ReactingSource p(2);
  p.send(1, 0, 800).payload = 1;
  p.send(1, 0, 0).payload = 2;
  p.send(1, 0, 800).payload = 3;
  p.probe(0, Probing::take_look, 1, 0, us(500)).request = 7;
  p.probe(0, Probing::take_wait, -1, -1).request = 8;
  p.recv(0, 1);
  Operation& posted = p.irecv(0, -1, 20, {}, -1);
  posted.taken = 8;
  p.complete(0, {20});
  p.recv(0, -1, {}, -1).taken = 7;
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 0).message.bytes, Bytes(800));
  EXPECT_EQ(r.of(0, 1).message.bytes, Bytes(0));
  EXPECT_EQ(r.of(0, 2).payload, 3u);
  EXPECT_THAT(r.of(0, 4).payloads, ElementsAre(2u));
  EXPECT_EQ(r.of(0, 4).completions.at(0).source, WorldRank(1));
  EXPECT_EQ(r.of(0, 5).payload, 1u);
  EXPECT_EQ(r.leave(0, 5) - r.of(0, 5).interval.enter, us(70));
  EXPECT_EQ(r.trace.ranks[0][5].recv.peer, WorldRank(1));
  EXPECT_EQ(r.trace.ranks[0][5].recv.tag, 0);
  EXPECT_THAT(r.result.left_messages, IsEmpty());
}

TEST(MatchedProbe, RendezvousBeginsAtTheReceive) {
  ReactingSource p(2);
  p.send(1, 0, 16000);
  p.probe(0, Probing::take_wait, 1, 0, us(100)).request = 7;
  p.recv(0, 1, us(400)).taken = 7;
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 0), us(100));
  EXPECT_EQ(r.leave(0, 1), us(1560));  // 500 + recv 1060
  EXPECT_EQ(r.leave(1, 0), us(800));   // 500 + ssend 300
}

// What was posted before has the first choice, also at the same moment.
TEST(MatchedProbe, EarlierReceivesComeFirst) {
  ReactingSource p(2);
  p.irecv(0, -1, 1);
  p.probe(0, Probing::take_wait, -1).request = 7;
  p.recv(0, -1).taken = 7;
  p.complete(0, {1});
  p.send(1, 0, 800, us(40)).payload = 1;
  p.send(1, 0, 800).payload = 2;
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 2).payload, 2u);
  EXPECT_THAT(r.of(0, 3).payloads, ElementsAre(1u));
}

TEST(MatchedProbe, MistakesAreErrors) {
  ReactingSource p(1);
  p.recv(0, 0).taken = 7;
  EXPECT_THAT(error_of(p), HasSubstr("receives message 7, which no probe has taken"));
}

TEST(Cancel, AnUnmatchedReceiveIsWithdrawn) {
  for (const int from : {1, -1}) {
    ReactingSource p(2);
    p.irecv(0, from, 1);
    p.irecv(0, from, 2);
    p.irecv(0, from, 3);
    p.add(0, EventKind::call, "MPI_Cancel").cancel = 2;
    p.complete(0, {2, 1});
    p.complete(0, {3}, Completing::any);
    p.send(1, 0, 800, us(500)).payload = 11;
    p.send(1, 0, 800).payload = 13;
    p.finalize_all();
    const Reaction r = react(p);
    ASSERT_THAT(r.of(0, 4).completions, SizeIs(2));
    EXPECT_TRUE(r.of(0, 4).completions[0].cancelled);
    EXPECT_FALSE(r.of(0, 4).completions[0].source.valid());
    EXPECT_FALSE(r.of(0, 4).completions[1].cancelled);
    EXPECT_THAT(r.of(0, 4).payloads, ElementsAre(0u, 11u));
    EXPECT_THAT(r.of(0, 5).payloads, ElementsAre(13u));
  }
}

TEST(Cancel, FirstAndLastOfAQueue) {
  ReactingSource p(2);
  for (std::uint64_t i = 1; i <= 3; ++i) p.irecv(0, 1, i);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 3;
  p.irecv(0, 1, 4);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 1;
  p.complete(0, {1, 2, 3, 4});
  p.irecv(0, 1, 5);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 5;
  p.complete(0, {5}, Completing::test_any);
  p.recv(0, 1);
  for (std::uint64_t i = 1; i <= 3; ++i) p.send(1, 0, 800, us(1000)).payload = i;
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_THAT(r.of(0, 6).payloads, ElementsAre(0u, 1u, 0u, 2u));
  EXPECT_EQ(r.of(0, 9).kind, EventKind::complete);
  EXPECT_EQ(r.of(0, 10).payload, 3u);
}

SimulateOptions on_a_bus() {
  SimulateOptions options;
  options.network.kind = NetworkKind::bus;
  options.network.loggps.latency = us(1);
  options.network.loggps.gap_per_byte = 1e-9;
  options.network.loggps.sync_threshold = Bytes(4096);
  return options;
}

// The first, the last and the only one of a queue; at once, and when it is there.
void withdraw_sends(std::uint64_t bytes, Time wait, const SimulateOptions& options) {
  ReactingSource p(2);
  for (std::uint64_t i = 1; i <= 3; ++i) p.isend(0, 1, bytes, i).payload = 10 + i;
  for (const std::uint64_t i : {1, 3}) p.add(0, EventKind::call, "MPI_Cancel", wait).cancel = i;
  p.isend(0, 1, bytes, 4).payload = 14;
  p.complete(0, {1, 3});
  p.isend(0, 1, bytes, 5).payload = 15;
  p.add(0, EventKind::call, "MPI_Cancel", wait).cancel = 5;
  p.complete(0, {2, 4, 5}, Completing::all, us(10'000));
  p.recv(1, 0, us(50'000));
  p.recv(1, -1);
  p.finalize_all();
  const Reaction r = react(p, options);
  EXPECT_TRUE(r.of(0, 3).cancelled);
  EXPECT_EQ(r.of(0, 3).payload, 11u);
  EXPECT_EQ(r.of(0, 3).message.bytes.count, bytes);
  for (const trace::Completion& one : r.of(0, 6).completions) EXPECT_TRUE(one.cancelled);
  const auto& rest = r.of(0, 9).completions;
  ASSERT_THAT(rest, SizeIs(3));
  EXPECT_FALSE(rest[0].cancelled || rest[1].cancelled);
  EXPECT_TRUE(rest[2].cancelled);
  EXPECT_EQ(r.of(1, 0).payload, 12u);
  EXPECT_EQ(r.of(1, 1).payload, 14u);
  EXPECT_EQ(r.result.left_message_count, 0u);
}

TEST(Cancel, AnUnmatchedSendIsWithdrawn) {
  for (const std::uint64_t bytes : {800u, 16000u}) {  // eager, rendezvous
    for (const Time wait : {Time(), us(4000)}) {
      withdraw_sends(bytes, wait, {});
      withdraw_sends(bytes, wait, on_a_bus());
    }
  }
}

TEST(Cancel, TooLateForWhatIsMatched) {
  ReactingSource p(2);
  p.irecv(0, 1, 1);
  p.isend(0, 1, 16000, 2, us(500));
  p.add(0, EventKind::call, "MPI_Cancel", us(5000)).cancel = 1;
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 2;
  p.complete(0, {1, 2});
  p.send(1, 0, 800).payload = 11;
  p.recv(1, 0);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_FALSE(r.of(0, 4).completions.at(0).cancelled);
  EXPECT_FALSE(r.of(0, 4).completions.at(1).cancelled);
  EXPECT_EQ(r.of(0, 4).payloads[0], 11u);
  EXPECT_FALSE(r.of(0, 2).cancelled);
}

// A withdrawn receive has nothing to do with what was received before.
TEST(Cancel, AReceiveHasNoPayload) {
  ReactingSource p(1);
  p.send(0, 0, 800).payload = 9;
  p.recv(0, 0);
  p.irecv(0, 0, 1);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 1;
  p.complete(0, {1});
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 1).payload, 9u);
  EXPECT_TRUE(r.of(0, 3).cancelled);
  EXPECT_EQ(r.of(0, 3).payload, 0u);
  EXPECT_EQ(r.of(0, 3).message.bytes.count, 0u);
}

TEST(Cancel, SaysWhetherItCame) {
  ReactingSource p(1);
  p.irecv(0, 0, 1);
  p.add(0, EventKind::call, "MPI_Cancel").cancel = 1;
  p.complete(0, {1});
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_TRUE(r.of(0, 1).cancelled);
  EXPECT_FALSE(r.of(0, 2).cancelled);
  ReactingSource unknown(1);
  unknown.add(0, EventKind::call, "MPI_Cancel").cancel = 9;
  EXPECT_THAT(error_of(unknown), HasSubstr("cancels request 9, which is not posted"));
}

}  // namespace
}  // namespace foretrace::sim
