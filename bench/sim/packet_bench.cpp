// Messages and packet-hops per second of the packet network alone.
//
// "items" are messages. Every processor of a fat tree of 1,024 (or a torus)
// exchanges a message with both neighbours, step after step; a step begins when
// the one before has arrived. Starts are shifted by a few picoseconds or not at
// all: equal times are the best case of an event queue.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/packet.hpp"
#include "topology/builders.hpp"

namespace {

using namespace foretrace;

constexpr std::uint64_t kPacketHops = 2'000'000;

// Sizes of the messages: one for all, or 8 B..64 KiB in turn.
std::uint64_t size_of(std::int64_t bytes, std::uint32_t number) {
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{8} << number % 14;
}

struct Counts {
  std::uint64_t messages = 0;
  std::uint64_t packet_hops = 0;
};

Counts exchange(sim::SharedNetwork& network, int processors, std::int64_t bytes, bool shifted,
                std::vector<sim::Arrival>& arrivals) {
  Counts counts;
  auto& packets = static_cast<sim::PacketNetwork&>(network);
  std::uint32_t random = 1;
  Time time;
  std::vector<Time> starts(static_cast<std::size_t>(processors));
  while (packets.packet_hops() < kPacketHops) {
    for (Time& start : starts) {
      random = random * 1664525 + 1013904223;
      start = time + Time::ps(shifted ? random >> 8 : 0);
    }
    std::sort(starts.begin(), starts.end());
    std::uint32_t message = 0;
    for (int p = 0; p < processors; ++p) {
      const Time start = starts[static_cast<std::size_t>(p)];
      const machine::NodeId from(static_cast<int>(static_cast<std::int64_t>(p) * 389 % processors));
      while (network.next() < start) network.advance(arrivals);
      for (const int step : {1, processors - 1}) {
        const machine::NodeId to((from.value + step) % processors);
        network.inject(message, {from, to, message}, Bytes(size_of(bytes, message + message / 14)),
                       start);
        ++message;
      }
    }
    while (network.next() != Time::max()) network.advance(arrivals);
    time = std::max(time, arrivals.back().arrived);
    counts.messages += message;
    arrivals.clear();
  }
  counts.packet_hops = packets.packet_hops();
  return counts;
}

void neighbours(benchmark::State& state, const char* expression, bool adaptive, bool shifted) {
  const machine::Topology topology =
      machine::make_topology(std::string(expression) + "?latency=500ns&bandwidth=10GB/s");
  sim::PacketOptions options;
  options.adaptive = adaptive;
  Counts sum;
  std::size_t memory = 0;
  std::vector<sim::Arrival> arrivals;
  for (auto _ : state) {
    sim::PacketNetwork network(topology, {}, options);
    const Counts counts =
        exchange(network, topology.processors(), state.range(0), shifted, arrivals);
    sum.messages += counts.messages;
    sum.packet_hops += counts.packet_hops;
    memory = network.memory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(sum.messages));
  state.counters["packet_hops"] =
      benchmark::Counter(static_cast<double>(sum.packet_hops), benchmark::Counter::kIsRate);
  state.counters["bytes"] = static_cast<double>(memory);
}

// 0: all sizes from 8 B to 64 KiB.
#define SIZES Arg(0)->Arg(8)->Arg(2048)->Arg(65536)->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(neighbours, fat_tree, "fattree:4,5", false, false)->SIZES;
BENCHMARK_CAPTURE(neighbours, fat_tree_shifted, "fattree:4,5", false, true)->SIZES;
BENCHMARK_CAPTURE(neighbours, fat_tree_adaptive, "fattree:4,5", true, true)->SIZES;
BENCHMARK_CAPTURE(neighbours, torus, "torus:16x8x8", false, true)->SIZES;
BENCHMARK_CAPTURE(neighbours, torus_adaptive, "torus:16x8x8", true, true)->SIZES;
BENCHMARK_CAPTURE(neighbours, dragonfly, "dragonfly:8,4,4", false, true)->SIZES;

}  // namespace
