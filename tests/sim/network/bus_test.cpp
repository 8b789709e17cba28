#include "sim/network/bus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_cases.hpp"

namespace foretrace::sim {
namespace {

using cases::Message;
using cases::run;
using cases::sent_ps;
using testing::ElementsAre;

// 1 GB/s is 1,000 ps a byte; latency 5,000 ps.
BusNetwork bus() {
  return BusNetwork({Time::ps(5000), 1e9});
}

// 100 bytes hold the medium for 100,000 ps from 7 ps on.
TEST(Bus, OneMessage) {
  BusNetwork network = bus();
  const auto arrivals = run(network, {{0, 1, 100, Time::ps(7)}});
  EXPECT_EQ(arrivals[0].sent, Time::ps(100'007));
  EXPECT_EQ(arrivals[0].arrived, Time::ps(105'007));
  EXPECT_EQ(network.latency(machine::NodeId(0), machine::NodeId(1)), Time::ps(5000));
}

// The second comes at 10,000 while the first holds the medium until 100,000; the
// third comes when it is free again, at 200,000.
TEST(Bus, WaitsUntilTheMediumIsFree) {
  BusNetwork network = bus();
  const auto arrivals =
      run(network,
          {{0, 1, 100, Time::ps(0)}, {2, 3, 50, Time::ps(10'000)}, {1, 0, 10, Time::ps(200'000)}});
  EXPECT_THAT(sent_ps(arrivals), ElementsAre(100'000, 150'000, 210'000));
}

// All at 0: node 1's two in the order of injection, then node 2's, node 3's.
TEST(Bus, EqualTimesByNodeThenOrder) {
  for (const cases::Ties ties : {cases::Ties::messages_first, cases::Ties::network_first}) {
    BusNetwork network = bus();
    std::vector<MessageId> order;
    const auto arrivals = run(network,
                              {{3, 0, 1, Time::ps(0)},
                               {1, 0, 2, Time::ps(0)},
                               {2, 0, 3, Time::ps(0)},
                               {1, 2, 4, Time::ps(0)}},
                              ties, &order);
    EXPECT_THAT(sent_ps(arrivals), ElementsAre(10'000, 2000, 9000, 6000));
    EXPECT_THAT(order, ElementsAre(1, 3, 2, 0));
  }
}

// Node 2's comes at 50 and waits; node 1's comes later and stays behind it.
TEST(Bus, FirstComeGoesBeforeLowerNode) {
  BusNetwork network = bus();
  const auto arrivals =
      run(network, {{0, 1, 100, Time::ps(0)}, {2, 0, 1, Time::ps(50)}, {1, 0, 1, Time::ps(51)}});
  EXPECT_THAT(sent_ps(arrivals), ElementsAre(100'000, 101'000, 102'000));
}

// An empty message waits for its turn, too. Where two end at one time the order
// is that of injection, not that of the nodes.
TEST(Bus, EmptyMessages) {
  BusNetwork network = bus();
  std::vector<MessageId> order;
  const auto arrivals =
      run(network, {{0, 1, 10, Time::ps(0)}, {3, 0, 0, Time::ps(5)}, {2, 0, 0, Time::ps(5)}},
          cases::Ties::messages_first, &order);
  EXPECT_THAT(sent_ps(arrivals), ElementsAre(10'000, 10'000, 10'000));
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(Bus, WithoutSpeedTakesNoTime) {
  BusNetwork network({});
  const auto arrivals = run(network, {{0, 1, 1 << 30, Time::ps(3)}});
  EXPECT_EQ(arrivals[0].arrived, Time::ps(3));
}

// 3 bytes at 7 bytes per second: 0.428571428571428... s, rounded once.
TEST(Bus, RoundsToTheNearestPicosecond) {
  BusNetwork network({Time(), 7});
  EXPECT_THAT(sent_ps(run(network, {{0, 1, 3, Time()}})), ElementsAre(428'571'428'571));
}

TEST(Bus, LoadIsOneMedium) {
  BusNetwork network = bus();
  run(network, {{0, 1, 100, Time::ps(0)}, {2, 3, 50, Time::ps(10'000)}});
  const auto loads = network.loads();
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].link, machine::LinkId(0));
  EXPECT_EQ(loads[0].messages, 2U);
  EXPECT_EQ(loads[0].bytes, Bytes(150));
  EXPECT_EQ(loads[0].busy, Time::ps(150'000));
}

}  // namespace
}  // namespace foretrace::sim
