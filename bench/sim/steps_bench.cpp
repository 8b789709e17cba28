// Steps of collective algorithms per second: what expanding a collective costs
// before any message is simulated. "items" are steps.
//
// Each rank of the communicator goes through its part in turn.
#include <benchmark/benchmark.h>

#include <string_view>

#include "sim/collectives/algorithm.hpp"

namespace {

using namespace foretrace;

void run_steps(benchmark::State& state, machine::Cost collective, std::string_view name) {
  sim::CollectiveCall call{collective, static_cast<int>(state.range(0)), 0, 0, Bytes(8192)};
  sim::StepFunction function = nullptr;
  for (const sim::Algorithm& algorithm : sim::algorithms_for(collective))
    if (algorithm.name == name) function = algorithm.step;
  std::int64_t steps = 0;
  for (auto _ : state) {
    sim::Step step;
    std::uint32_t index = 0;
    while (function(call, index, step)) {
      benchmark::DoNotOptimize(step);
      ++index;
    }
    steps += index;
    call.rank = call.rank + 1 == call.size ? 0 : call.rank + 1;
  }
  state.SetItemsProcessed(steps);
}

void choose(benchmark::State& state, const char* text) {
  const sim::AlgorithmTable table(text);
  const sim::CollectiveCall call{machine::Cost::allreduce, 4096, 0, 0, Bytes(8192)};
  for (auto _ : state) benchmark::DoNotOptimize(&table.choose(call));
  state.SetItemsProcessed(state.iterations());
}

using machine::Cost;

BENCHMARK_CAPTURE(run_steps, allreduce_recursive_doubling, Cost::allreduce, "recursive_doubling")
    ->Arg(1024)
    ->Arg(1000);
BENCHMARK_CAPTURE(run_steps, alltoall_pairwise, Cost::alltoall, "pairwise")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, alltoall_linear, Cost::alltoall, "linear")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, allgather_ring, Cost::allgather, "ring")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, bcast_binomial, Cost::bcast, "binomial")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, bcast_knomial, Cost::bcast, "knomial")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, bcast_scatter_allgather, Cost::bcast, "scatter_allgather")
    ->Arg(1024)
    ->Arg(1000);
BENCHMARK_CAPTURE(run_steps, allreduce_ring, Cost::allreduce, "ring")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, allreduce_rabenseifner, Cost::allreduce, "rabenseifner")->Arg(1024);
BENCHMARK_CAPTURE(run_steps, allreduce_reduce_bcast, Cost::allreduce, "reduce_bcast")->Arg(1024);
BENCHMARK_CAPTURE(choose, openmpi, "openmpi");
BENCHMARK_CAPTURE(choose, mpich, "mpich");

}  // namespace
