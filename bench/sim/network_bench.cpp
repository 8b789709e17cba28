// Messages per second of the networks whose links are shared as a whole (flow,
// bus), without an engine.
//
// "items" are messages. Every rank sends its next message to a peer when the one
// before has arrived, so starts and ends are spread in time; `_steps` starts all
// messages of a step together, when the last of the step before is there.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "sim/network/bus.hpp"
#include "sim/network/flow.hpp"
#include "topology/builders.hpp"

namespace {

using namespace foretrace;
using machine::NodeId;

// A fat tree of 64 or 1,024 nodes, or, of any other number, all on one switch.
machine::Topology topology_of(std::int64_t nodes) {
  const std::string name = nodes == 1024 ? "fattree:4,5"
                           : nodes == 64 ? "fattree:4,3"
                                         : "crossbar:" + std::to_string(nodes);
  return machine::build_topology(
      machine::parse_topology_expression(name + "?latency=1us&bandwidth=10GB/s"));
}

struct Pair {
  int from;
  int to;
};

std::vector<Pair> ring(int nodes) {
  std::vector<Pair> pairs;
  for (int p = 0; p < nodes; ++p) {
    pairs.push_back({p, (p + 1) % nodes});
    pairs.push_back({p, (p + nodes - 1) % nodes});
  }
  return pairs;
}

std::vector<Pair> permutation(int nodes) {
  std::vector<int> to(static_cast<std::size_t>(nodes));
  std::iota(to.begin(), to.end(), 0);
  std::mt19937 generator(1);
  for (std::size_t i = to.size() - 1; i > 0; --i) std::swap(to[i], to[generator() % (i + 1)]);
  std::vector<Pair> pairs;
  for (int p = 0; p < nodes; ++p)
    if (to[static_cast<std::size_t>(p)] != p) pairs.push_back({p, to[static_cast<std::size_t>(p)]});
  return pairs;
}

std::vector<Pair> all_to_one(int nodes) {
  std::vector<Pair> pairs;
  for (int p = 1; p < nodes; ++p) pairs.push_back({p, 0});
  return pairs;
}

std::vector<Pair> all_to_all(int nodes) {
  std::vector<Pair> pairs;
  for (int p = 0; p < nodes; ++p)
    for (int q = 0; q < nodes; ++q)
      if (p != q) pairs.push_back({p, q});
  return pairs;
}

// 8 B..64 KiB, powers of two, and a few bytes more.
class Sizes {
 public:
  Bytes next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return Bytes((std::uint64_t{8} << (state_ >> 33) % 14) + (state_ >> 50) % 8);
  }

 private:
  std::uint64_t state_ = 1;
};

sim::Way way(const std::vector<Pair>& pairs, sim::MessageId pair) {
  return {NodeId(pairs[pair].from), NodeId(pairs[pair].to), pair};
}

// Every pair's next message starts when its last one has arrived.
void send_on(sim::SharedNetwork& network, const std::vector<Pair>& pairs, std::size_t messages) {
  Sizes sizes;
  struct Start {
    Time time;
    sim::MessageId pair;
    bool operator>(const Start& other) const {
      return time != other.time ? time > other.time : pair > other.pair;
    }
  };
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts;
  for (sim::MessageId pair = 0; pair < pairs.size(); ++pair) starts.push({Time(), pair});
  std::vector<sim::Arrival> arrivals;
  while (messages > 0) {
    if (!starts.empty() && starts.top().time <= network.next()) {
      const Start start = starts.top();
      starts.pop();
      network.inject(start.pair, way(pairs, start.pair), sizes.next(), start.time);
      continue;
    }
    arrivals.clear();
    network.advance(arrivals);
    messages -= std::min(messages, arrivals.size());
    for (const sim::Arrival& arrival : arrivals) starts.push({arrival.arrived, arrival.message});
  }
}

void send_steps(sim::SharedNetwork& network, const std::vector<Pair>& pairs, std::size_t messages) {
  Sizes sizes;
  Time time;
  std::vector<sim::Arrival> arrivals;
  while (messages > 0) {
    for (sim::MessageId pair = 0; pair < pairs.size(); ++pair)
      network.inject(pair, way(pairs, pair), sizes.next(), time);
    arrivals.clear();
    while (network.next() != Time::max()) network.advance(arrivals);
    for (const sim::Arrival& arrival : arrivals) time = std::max(time, arrival.arrived);
    messages -= std::min(messages, arrivals.size());
  }
}

using Pattern = std::vector<Pair> (*)(int);
using Sender = void (*)(sim::SharedNetwork&, const std::vector<Pair>&, std::size_t);

void flow(benchmark::State& state, Pattern pattern, Sender sender) {
  const machine::Topology topology = topology_of(state.range(0));
  const std::vector<Pair> pairs = pattern(topology.processors());
  const auto messages = static_cast<std::size_t>(state.range(1));
  std::size_t memory = 0;
  for (auto _ : state) {
    sim::FlowNetwork network(topology);
    sender(network, pairs, messages);
    memory = network.memory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(messages));
  state.counters["MiB"] = static_cast<double>(memory) / (1 << 20);
}

void BM_bus(benchmark::State& state) {
  const std::vector<Pair> pairs = ring(static_cast<int>(state.range(0)));
  const auto messages = static_cast<std::size_t>(state.range(1));
  for (auto _ : state) {
    sim::BusNetwork network({Time::ns(1000), 1e10});
    send_on(network, pairs, messages);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(messages));
}

BENCHMARK_CAPTURE(flow, ring, ring, send_on)->Args({1024, 200'000})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, ring_steps, ring, send_steps)
    ->Args({1024, 200'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, permutation, permutation, send_on)
    ->Args({64, 100'000})
    ->Args({1024, 100'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, permutation_steps, permutation, send_steps)
    ->Args({1024, 100'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, all_to_one, all_to_one, send_on)
    ->Args({64, 100'000})
    ->Args({1024, 20'000})
    ->Args({1001, 20'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, all_to_all, all_to_all, send_on)
    ->Args({64, 10'000})
    ->Args({65, 10'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow, all_to_all_steps, all_to_all, send_steps)
    ->Args({64, 10'000})
    ->Args({65, 10'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_bus)->Args({1024, 200'000})->Unit(benchmark::kMillisecond);

}  // namespace
