// Events of entities a second, one core: a torus of 1,024 switches with virtual channels under
// uniform traffic, and queues as coroutines.
#include <benchmark/benchmark.h>

#include "architecture/traffic.hpp"
#include "foretrace_entity.hpp"

namespace {

using namespace foretrace;

void torus_of_1024(benchmark::State& state) {
  architecture::SwitchSettings settings;
  settings.routing = architecture::Routing::dimension_order;
  settings.vcs = 4;
  const architecture::Fabric fabric = architecture::make_fabric("torus:32x32", settings);
  const architecture::Pattern pattern = architecture::parse_pattern("uniform", fabric);
  architecture::TrafficOptions options;
  options.warm_up = 500;
  options.measured = 1000;
  std::uint64_t events = 0;
  for (auto unused : state)
    events += architecture::simulate_traffic(fabric, pattern,
                                             static_cast<double>(state.range(0)) / 100, options)
                  .events;
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(torus_of_1024)->Arg(5)->Arg(15)->Unit(benchmark::kMillisecond);

class Hop final : public entity::Behaviour {
 public:
  entity::Task run() override {
    while (true) {
      const Received got = co_await receive();
      co_await delay(3);
      send(0, got.packet);
    }
  }
};

void ring_of_coroutines(benchmark::State& state) {
  std::uint64_t events = 0;
  for (auto unused : state) {
    entity::Kernel kernel;
    std::vector<Hop> hops(1024);
    for (Hop& hop : hops) kernel.add(hop, "hop");
    for (std::size_t i = 0; i < hops.size(); ++i)
      hops[i].connect(0, {static_cast<std::uint32_t>((i + 1) % hops.size()), 0, 5, 0, 0});
    kernel.start();
    for (std::uint32_t i = 0; i < 1024; ++i) kernel.at(i % 7, i, 0, kernel.keep({}));
    kernel.run(5000);
    events += kernel.events();
  }
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(ring_of_coroutines)->Unit(benchmark::kMillisecond);

}  // namespace
