// Non-blocking messages, the order of matching, and the table of requests.
#include <gtest/gtest.h>

#include "programs.hpp"
#include "sim/matcher.hpp"
#include "sim/request_table.hpp"

namespace foretrace::sim {
namespace {

using machine::SendMode;

TEST(Nonblocking, WaitAtOnce) {
  Programs p(2);
  p.isend(0, 1, 800, 1);
  p.wait(0, {1});
  p.irecv(1, 0, 800, 1);
  p.wait(1, {1});
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 0), us(39));       // isend1
  EXPECT_EQ(r.leave(0, 1), tenths(491));  // end 39 + 10.1; least 39 + 7.1
  EXPECT_EQ(r.wait(0, 1), us(3));
  EXPECT_EQ(r.leave(1, 0), us(40));  // irecv1
  EXPECT_EQ(r.leave(1, 1), us(95));  // end 0 + 40 + 55; least 40 + 54.5
  EXPECT_EQ(r.wait(1, 1), Time::ns(500));
}

TEST(Nonblocking, ComputeHidesTheTransfer) {
  Programs p(2);
  p.isend(0, 1, 800, 1);
  p.wait(0, {1}, us(1000));
  p.irecv(1, 0, 800, 1);
  p.wait(1, {1}, us(1000));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 1), tenths(10461));  // 1039 + (10.1 - 3)
  EXPECT_EQ(r.wait(0, 1), us(0));
  EXPECT_EQ(r.leave(1, 1), tenths(10945));  // 1040 + (55 - 0.5)
  EXPECT_EQ(r.wait(1, 1), us(0));
}

TEST(Nonblocking, RendezvousStartsWhenBothArePosted) {
  Programs p(2);
  p.isend(0, 1, 16000, 1);
  p.wait(0, {1});
  p.irecv(1, 0, 16000, 1, us(500));
  p.wait(1, {1});
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 1), us(722));   // 500 + isend1 210 + isend2 12
  EXPECT_EQ(r.wait(0, 1), us(503));    // beyond 210 + (12 - 3)
  EXPECT_EQ(r.leave(1, 1), us(1545));  // 500 + irecv1 40 + irecv2 1005
}

TEST(Nonblocking, SynchronousSendTakesWhatSsendTakes) {
  Programs p(2);
  p.isend(0, 1, 800, 1, {}, 0, SendMode::synchronous);
  p.wait(0, {1});
  p.recv(1, 0, 800, us(200));
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(0, 1), us(310));  // 200 + ssend 110
  EXPECT_EQ(r.leave(1, 0), us(310));  // 200 + recv 110
}

TEST(Nonblocking, WaitallHandlesRequestsInTheOrderListed) {
  const auto leave_and_wait = [](const std::vector<std::uint64_t>& order) {
    Programs p(3);
    p.irecv(0, 1, 800, 1);
    p.irecv(0, 2, 800, 2);
    p.wait(0, order);
    p.send(1, 0, 800);
    p.send(2, 0, 800, us(300));
    p.finalize_all();
    const Replayed r = replay(p);
    return std::pair(r.leave(0, 2), r.wait(0, 2));
  };
  // Entered at 80, ends 95 and 395, least 54.5 each.
  // 1: max(134.5, 95) = 134.5; 2: max(189, 395) = 395.
  EXPECT_EQ(leave_and_wait({1, 2}), std::pair(us(395), us(206)));
  // 2: max(134.5, 395) = 395; 1: max(449.5, 95) = 449.5.
  EXPECT_EQ(leave_and_wait({2, 1}), std::pair(tenths(4495), tenths(2605)));
}

TEST(Nonblocking, MistakesAreErrors) {
  Programs twice(1);
  twice.isend(0, 0, 8, 1);
  twice.wait(0, {1, 1});
  EXPECT_THROW(replay(twice), Error);
  Programs unknown(1);
  unknown.wait(0, {5});
  EXPECT_THROW(replay(unknown), Error);
  Programs posted_twice(1);
  posted_twice.isend(0, 0, 8, 1);
  posted_twice.isend(0, 0, 8, 1);
  EXPECT_THROW(replay(posted_twice), Error);
  Programs no_such_rank(1);
  no_such_rank.send(0, 1, 8);
  EXPECT_THROW(replay(no_such_rank), Error);
}

// Messages of different sizes show which one went where: recvmin is 30 + 0.4 d.
TEST(Order, MessagesOfOneTagInTheOrderSent) {
  Programs p(2);
  p.send(0, 1, 800);
  p.send(0, 1, 0);
  p.recv(1, 0, 800, us(1000));
  p.recv(1, 0, 0);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(1, 0), us(1070));
  EXPECT_EQ(r.leave(1, 1), us(1100));
}

TEST(Order, TagsAndCommunicatorsAreApart) {
  Programs p(2);
  const trace::CommId other = p.add_comm({WorldRank(0), WorldRank(1)});
  p.send(0, 1, 800, {}, 1);
  p.send(0, 1, 0, {}, 2);
  p.send(0, 1, 1600, {}, 2, SendMode::standard, other);
  p.recv(1, 0, 1600, us(1000), 2, other);
  p.recv(1, 0, 0, {}, 2);
  p.recv(1, 0, 800, {}, 1);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(1, 0), us(1110));  // 30 + 0.4 * 200
  EXPECT_EQ(r.leave(1, 1), us(1140));
  EXPECT_EQ(r.leave(1, 2), us(1210));
}

