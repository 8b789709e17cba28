// FlowNetwork, recomputed by hand. 1 GB/s is 1 byte per nanosecond.
#include "sim/network/flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "flow_cases.hpp"

namespace foretrace::sim {
namespace {

using cases::graph;
using cases::Message;
using cases::regular;
using cases::run;
using cases::sent_ps;
using machine::NodeKind;
using testing::ElementsAre;

std::vector<std::int64_t> ns(const std::vector<Arrival>& arrivals) {
  std::vector<std::int64_t> sent = sent_ps(arrivals);
  for (std::int64_t& time : sent) {
    EXPECT_EQ(time % 1000, 0);
    time /= 1000;
  }
  return sent;
}

// Two hops of 10 ns. The flow does not wait for them: 1,000 bytes are sent
// after 1,000 ns, the last is there 20 ns later.
TEST(Flow, OneMessage) {
  const auto topology = regular("array:3?latency=10ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  const auto arrivals = run(network, {{0, 2, 1000, Time::ns(5)}});
  EXPECT_EQ(arrivals[0].sent, Time::ns(1005));
  EXPECT_EQ(arrivals[0].arrived, Time::ns(1025));
  EXPECT_EQ(network.latency(machine::NodeId(0), machine::NodeId(2)), Time::ns(20));
}

// Both at half the rate: A's 1,000 bytes end at 2,000 ns, then B has 1,000 of
// 2,000 left and the link for itself.
TEST(Flow, TwoOnOneLink) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time()}, {0, 2, 2000, Time()}})),
              ElementsAre(2000, 3000));
}

// A bucket of 200 bytes: they are gone at once, the other 300 after as many ns. At 350 ns it has 50
// bytes again, at 1,000 ns all of them.
TEST(Flow, BurstPassesALinkThatHasRested) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s&burst=200");
  FlowNetwork network(topology);
  EXPECT_THAT(
      ns(run(network,
             {{0, 2, 500, Time()}, {0, 2, 100, Time::ns(350)}, {0, 2, 200, Time::ns(1000)}})),
      ElementsAre(300, 400, 1000));
}

// The first has the bucket, and 800 bytes left of the 1,000; both at half the rate until 1,600 ns.
// The second, of another connection, has 200 left then.
TEST(Flow, BurstIsOfTheLink) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s&burst=200");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time()}, {0, 2, 1000, Time()}})),
              ElementsAre(1600, 1800));
}

// 100 bytes more for the first, and for the third, which finds its connection idle; the second is
// in one stream with the first. An empty message is a header.
TEST(Flow, Header) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s&header=100");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time(), 7},
                               {0, 1, 1000, Time::ns(500), 7},
                               {0, 1, 1000, Time::ns(2100), 7},
                               {0, 2, 0, Time::ns(6000)}})),
              ElementsAre(1100, 2100, 3200, 6100));
}

// The same between two nodes: messages with one route.
TEST(Flow, TwoOnOneRoute) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(
      ns(run(network, {{0, 1, 1000, Time()}, {0, 1, 2000, Time()}, {0, 1, 1000, Time::ns(6000)}})),
      ElementsAre(2000, 3000, 7000));
}

// Those of one connection go one after the other, and share with another connection as one: A's
// 1,000 bytes and C's 2,000 at half the rate until 2,000 ns, then B's 2,000 and C's last 1,000
// until 4,000, then B's last 1,000. The empty one leaves behind B.
TEST(Flow, OneAfterTheOtherOnAConnection) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time(), 7},
                               {0, 1, 2000, Time(), 7},
                               {0, 1, 0, Time(), 7},
                               {0, 2, 2000, Time()}})),
              ElementsAre(2000, 5000, 5000, 4000));
}

// The second one has the link for itself: 2,000 of its bytes are gone when the third one of the
// connection comes.
TEST(Flow, ConnectionIsIdleBetween) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time(), 7},
                               {0, 1, 3000, Time::ns(2000), 7},
                               {0, 1, 500, Time::ns(4000), 7}})),
              ElementsAre(1000, 5000, 5500));
}

