// Switches by hand: pipelines, credits, wormholes, routes.
#include <gmock/gmock.h>

#include "architecture/flit_network.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

class Times final : public Listener {
 public:
  explicit Times(FlitNetwork& network) : network_(network) { network.listen(this); }
  void arrived(std::uint32_t packet, std::int64_t cycle) override {
    latencies.push_back(cycle - network_.packet(packet).born);
  }
  std::vector<std::int64_t> latencies;

 private:
  FlitNetwork& network_;
};

SwitchSettings settings(Routing routing, int vcs = 1, Allocation allocation = Allocation::joint) {
  SwitchSettings made;
  made.routing = routing;
  made.vcs = vcs;
  made.allocation = allocation;
  return made;
}

std::int64_t alone(const Fabric& fabric, int from, int to, std::uint32_t flits) {
  FlitNetwork network(fabric, 1000, 1);
  Times times(network);
  network.inject(from, to, flits, 3);
  network.run_to(10'000);
  return times.latencies.at(0);
}

// Allocation, crossbar and link take a cycle each in every router, the injection 2:
// 3 h + 2 + (flits - 1); sequential allocation one more in each router.
TEST(FlitSwitch, TakesItsPipelineWithoutLoad) {
  for (const std::uint32_t flits : {1U, 4U}) {
    const Fabric mesh = make_fabric("mesh:8x8", settings(Routing::dimension_order));
    EXPECT_EQ(alone(mesh, 0, 63, flits), 3 * 15 + 2 + flits - 1);
    EXPECT_EQ(alone(mesh, 5, 5, flits), 5 + flits - 1);
    const Fabric slow =
        make_fabric("mesh:8x8", settings(Routing::dimension_order, 2, Allocation::sequential));
    EXPECT_EQ(alone(slow, 0, 63, flits), 4 * 15 + 2 + flits - 1);
    const Fabric ideal = [] {
      SwitchSettings made = settings(Routing::dimension_order);
      made.level = SwitchLevel::crossbar;
      return make_fabric("mesh:8x8", made);
    }();
    // Alone the coarse level is exact.
    EXPECT_EQ(alone(ideal, 0, 63, flits), 3 * 15 + 2 + flits - 1);
  }
}

TEST(FlitSwitch, TakesAWormPastACreditLoopThatIsTooShort) {
  // A place in a buffer comes back after 5 cycles: with buffers of 1 flit each flit after the first
  // takes 5.
  SwitchSettings small = settings(Routing::dimension_order);
  small.buffer = 1;
  EXPECT_EQ(alone(make_fabric("mesh:4x1", small), 0, 3, 6), 3 * 4 + 2 + 5 * 5);
}

TEST(FlitSwitch, ServesInputsInTurn) {
  // Two packets of 1 flit at once for one terminal of a crossbar switch: one waits a cycle.
  const Fabric star = make_fabric("crossbar:4", settings(Routing::table));
  FlitNetwork network(star, 1000, 1);
  Times times(network);
  network.inject(0, 3, 1, 0);
  network.inject(1, 3, 1, 0);
  network.run_to(100);
  EXPECT_THAT(times.latencies, testing::ElementsAre(5, 6));
}

TEST(FabricRouter, FindsTheShortestWays) {
  for (const auto& [name, routing] : {std::pair{"torus:4x4", Routing::dimension_order},
                                      {"torus:4x4", Routing::table},
                                      {"hypercube:4", Routing::dimension_order},
                                      {"fattree:2,4", Routing::random_minimal},
                                      {"omega:16", Routing::table},
                                      {"mesh:4x4", Routing::up_down}}) {
    const Fabric fabric = make_fabric(name, settings(routing, 3));
    const FabricRouter router(fabric);
    const Fabric plain = make_fabric(name, settings(Routing::table, 3));
    const FabricRouter shortest(plain);
    for (int from = 0; from < fabric.terminals(); ++from)
      for (int to = 0; to < fabric.terminals(); ++to) {
        if (routing == Routing::up_down)
          EXPECT_GE(router.hops(from, to), shortest.hops(from, to));
        else
          EXPECT_EQ(router.hops(from, to), shortest.hops(from, to)) << name << from << " " << to;
      }
  }
}

TEST(FlitNetwork, RefusesWhatCannotWork) {
  const Fabric torus = make_fabric("torus:4x4", settings(Routing::dimension_order, 1));
  EXPECT_THROW(FlitNetwork(torus, 1000, 1), Error);
  const Fabric tree = make_fabric("fattree:2,2", settings(Routing::dimension_order));
  EXPECT_THROW(FlitNetwork(tree, 1000, 1), Error);
}

// Every flit that goes in comes out, under load, at every level and routing.
TEST(FlitNetwork, LosesNothing) {
  for (const auto level : {SwitchLevel::queued, SwitchLevel::crossbar})
    for (const auto& [name, routing] : {std::pair{"torus:4x4", Routing::dimension_order},
                                        {"torus:4x4", Routing::adaptive},
                                        {"torus:4x4", Routing::up_down},
                                        {"mesh:4x4", Routing::adaptive},
                                        {"fattree:2,3", Routing::adaptive},
                                        {"dragonfly:3,1,2", Routing::up_down},
                                        {"omega:8", Routing::table}})
      for (const Allocation allocation :
           {Allocation::joint, Allocation::speculative, Allocation::sequential}) {
        SwitchSettings made = settings(routing, 4, allocation);
        made.level = level;
        made.buffer = 3;
        const Fabric fabric = make_fabric(name, made);
        FlitNetwork network(fabric, 1000, 5);
        Times times(network);
        entity::Random random(9);
        const auto terminals = static_cast<std::uint32_t>(fabric.terminals());
        std::uint64_t flits = 0;
        for (int i = 0; i < 600; ++i) {
          const std::uint32_t length = 1 + random.below(6);
          flits += length;
          network.inject(static_cast<int>(random.below(terminals)),
                         static_cast<int>(random.below(terminals)), length, random.below(50));
        }
        network.run_to(100'000);
        EXPECT_EQ(times.latencies.size(), 600U) << name;
        EXPECT_EQ(network.ejected_flits(), flits) << name;
      }
}

TEST(FlitSwitch, NeedsLittleMemory) {
  SwitchSettings made = settings(Routing::dimension_order, 4);
  const Fabric fabric = make_fabric("torus:32x32", made);
  const FlitNetwork network(fabric, 1000, 1);
  EXPECT_LT(network.router(0).memory(), 4096U);
  EXPECT_LT(network.memory() / 1024, 4096U);
}

}  // namespace
}  // namespace foretrace::architecture
