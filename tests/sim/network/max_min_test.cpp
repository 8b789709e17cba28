// MaxMin against the definition: after any sequence of changes every flow has a
// bottleneck, a full link on which none is faster.
#include "sim/network/max_min.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// The flows whose rate is another one now.
std::vector<MaxMin::Flow> solved(MaxMin& fair, MaxMin::Flow flows) {
  std::vector<double> before;
  for (MaxMin::Flow flow = 0; flow < flows; ++flow) before.push_back(fair.rate(flow));
  fair.solve();
  std::vector<MaxMin::Flow> changed;
  for (MaxMin::Flow flow = 0; flow < flows; ++flow)
    if (fair.rate(flow) != before[flow] && fair.rate(flow) != 0) changed.push_back(flow);
  return changed;
}

// Links of 10, 6, 20; flow 0 over all, 1, 2, 3 over one each. The second link is
// full at 3; 10 - 3 = 7 and 20 - 3 = 17 are left on the others.
TEST(MaxMin, Chain) {
  MaxMin fair;
  std::vector<MaxMin::Link> all;
  for (const double capacity : {10.0, 6.0, 20.0}) all.push_back(fair.add_link(capacity));
  fair.add_flow(0, all);
  for (MaxMin::Flow flow = 1; flow <= 3; ++flow) fair.add_flow(flow, {{all[flow - 1]}});
  for (MaxMin::Flow flow = 0; flow <= 3; ++flow) fair.set_weight(flow, 1);
  EXPECT_THAT(solved(fair, 4), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(fair.rate(0), 3);
  EXPECT_EQ(fair.rate(1), 7);
  EXPECT_EQ(fair.rate(2), 3);
  EXPECT_EQ(fair.rate(3), 17);
}

// Two pairs on links of their own: what happens to one is no news for the other.
// A weight that returns to what it was is no change at all.
TEST(MaxMin, TellsOnlyWhatChanged) {
  MaxMin fair;
  const MaxMin::Link left = fair.add_link(6), right = fair.add_link(6);
  for (MaxMin::Flow flow = 0; flow < 4; ++flow) {
    fair.add_flow(flow, {{flow < 2 ? left : right}});
    fair.set_weight(flow, 1);
  }
  EXPECT_THAT(solved(fair, 4), ElementsAre(0, 1, 2, 3));
  fair.set_weight(3, 0);
  EXPECT_THAT(solved(fair, 4), ElementsAre(2));
  EXPECT_EQ(fair.rate(2), 6);
  EXPECT_EQ(fair.rate(3), 0);
  EXPECT_EQ(fair.rate(0), 3);
  fair.set_weight(0, 0);
  fair.set_weight(0, 1);
  EXPECT_TRUE(fair.changed());
  EXPECT_THAT(solved(fair, 4), ElementsAre());
  EXPECT_FALSE(fair.changed());
  // Five equal flows beside one: 1 each.
  fair.set_weight(1, 5);
  EXPECT_THAT(solved(fair, 4), UnorderedElementsAre(0, 1));
  EXPECT_EQ(fair.rate(0), 1);
  EXPECT_EQ(fair.rate(1), 1);
}

// Flow 0 becomes two and keeps its rate, since flow 1 goes at the same time; its
// other link, on which flow 2 had 8 of 10, is too full for that now.
TEST(MaxMin, MoreOfOneAtTheSameRate) {
  MaxMin fair;
  const MaxMin::Link first = fair.add_link(4), second = fair.add_link(10);
  fair.add_flow(0, {{first, second}});
  fair.add_flow(1, {{first}});
  fair.add_flow(2, {{second}});
  for (MaxMin::Flow flow = 0; flow < 3; ++flow) fair.set_weight(flow, 1);
  fair.solve();
  EXPECT_EQ(fair.rate(2), 8);
  fair.set_weight(0, 2);
  fair.set_weight(1, 0);
  EXPECT_THAT(solved(fair, 3), ElementsAre(2));
  EXPECT_EQ(fair.rate(0), 2);
  EXPECT_EQ(fair.rate(2), 6);
}

struct Random {
  std::vector<double> capacity;
  std::vector<std::vector<MaxMin::Link>> links;  // by flow
  std::vector<std::uint32_t> weight;
};

void expect_bottlenecks(const MaxMin& fair, const Random& random) {
  constexpr double kWithin = 1e-11;
  std::vector<double> load(random.capacity.size()), fastest(random.capacity.size());
  for (std::size_t flow = 0; flow < random.links.size(); ++flow) {
    const double rate = fair.rate(static_cast<MaxMin::Flow>(flow));
    if (random.weight[flow] == 0) {
      ASSERT_EQ(rate, 0);
      continue;
    }
    for (const MaxMin::Link link : random.links[flow]) {
      load[link] += random.weight[flow] * rate;
      fastest[link] = std::max(fastest[link], rate);
    }
  }
  for (std::size_t link = 0; link < load.size(); ++link)
    ASSERT_LE(load[link], random.capacity[link] * (1 + kWithin));
  for (std::size_t flow = 0; flow < random.links.size(); ++flow) {
    if (random.weight[flow] == 0) continue;
    const double rate = fair.rate(static_cast<MaxMin::Flow>(flow));
    ASSERT_TRUE(std::any_of(random.links[flow].begin(), random.links[flow].end(),
                            [&](auto link) {
                              return load[link] >= random.capacity[link] * (1 - kWithin) &&
                                     fastest[link] <= rate * (1 + kWithin);
                            }))
        << "flow " << flow;
  }
}

// Capacities from few values (many ties) and from many; one to many changes at a
// time; weights 0 to 3.
TEST(MaxMin, RandomChanges) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 generator(seed);
    const auto below = [&](std::uint32_t n) { return generator() % n; };
    Random random;
    MaxMin fair;
    const std::uint32_t links = 2 + below(30);
    for (std::uint32_t link = 0; link < links; ++link) {
      random.capacity.push_back(seed % 2 ? 1 + below(3) : 0.001 * (1 + below(100'000)));
      fair.add_link(random.capacity.back());
    }
    const std::uint32_t flows = 1 + below(60);
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
      std::vector<MaxMin::Link> route(links);
      for (std::uint32_t link = 0; link < links; ++link) route[link] = link;
      std::shuffle(route.begin(), route.end(), generator);
      route.resize(1 + below(std::min(links, 6U)));
      fair.add_flow(flow, route);
      random.links.push_back(route);
      random.weight.push_back(0);
    }
    const std::uint32_t most = 1 + below(8);
    for (int step = 0; step < 200; ++step) {
      for (std::uint32_t change = 1 + below(most); change > 0; --change) {
        const std::uint32_t flow = below(flows);
        random.weight[flow] = below(4);
        fair.set_weight(flow, random.weight[flow]);
      }
      fair.solve();
      expect_bottlenecks(fair, random);
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace foretrace::sim