// A alone until 1,000 ns (1,000 of 3,000 bytes), then both at half the rate: B's
// 500 bytes end at 2,000, when A has 1,500 left.
TEST(Flow, OneStartsInTheMiddle) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 2, 3000, Time()}, {0, 1, 500, Time::ns(1000)}})),
              ElementsAre(3500, 2000));
}

// Opposite directions are different links.
TEST(Flow, FullDuplex) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time()}, {1, 0, 1000, Time()}})),
              ElementsAre(1000, 1000));
}

// The classic chain: A over all three links of 10, 6 and 20 GB/s, B, C and D over
// one each. The second link is full at level 3: A = C = 3; B = 10 - 3 = 7,
// D = 20 - 3 = 17. A ends at 1,000 ns with 3,000 bytes, as does B with 7,000; then C
// has 6 and D 20: C's last 3,000 bytes take 500 ns, D's last 20,000 1,000.
TEST(Flow, ChainWithDifferentBottlenecks) {
  const auto topology = graph(4, {}, {{0, 1, 10e9}, {1, 2, 6e9}, {2, 3, 20e9}});
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 3, 3000, Time()},
                               {0, 1, 7000, Time()},
                               {1, 2, 6000, Time()},
                               {2, 3, 37'000, Time()}})),
              ElementsAre(1000, 1000, 1500, 2000));
}

