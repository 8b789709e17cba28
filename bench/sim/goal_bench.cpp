// Text programs in GOAL: messages per second read, and replayed on loggps.
//
// "items" are messages. `chain`: as LogGOPSim's own programs are written: in each step
// a rank receives from one neighbour, sends to the other, and the next step requires
// both. `waits`: the same with the statement `wait`. `bursts`: eight of each before a wait.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "loggps.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"

namespace {

using namespace foretrace;

constexpr int kMessages = 1'000'000;

struct Ring {
  int ranks;
  int steps;
  int messages() const { return ranks * steps; }
  std::string next(int rank) const { return std::to_string((rank + 1) % ranks); }
  std::string last(int rank) const { return std::to_string((rank + ranks - 1) % ranks); }
};

std::string chain(const Ring& ring) {
  std::string text = "num_ranks " + std::to_string(ring.ranks) + "\n";
  for (int rank = 0; rank < ring.ranks; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    for (int step = 0; step < ring.steps; ++step) {
      const std::string in = "l" + std::to_string(2 * step + 1);
      const std::string out = "l" + std::to_string(2 * step + 2);
      text += in + ": recv 1024b from " + ring.last(rank) + " tag 0\n";
      text += out + ": send 1024b to " + ring.next(rank) + " tag 0\n";
      if (step == 0) continue;
      const std::string before_in = "l" + std::to_string(2 * step - 1);
      const std::string before_out = "l" + std::to_string(2 * step);
      text += in + " requires " + before_in + "\n" + in + " requires " + before_out + "\n";
      text += out + " requires " + before_in + "\n" + out + " requires " + before_out + "\n";
    }
    text += "}\n";
  }
  return text;
}

std::string waits(const Ring& ring, int burst) {
  std::string text = "num_ranks " + std::to_string(ring.ranks) + "\n";
  for (int rank = 0; rank < ring.ranks; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    for (int step = 0; step < ring.steps; ++step) {
      text += "  recv 1024b from " + ring.last(rank) + "\n";
      text += "  send 1024b to " + ring.next(rank) + "\n";
      if (step % burst == burst - 1) text += "  wait\n";
    }
    text += "}\n";
  }
  return text;
}

std::string text_of(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  const Ring ring{ranks, kMessages / ranks / 8 * 8};
  const auto burst = static_cast<int>(state.range(1));
  return burst == 0 ? chain(ring) : waits(ring, burst);
}

std::int64_t messages_of(benchmark::State& state) {
  return kMessages / state.range(0) / 8 * 8 * state.range(0);
}

void BM_read(benchmark::State& state) {
  const std::string text = text_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(sim::parse_goal(text, "bench.goal"));
  state.SetItemsProcessed(state.iterations() * messages_of(state));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void BM_replay(benchmark::State& state) {
  sim::GoalSource source(sim::parse_goal(text_of(state), "bench.goal"));
  const machine::MachineModel model;
  const machine::Timing timing(model, machine::Bound::avg);
  sim::NullSink sink;
  for (auto _ : state) {
    source.rewind();
    benchmark::DoNotOptimize(sim::simulate(source, timing, sim::loggps(), sink).time);
  }
  state.SetItemsProcessed(state.iterations() * messages_of(state));
}

BENCHMARK(BM_read)->ArgsProduct({{16, 1024}, {0, 1, 8}})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_replay)->ArgsProduct({{16, 1024}, {0, 1, 8}})->Unit(benchmark::kMillisecond);

}  // namespace
