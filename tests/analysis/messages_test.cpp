#include "analysis/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::Message;
using analysis::pair_messages;
using test::TraceBuilder;
using testing::ElementsAre;
using trace::EventKind;

Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

// Sends and receives as (send, receive) by number of the event.
std::vector<std::pair<std::size_t, std::size_t>> pairs(const TraceBuilder& builder) {
  std::vector<std::pair<std::size_t, std::size_t>> list;
  auto copy = builder;
  for (const Message& message : pair_messages(copy.trace()))
    list.emplace_back(message.send, message.receive);
  return list;
}

TEST(Messages, TheKthSendOfAChannelMeetsItsKthReceive) {
  TraceBuilder b(2);
  b.send(0, 1, 7, 8, us(1), us(1));   // 0
  b.send(0, 1, 9, 8, us(1), us(1));   // 1: another tag
  b.send(0, 1, 7, 16, us(1), us(1));  // 2
  b.recv(1, 0, 9, 8, Time(), us(9));
  b.recv(1, 0, 7, 8, Time(), us(1));
  b.recv(1, 0, 7, 16, Time(), us(1));
  b.recv(1, 0, 7, 16, Time(), us(1));  // never sent
  EXPECT_THAT(pairs(b), ElementsAre(std::pair(1, 0), std::pair(0, 1), std::pair(2, 2)));
  const Message first = pair_messages(b.trace()).front();
  EXPECT_EQ(first.from, WorldRank(0));
  EXPECT_EQ(first.to, WorldRank(1));
  EXPECT_EQ(first.sent, us(3));      // 1 + 1 + 1
  EXPECT_EQ(first.received, us(9));  // where the receive is left
}

// Two posted receives, completed in the other order: the first posted has the
// first message. A cancelled one takes none.
TEST(Messages, PostedReceivesCountInTheOrderOfPosting) {
  TraceBuilder b(2);
  b.send(0, 1, 7, 8, us(1), us(1));
  b.isend(0, 1, 1, 7, 16, us(1), us(1));
  b.irecv(1, 1, -1, 7, 64, Time(), us(1));  // 0, a wildcard
  b.irecv(1, 2, 0, 7, 64, Time(), us(1));   // 1, cancelled
  b.irecv(1, 3, 0, 7, 64, Time(), us(1));   // 2
  b.add(1, EventKind::complete, "MPI_Wait", Time(), us(1)).completions = {
      {3, WorldRank(0), 7, Bytes(16), false}};  // 3
  b.add(1, EventKind::complete, "MPI_Waitall", Time(), us(1)).completions = {
      {1, WorldRank(0), 7, Bytes(8), false}, {2, WorldRank(0), 7, Bytes(0), true}};  // 4
  EXPECT_THAT(pairs(b), ElementsAre(std::pair(0, 4), std::pair(1, 3)));
}

// The probe takes the first message out of matching; the receive after it gets
// the second one, and the receive of the taken message comes last.
TEST(Messages, AMatchedProbeTakesItsPlace) {
  TraceBuilder b(2);
  b.send(0, 1, 7, 8, us(1), us(1));
  b.send(0, 1, 7, 16, us(1), us(1));
  b.recv(1, 0, 7, 8, Time(), us(1));  // 0: becomes the probe
  b.recv(1, 0, 7, 16, Time(), us(1));
  b.recv(1, 0, 7, 8, Time(), us(1));
  auto& events = b.trace().ranks[1];
  events[0].kind = EventKind::probe;
  events[0].request = 5;
  events[2].taken = 5;
  EXPECT_THAT(pairs(b), ElementsAre(std::pair(0, 2), std::pair(1, 1)));
}

TEST(Messages, SendrecvIsBothAndNobodyIsNone) {
  TraceBuilder b(2);
  for (int rank = 0; rank < 2; ++rank) {
    trace::Event& both = b.add(rank, EventKind::sendrecv, "MPI_Sendrecv", us(1), us(1));
    both.send = TraceBuilder::endpoint(1 - rank, 3, 8);
    both.recv = TraceBuilder::endpoint(1 - rank, 3, 8);
    b.send(rank, -1, 0, 8, us(1), us(1));
    b.recv(rank, -1, 0, 8, us(1), us(1));
  }
  EXPECT_THAT(pairs(b), ElementsAre(std::pair(0, 0), std::pair(0, 0)));
}

TEST(Messages, ThatArriveBeforeTheyAreSentAreCounted) {
  TraceBuilder b(2, trace::Clock::wall);
  b.send(0, 1, 7, 8, us(10), us(1));  // entered at 10
  b.send(0, 1, 7, 8, us(9), us(1));   // at 20
  b.recv(1, 0, 7, 8, us(5), us(4));   // left at 9: too early
  b.recv(1, 0, 7, 8, us(1), us(10));  // at 20: at the same time is possible
  EXPECT_EQ(analysis::count_clock_violations(b.trace()), 1u);
  EXPECT_EQ(analysis::profile_trace(b.trace()).clock_violations, 1u);
  b.trace().info.clock = trace::Clock::virtual_;
  EXPECT_EQ(analysis::profile_trace(b.trace()).clock_violations, std::nullopt);
}

}  // namespace
}  // namespace foretrace