// Three levels, and a change that goes through all of them. Links of 2, 4 and 7
// GB/s; P: first link only, Q: first and second, R: second and third, S: third.
// Full at 1: P = Q = 1; R = 4 - 1 = 3 (below the third link's 7/2); S = 7 - 3 = 4.
// P ends at 1,000 ns (1,000 bytes). Then Q = R = 2 (both of its links are full at
// level 2) and S = 5. With Q's 3,000 bytes: 1,000 by then, 2,000 more until 2,000
// ns. R: 3,000 + 2,000 bytes by then, S: 4,000 + 5,000. Then R = S = 3.5: R's last
// 3,500 bytes and S's last 3,500 until 3,000 ns.
TEST(Flow, ChangesGoFromLinkToLink) {
  const auto topology = graph(4, {}, {{0, 1, 2e9}, {1, 2, 4e9}, {2, 3, 7e9}});
  FlowNetwork network(topology);
  EXPECT_THAT(ns(run(network, {{0, 1, 1000, Time()},
                               {0, 2, 3000, Time()},
                               {1, 3, 8500, Time()},
                               {2, 3, 12'500, Time()}})),
              ElementsAre(1000, 2000, 3000, 3000));
}

// The slower link of a route counts: 3 of 4 GB/s. A second message shares the
// faster link only, and has what is left: 1 GB/s until 1,000 ns, then 4.
TEST(Flow, UnequalCapacities) {
  const auto topology = graph(3, {}, {{0, 1, 4e9}, {1, 2, 3e9}});
  FlowNetwork slow(topology);
  EXPECT_THAT(ns(run(slow, {{0, 2, 3000, Time()}})), ElementsAre(1000));
  // With both: 2 each (the slower link is full at 3, the faster one at 2).
  FlowNetwork both(topology);
  EXPECT_THAT(ns(run(both, {{0, 2, 2000, Time()}, {0, 1, 6000, Time()}})), ElementsAre(1000, 2000));
}

// Three at 1/3: 0.333... bytes per ns. 1 byte takes 3 ns.
TEST(Flow, Thirds) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(sent_ps(run(network, {{0, 1, 1, Time()}, {0, 1, 1, Time()}, {0, 1, 1, Time()}})),
              ElementsAre(3000, 3000, 3000));
}

// 62.5 ps per byte. When B starts, A has 11 - 317 / 62.5 = 5.928 bytes left, which take 741 ps at
// half the rate. At 1,304 ps B has 17 - 5.928 left, 361 / 62.5 less when C starts: 5.296, or 662
// ps. At 2,327 ps C has 29 - 5.296 left, which take 1,481.5 ps.
TEST(Flow, HalfAPicosecondIsTheNextOne) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=16GB/s");
  FlowNetwork network(topology);
  EXPECT_THAT(sent_ps(run(network, {{0, 1, 11, Time::ps(246)},
                                    {0, 1, 17, Time::ps(563)},
                                    {0, 1, 29, Time::ps(1665)}})),
              ElementsAre(1304, 2327, 3809));
}

// All processors of a bus share the one medium, in any direction; leaving it
// takes nothing: 3 messages of 1,000 bytes together need 3,000 ns.
TEST(Flow, BusIsOneMedium) {
  const auto topology = regular("bus:4?latency=10ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  const auto arrivals =
      run(network, {{0, 1, 1000, Time()}, {1, 0, 1000, Time()}, {2, 3, 1000, Time()}});
  EXPECT_THAT(ns(arrivals), ElementsAre(3000, 3000, 3000));
  EXPECT_EQ(arrivals[2].arrived, Time::ns(3010));
  // The medium is one carrier, entered once by each.
  ASSERT_EQ(network.loads().size(), 1U);
  EXPECT_EQ(network.loads()[0].bytes, Bytes(3000));
  EXPECT_EQ(network.loads()[0].messages, 3U);
  EXPECT_EQ(network.loads()[0].busy, Time::ns(3000));
}

TEST(Flow, EmptyMessageTakesTheLatency) {
  const auto topology = regular("array:3?latency=10ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  const auto arrivals = run(network, {{0, 2, 0, Time::ns(7)}, {0, 2, 1000, Time()}});
  EXPECT_EQ(arrivals[0].sent, Time::ns(7));
  EXPECT_EQ(arrivals[0].arrived, Time::ns(27));
  EXPECT_EQ(arrivals[1].sent, Time::ns(1000));  // undisturbed
}

// Links without a limit take no time, and share nothing; on a route with others
// they do not count.
TEST(Flow, InfiniteBandwidth) {
  const double none = std::numeric_limits<double>::infinity();
  const auto topology = graph(3, {}, {{0, 1, none, Time::ns(4)}, {1, 2, 1e9, Time::ns(3)}});
  FlowNetwork network(topology);
  const auto arrivals = run(network, {{0, 1, 1'000'000, Time::ns(2)}, {0, 2, 1000, Time()}});
  EXPECT_EQ(arrivals[0].sent, Time::ns(2));
  EXPECT_EQ(arrivals[0].arrived, Time::ns(6));
  EXPECT_EQ(arrivals[1].sent, Time::ns(1000));
  EXPECT_EQ(arrivals[1].arrived, Time::ns(1007));
  const auto loads = network.loads();
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].bytes, Bytes(1'001'000));
  EXPECT_EQ(loads[0].busy, Time());
  EXPECT_EQ(loads[1].busy, Time::ns(1000));
}

// What a link does not say comes from the fallback; without one it is nothing.
TEST(Flow, FallbackSpeed) {
  const auto topology = regular("array:2");
  FlowNetwork given(topology, {Time::ns(3), 2e9});
  EXPECT_EQ(run(given, {{0, 1, 1000, Time()}})[0].arrived, Time::ns(503));
  FlowNetwork nothing(topology);
  EXPECT_EQ(run(nothing, {{0, 1, 1000, Time()}})[0].arrived, Time());
  const auto half = regular("array:2?latency=9ns");
  FlowNetwork mixed(half, {Time::ns(3), 2e9});
  EXPECT_EQ(run(mixed, {{0, 1, 1000, Time()}})[0].arrived, Time::ns(509));
}

TEST(Flow, NoWay) {
  const auto topology = graph(3, {}, {{0, 1}, {1, 0}});
  FlowNetwork network(topology);
  EXPECT_THROW(network.inject(0, {machine::NodeId(0), machine::NodeId(2)}, Bytes(1), Time()),
               Error);
  EXPECT_THROW((void)network.latency(machine::NodeId(2), machine::NodeId(1)), Error);
}

// One message ends when another starts: nobody is slower for it. Whether the
// network is asked before or after the start makes no difference.
TEST(Flow, EndAndStartAtOneTime) {
  const auto topology = regular("array:2?latency=0ns&bandwidth=1GB/s");
  for (const cases::Ties ties : {cases::Ties::messages_first, cases::Ties::network_first}) {
    FlowNetwork network(topology);
    EXPECT_THAT(
        ns(run(network, {{0, 1, 1000, Time()}, {0, 1, 2000, Time()}, {0, 1, 500, Time::ns(2000)}},
               ties)),
        ElementsAre(2000, 3500, 3000));
  }
}

// Equal starts in any order: the same ends; what ends together is told in
// the order of injection.
TEST(Flow, OrderOfInjection) {
  const auto topology = regular("array:4?latency=0ns&bandwidth=1GB/s");
  std::vector<Message> messages{{0, 3, 1000, Time()}, {1, 2, 1000, Time()}, {0, 1, 5000, Time()},
                                {2, 3, 700, Time()},  {1, 3, 400, Time()},  {3, 0, 300, Time()}};
  std::vector<std::pair<int, std::int64_t>> expected;
  for (int round = 0; round < 720; ++round) {
    FlowNetwork network(topology);
    std::vector<std::pair<int, std::int64_t>> ends;
    std::vector<MessageId> order;
    const auto arrivals = run(network, messages, cases::Ties::messages_first, &order);
    for (std::size_t i = 0; i < messages.size(); ++i)
      ends.emplace_back(messages[i].from * 4 + messages[i].to, arrivals[i].sent.count_ps());
    for (std::size_t i = 1; i < order.size(); ++i)
      EXPECT_TRUE(arrivals[order[i - 1]].sent < arrivals[order[i]].sent || order[i - 1] < order[i]);
    std::sort(ends.begin(), ends.end());
    if (round == 0) expected = ends;
    EXPECT_EQ(ends, expected);
    std::next_permutation(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
      return std::tuple(a.from, a.to) < std::tuple(b.from, b.to);
    });
  }
}

// A flow that takes less than half a picosecond ends in the advance() that
// starts it, in the order of injection with those that take no time at all.
TEST(Flow, ShorterThanAPicosecond) {
  const auto topology = graph(2, {}, {{0, 1, 1e13}, {1, 0, 1e13}});
  FlowNetwork network(topology);
  std::vector<MessageId> order;
  const auto arrivals = run(network, {{0, 1, 1, Time::ps(9)}, {1, 0, 0, Time::ps(9)}},
                            cases::Ties::messages_first, &order);
  EXPECT_THAT(sent_ps(arrivals), ElementsAre(9, 9));
  EXPECT_THAT(order, ElementsAre(0, 1));
}

// 2^63 bytes at 1 B/s do not fit into a Time: the end saturates, nothing hangs.
TEST(Flow, LongerThanTime) {
  const auto topology = graph(2, {}, {{0, 1, 1}});
  FlowNetwork network(topology);
  const auto arrivals = run(network, {{0, 1, std::uint64_t{1} << 63, Time()}});
  EXPECT_GE(arrivals[0].sent, Time::ps(9'200'000'000'000'000'000));
}

// Four hops of 100 bytes; the message's two halves of 100 ns are in the history.
TEST(Flow, LoadsAndHistory) {
  const auto topology = regular("array:5?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  run(network, {{0, 4, 100, Time()}, {0, 1, 0, Time()}});
  const auto loads = network.loads();
  ASSERT_EQ(loads.size(), 4U);
  EXPECT_EQ(loads[0].messages, 2U);
  EXPECT_EQ(loads[3].messages, 1U);
  for (const LinkLoad& load : loads) {
    EXPECT_EQ(load.bytes, Bytes(100));
    EXPECT_EQ(load.busy, Time::ns(100));
  }
  // 100,000 ps in bins of 2,048: 48 whole ones and 1,696 ps.
  EXPECT_EQ(network.usage().bin_width(), Time::ps(2048));
  EXPECT_EQ(network.usage().bins(), 49);
  EXPECT_EQ(network.usage().history(loads[3].link)[7], Time::ps(2048));
  EXPECT_EQ(network.usage().history(loads[3].link)[48], Time::ps(1696));
}

// The link is full all the time: until 2,000 ns half of it has A's bytes, then B has it alone.
TEST(Flow, HistoryFollowsTheRates) {
  const auto topology = regular("array:3?latency=0ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  run(network, {{0, 1, 1000, Time()}, {0, 2, 2000, Time()}});
  // 3,000,000 ps in bins of 65,536: 45 whole ones and 50,880 ps.
  ASSERT_EQ(network.usage().bin_width(), Time::ps(65536));
  const auto loads = network.loads();
  const std::vector<Time> first = network.usage().history(loads[0].link);
  ASSERT_EQ(first.size(), 46U);
  for (std::size_t bin = 0; bin < 45; ++bin)
    EXPECT_NEAR(static_cast<double>(first[bin].count_ps()), 65536, 2) << bin;
  EXPECT_NEAR(static_cast<double>(first[45].count_ps()), 50880, 2);
  // B alone: at half the rate, then in the bin in which A ends (2,000,000 = 30 x 65,536 + 33,920)
  // 16,960 ps and 31,616 ps.
  const std::vector<Time> second = network.usage().history(loads[1].link);
  EXPECT_NEAR(static_cast<double>(second[29].count_ps()), 32768, 2);
  EXPECT_NEAR(static_cast<double>(second[30].count_ps()), 16960 + 31616, 2);
  EXPECT_NEAR(static_cast<double>(second[31].count_ps()), 65536, 2);
}

// Bottlenecks come and go, and the bins grow: no link is ever busier than it can be, and nothing
// is lost.
TEST(Flow, NoBinIsBusierThanItIsLong) {
  const auto topology = regular("tree:3,3?latency=10ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  std::vector<Message> messages;
  std::uint32_t random = 1;
  const auto next = [&random](std::uint32_t below) {
    random = random * 1664525 + 1013904223;
    return static_cast<int>((random >> 8) % below);
  };
  const int nodes = topology.processors();
  Time at;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 300; ++i) {
    const int from = next(static_cast<std::uint32_t>(nodes));
    const int to = (from + 1 + next(static_cast<std::uint32_t>(nodes - 1))) % nodes;
    const auto size = static_cast<std::uint64_t>(1 + next(5000) * next(20));
    at = at + Time::ns(next(2000));
    messages.push_back({from, to, size, at});
    bytes += size;
  }
  run(network, messages);
  const std::int64_t width = network.usage().bin_width().count_ps();
  Time sent;
  for (const LinkLoad& load : network.loads()) {
    Time sum;
    for (const Time bin : network.usage().history(load.link)) {
      // A picosecond for each message that is cut by the bin's ends.
      EXPECT_LE(bin.count_ps(), width + 300);
      sum += bin;
    }
    EXPECT_EQ(sum, load.busy);
    // 1 byte takes 1 ns.
    EXPECT_EQ(load.busy.count_ps(), static_cast<std::int64_t>(load.bytes.count) * 1000);
    if (topology.kind(topology.from(load.link)) == NodeKind::processor) sent += load.busy;
  }
  EXPECT_EQ(sent.count_ps(), static_cast<std::int64_t>(bytes) * 1000);
  EXPECT_GT(width, 300 * 1000);
}

}  // namespace
}  // namespace foretrace::sim
