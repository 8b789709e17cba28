// Messages per second and bytes per rank of coroutine model programs.
//
// "items" are messages. bytes_per_rank is the engine's own figure, that of the
// coroutines is beside it.
#include <benchmark/benchmark.h>

#include <array>

#include "loggps.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/model/model_program.hpp"

namespace {

using namespace foretrace;

void measure(benchmark::State& state, sim::ModelProgram& program) {
  const machine::MachineModel model;
  const machine::Timing timing(model, machine::Bound::avg);
  const sim::SimulateOptions options = sim::loggps();
  sim::NullSink sink;
  std::uint64_t messages = 0;
  std::size_t peak = 0;
  for (auto _ : state) {
    state.PauseTiming();
    program.rewind();
    state.ResumeTiming();
    const sim::SimulateResult result = sim::simulate(program, timing, options, sink);
    benchmark::DoNotOptimize(result.time);
    messages += result.stats.messages;
    peak = result.stats.peak_bytes;
  }
  const double ranks = program.ranks();
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
  state.counters["bytes_per_rank"] = static_cast<double>(peak) / ranks;
  state.counters["coroutine_bytes"] = static_cast<double>(program.memory()) / ranks;
}

// Each rank sends two messages to its right neighbour and gets two. Without
// races the ranks run one after the other as far as they can; with them
// (second argument) in the order of time, so that all coroutines are alive at once.
void BM_two_messages(benchmark::State& state) {
  const auto racing = state.range(1) != 0 ? sim::Racing::yes : sim::Racing::no;
  sim::ModelProgram program(
      static_cast<int>(state.range(0)),
      [](sim::ModelRank& rank) -> sim::RankTask {
        const int right = (rank.rank() + 1) % rank.size();
        const int left = (rank.rank() + rank.size() - 1) % rank.size();
        for (int i = 0; i < 2; ++i) {
          rank.compute(Time::ns(1'000));
          co_await rank.send(right, Bytes(8), i);
          co_await rank.recv(left, i);
        }
      },
      racing);
  measure(state, program);
}

void BM_farm(benchmark::State& state) {
  constexpr int kStop = 1;
  const auto farmer = [](sim::ModelRank& rank, int tasks) -> sim::RankTask {
    for (int working = rank.size() - 1; working > 0;) {
      const sim::Received ask = co_await rank.recv(sim::kAnySource);
      const bool stop = tasks-- <= 0;
      co_await rank.send(ask.source, Bytes(64), stop ? kStop : 0);
      if (stop) --working;
    }
  };
  const auto worker = [](sim::ModelRank& rank) -> sim::RankTask {
    for (int i = 0;; ++i) {
      co_await rank.send(0, Bytes(8));
      if ((co_await rank.recv(0, sim::kAnyTag)).tag == kStop) co_return;
      rank.compute(Time::ns(100'000 + 7919 * ((rank.rank() * 31 + i) % 13)));
    }
  };
  sim::ModelProgram program(
      static_cast<int>(state.range(0)),
      [&](sim::ModelRank& rank) {
        return rank.rank() == 0 ? farmer(rank, static_cast<int>(state.range(1))) : worker(rank);
      },
      sim::Racing::yes);
  measure(state, program);
}

// A periodic square grid.
void BM_halo(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  const int steps = static_cast<int>(state.range(1));
  sim::ModelProgram program(side * side, [=](sim::ModelRank& rank) -> sim::RankTask {
    const int x = rank.rank() % side;
    const int y = rank.rank() / side;
    const std::array<int, 4> to{y * side + (x + 1) % side, y * side + (x + side - 1) % side,
                                (y + 1) % side * side + x, (y + side - 1) % side * side + x};
    std::array<sim::ModelRequest, 8> requests;
    for (int step = 0; step < steps; ++step) {
      std::size_t posted = 0;
      for (const int peer : to) requests[posted++] = co_await rank.irecv(peer, Bytes(8192));
      for (const int peer : to) requests[posted++] = co_await rank.isend(peer, Bytes(8192));
      rank.compute(Time::ns(50'000));
      co_await rank.wait_all(requests);
      co_await rank.allreduce(Bytes(8));
    }
  });
  measure(state, program);
}

BENCHMARK(BM_two_messages)
    ->Args({1000, 0})
    ->Args({1'000'000, 0})
    ->Args({1'000'000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_farm)->Args({64, 100'000})->Args({4096, 100'000})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_halo)->Args({32, 20})->Args({1000, 2})->Unit(benchmark::kMillisecond);

}  // namespace