TEST(Order, PostedReceivesInTheOrderPosted) {
  Programs p(2);
  p.irecv(1, 0, 16000, 1);
  p.irecv(1, 0, 16000, 2);
  p.wait(1, {2});
  p.wait(1, {1});
  p.send(0, 1, 0, us(1000));
  p.send(0, 1, 800, us(1000));
  p.finalize_all();
  const Replayed r = replay(p);
  // The first message (empty, sent at 1000) belongs to request 1, the second
  // (sent at 2030) to request 2: 2030 + 40 + 55.
  EXPECT_EQ(r.leave(1, 2), us(2125));
  EXPECT_EQ(r.leave(1, 3), tenths(21295));  // 2125 + (5 - 0.5)
}

TEST(Order, BlockingReceiveComesAfterPostedOne) {
  Programs p(2);
  p.irecv(1, 0, 800, 1);
  p.recv(1, 0, 0);
  p.wait(1, {1});
  p.send(0, 1, 800);
  p.send(0, 1, 0, us(1000));
  p.finalize_all();
  EXPECT_EQ(replay(p).leave(1, 1), us(1099));  // sent at 1039, + recv 60
}

TEST(Order, UnmatchedRequestsTakeNoMessage) {
  Programs p(2);
  Operation irecv = p.make(trace::EventKind::irecv, "MPI_Irecv", {});
  irecv.recv = Programs::end(0, 800, 0);
  irecv.request = 1;
  irecv.matched = false;
  p.add(WorldRank(1), irecv);
  p.recv(1, 0, 800, us(960));
  p.wait(1, {1});
  p.send(0, 1, 800);
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_EQ(r.leave(1, 1), us(1070));
  EXPECT_EQ(r.leave(1, 2), us(1070));  // nothing to complete
}

TEST(Order, NeverCompletedReceiveKeepsItsPlace) {
  Programs p(2);
  p.irecv(1, 0, 800, 1);
  p.recv(1, 0, 0);
  p.send(0, 1, 800);
  p.send(0, 1, 0);
  p.finalize_all();
  EXPECT_EQ(replay(p).leave(1, 1), us(99));  // the second message, sent at 39, + recv 60
}

TEST(Memory, OneWayStreamStaysSmall) {
  // The sender could run to its end at once; 100,000 waiting messages would
  // hold more than 3 MB.
  Programs p(2);
  for (int i = 0; i < 100'000; ++i) {
    p.send(0, 1, 8);
    p.recv(1, 0, 8);
  }
  p.finalize_all();
  const Replayed r = replay(p);
  EXPECT_LT(r.result.stats.peak_bytes, 200'000u);
  SimulateOptions unlimited;
  unlimited.run_ahead = SIZE_MAX;
  unlimited.order = ReadyOrder::lowest_rank_first;
  const Replayed free = replay(p, unlimited);
  EXPECT_EQ(free.result.time, r.result.time);
}

TEST(Memory, ManyTagsDoNotGrowTheMatcher) {
  Matcher matcher(2);
  Route route{0, WorldRank(0), WorldRank(1), 0};
  for (int tag = 0; tag < 100'000; ++tag) {
    route.tag = tag;
    EXPECT_FALSE(matcher.send(route, {}));
    EXPECT_TRUE(matcher.receive(route, {}));
  }
  EXPECT_LT(matcher.memory(), 1000u);
}

TEST(Memory, ChannelsSurviveGrowth) {
  Matcher matcher(1);
  const auto route = [](int tag) { return Route{7, WorldRank(0), WorldRank(0), tag}; };
  for (int tag = 0; tag < 1000; ++tag)
    for (std::uint64_t copy = 0; copy < 2; ++copy)
      EXPECT_FALSE(matcher.send(route(tag), {{}, {}, 2 * static_cast<std::uint64_t>(tag) + copy}));
  for (std::uint64_t copy = 0; copy < 2; ++copy)
    for (int tag = 999; tag >= 0; --tag)
      EXPECT_EQ(matcher.receive(route(tag), {})->request,
                2 * static_cast<std::uint64_t>(tag) + copy);
  EXPECT_FALSE(matcher.receive(route(0), {}));
}

TEST(RequestTable, ForgottenRequestsMoveAside) {
  RequestTable table;
  table.insert(3)->tag = 33;
  for (std::uint64_t serial = 4; serial < 100'000; ++serial) {
    ASSERT_NE(table.insert(serial), nullptr);
    table.erase(serial);
  }
  EXPECT_EQ(table.find(3)->tag, 33);
  EXPECT_EQ(table.insert(3), nullptr);
  EXPECT_EQ(table.insert(0), nullptr);
  EXPECT_EQ(table.find(4), nullptr);
  EXPECT_LT(table.memory(), 2000u);
  table.erase(3);
  EXPECT_EQ(table.find(3), nullptr);
}

TEST(RequestTable, ManyAtOnce) {
  RequestTable table;
  for (std::uint64_t serial = 1; serial <= 1000; ++serial)
    table.insert(serial)->tag = static_cast<std::int32_t>(serial);
  for (std::uint64_t serial = 1; serial <= 1000; ++serial)
    ASSERT_EQ(table.find(serial)->tag, static_cast<std::int32_t>(serial));
}

}  // namespace
}  // namespace foretrace::sim
