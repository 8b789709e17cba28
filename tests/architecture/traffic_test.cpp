// Traffic against published and computed figures: BookSim's curves, Patel's formula.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "architecture/traffic.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

// Points of latency over load that BookSim2 (commit 28f4329) computed for the same switches with
// uniform traffic; one for each network, allocation and number of channels, at 80 to 90 % of
// saturation. bench/architecture/booksim.py compares whole curves.
struct Known {
  const char* network;
  Routing routing;
  int vcs;
  int flits;
  Allocation allocation;
  double load;
  double latency;
};

class BookSim : public testing::TestWithParam<Known> {};

TEST_P(BookSim, HasTheSameLatency) {
  const Known& known = GetParam();
  SwitchSettings settings;
  settings.routing = known.routing;
  settings.vcs = known.vcs;
  settings.allocation = known.allocation;
  const Fabric fabric = make_fabric(known.network, settings);
  TrafficOptions options;
  options.packet_flits = known.flits;
  options.warm_up = 3000;
  options.measured = 6000;
  const TrafficPoint point =
      simulate_traffic(fabric, parse_pattern("uniform", fabric), known.load, options);
  EXPECT_TRUE(point.stable);
  EXPECT_NEAR(point.latency, known.latency, 0.05 * known.latency);
  EXPECT_NEAR(point.accepted, known.load, 0.02 * known.load);
}

INSTANTIATE_TEST_SUITE_P(
    Curves, BookSim,
    testing::Values(
        Known{"mesh:8x8", Routing::dimension_order, 1, 1, Allocation::joint, 0.34, 24.887},
        Known{"mesh:8x8", Routing::dimension_order, 4, 1, Allocation::joint, 0.37, 26.026},
        Known{"mesh:8x8", Routing::dimension_order, 1, 1, Allocation::sequential, 0.17, 35.376},
        Known{"torus:8x8", Routing::dimension_order, 2, 1, Allocation::joint, 0.45, 19.372},
        Known{"fattree:4,3", Routing::random_minimal, 1, 1, Allocation::joint, 0.5, 19.049},
        Known{"fattree:4,3", Routing::random_minimal, 4, 1, Allocation::joint, 0.6, 21.422}));

// Patel (IEEE ToC 1981): in an omega network of 2 x 2 switches without buffers a request gets
// through stage i + 1 with p(i+1) = 1 - (1 - p(i) / 2)^2. Here: one cycle of the network's
// allocation, all terminals asking at once, as the share of outputs of the last stage that are
// asked for.
TEST(Omega, BlocksAsPatelComputed) {
  constexpr int kTerminals = 64;
  constexpr int kStages = 6;
  entity::Random random(3);
  double passed = 0;
  constexpr int kRounds = 4000;
  SwitchSettings settings;
  const Fabric fabric = make_fabric("omega:64", settings);
  const FabricRouter routes(fabric);
  for (int round = 0; round < kRounds; ++round) {
    // Each request goes along its route; at each output one of those that ask passes.
    std::vector<std::pair<int, int>> at;  // router, destination
    for (int t = 0; t < kTerminals; ++t)
      at.emplace_back(fabric.entries[static_cast<std::size_t>(t)].router,
                      static_cast<int>(random.below(kTerminals)));
    for (int stage = 0; stage < kStages; ++stage) {
      std::set<std::pair<int, int>> taken;
      std::vector<std::pair<int, int>> next;
      for (const auto& [router, to] : at) {
        WayState state;
        const int port = std::countr_zero(routes.way(router, to, state, random).ports);
        if (!taken.emplace(router, port).second) continue;
        next.emplace_back(
            fabric.ports[static_cast<std::size_t>(router)][static_cast<std::size_t>(port)]
                .out.router,
            to);
      }
      at.swap(next);
    }
    passed += static_cast<double>(at.size()) / kTerminals / kRounds;
  }
  double expected = 1;
  for (int stage = 0; stage < kStages; ++stage)
    expected = 1 - (1 - expected / 2) * (1 - expected / 2);
  EXPECT_NEAR(passed, expected, 0.002);
}

Fabric mesh() {
  return make_fabric("mesh:4x4", {});
}

TEST(Pattern, SendsAsItsNameSays) {
  const Fabric fabric = mesh();
  entity::Random random(1);
  const auto to = [&](const char* text, int from) {
    return parse_pattern(text, fabric).destination(from, random);
  };
  EXPECT_EQ(to("transpose", 0b0110), 0b1001);
  EXPECT_EQ(to("complement", 0b0110), 0b1001);
  EXPECT_EQ(to("reverse", 0b0010), 0b0100);
  EXPECT_EQ(to("shuffle", 0b1010), 0b0101);
  EXPECT_EQ(to("neighbour", 0b0011), 0b0100);  // column 3 to 0, row 0 to 1
  EXPECT_EQ(to("tornado", 0), 1 + 4);          // half a side, less one: 1
  EXPECT_EQ(to("hotspot:5:1", 3), 5);
  std::set<int> all;
  const Pattern permutation = parse_pattern("permutation:4", fabric);
  for (int t = 0; t < 16; ++t) all.insert(permutation.destination(t, random));
  EXPECT_EQ(all.size(), 16U);
  EXPECT_THROW(parse_pattern("hotspot:99:0.1", fabric), UsageError);
  EXPECT_THROW(parse_pattern("upwards", fabric), UsageError);
}

TEST(Traffic, CreatesWhatIsOffered) {
  SwitchSettings settings;
  settings.routing = Routing::dimension_order;
  const Fabric fabric = make_fabric("mesh:4x4", settings);
  const Pattern pattern = parse_pattern("uniform", fabric);
  for (const double burst : {0.0, 30.0}) {
    TrafficOptions options;
    options.burst = burst;
    options.burst_rate = 0.5;
    options.measured = 40'000;
    const TrafficPoint point = simulate_traffic(fabric, pattern, 0.2, options);
    EXPECT_NEAR(point.created, 0.2, 0.01);
    EXPECT_NEAR(point.accepted, point.created, 0.01);
  }
}

TEST(Traffic, BurstsTakeLonger) {
  SwitchSettings settings;
  settings.routing = Routing::dimension_order;
  const Fabric fabric = make_fabric("mesh:4x4", settings);
  const Pattern pattern = parse_pattern("uniform", fabric);
  TrafficOptions options;
  const double smooth = simulate_traffic(fabric, pattern, 0.3, options).latency;
  options.burst = 50;
  EXPECT_GT(simulate_traffic(fabric, pattern, 0.3, options).latency, smooth * 1.1);
}

// The mean of uniform traffic without load is exact: 3 h + 2 cycles through h switches. In a 4 x 4
// mesh, the source itself among the destinations, h is 1 + 2 * 1.25 = 3.5: 12.5 cycles.
TEST(Traffic, LatencyWithoutLoadDoesNotDependOnTheMeasuredCycles) {
  SwitchSettings settings;
  settings.routing = Routing::dimension_order;
  const Fabric fabric = make_fabric("mesh:4x4", settings);
  const Pattern pattern = parse_pattern("uniform", fabric);
  TrafficOptions options;
  options.measured = 500;
  EXPECT_NEAR(traffic_curve(fabric, pattern, {0.1}, options).zero_load, 12.5, 0.3);
}

TEST(Traffic, ALoadWithoutPacketsHasNoLatency) {
  const Fabric fabric = make_fabric("mesh:4x4", {});
  TrafficOptions options;
  options.measured = 100;
  const TrafficPoint point =
      simulate_traffic(fabric, parse_pattern("uniform", fabric), 1e-6, options);
  EXPECT_EQ(point.packets, 0U);
  EXPECT_FALSE(point.error);
}

TEST(Traffic, IsTheSameEveryTime) {
  SwitchSettings settings;
  settings.routing = Routing::adaptive;
  settings.vcs = 3;
  const Fabric fabric = make_fabric("torus:4x4", settings);
  const Pattern pattern = parse_pattern("transpose", fabric);
  const TrafficPoint a = simulate_traffic(fabric, pattern, 0.3, {});
  const TrafficPoint b = simulate_traffic(fabric, pattern, 0.3, {});
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.events, b.events);
}

}  // namespace
}  // namespace foretrace::architecture
