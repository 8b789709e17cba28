// Operations per second of the replay, with the operations in memory.
//
// "items" are operations. Each benchmark holds some 10^6 operations whatever
// the number of ranks, so that the streams do not fit into the caches.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "loggps.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/memory_source.hpp"
#include "topology/builders.hpp"

namespace {

using namespace foretrace;

constexpr int kOperations = 1'000'000;

// The Cray T3D of Howell's thesis, appendix B, large messages; microseconds, 8-byte
// elements.
machine::MachineModel cray_t3d() {
  machine::MachineModel model;
  model.name = "cray-t3d";
  model.time_unit = 1e-6;
  model.element = Bytes(8);
  const auto add = [&](const char* name, double constant, double data) {
    machine::Equation equation;
    equation.constant.value = constant;
    equation.data.value = data;
    model.functions[name] = {
        name, "point-to-point", "", {{Bytes(0), Bytes(UINT64_MAX), equation, {}, {}}}};
  };
  add("send", 30, 0.09);
  add("ssend", 100, 0.1);
  add("recv", 60, 0.5);
  add("recvmin", 30, 0.4);
  add("isend1", 30, 0.09);
  add("isend2", 10, 0.001);
  add("isendoverlap", 3, 0.0002);
  add("irecv1", 40, 0);
  add("irecv2", 5, 0.5);
  add("irecvoverlap", 0.5, 0.005);
  add("sendrecv", 90, 0.6);
  machine::Equation allreduce;
  allreduce.constant.value = 300;
  allreduce.startup.value = 6;
  allreduce.data_form = machine::DataForm::ln_p_d;
  allreduce.data.value = 1;
  model.functions["allreduce"] = {
      "allreduce", "collective", "", {{Bytes(0), Bytes(UINT64_MAX), allreduce, {}, {}}}};
  return model;
}

sim::Operation message(trace::EventKind kind, trace::NameId name, int peer, std::uint64_t request) {
  sim::Operation operation;
  operation.kind = kind;
  operation.name = name;
  operation.request = request;
  trace::Endpoint& end = kind == trace::EventKind::send || kind == trace::EventKind::isend
                             ? operation.send
                             : operation.recv;
  end.peer = WorldRank(peer);
  end.bytes = Bytes(1024);
  return operation;
}

void add_finalize(sim::MemorySource& source) {
  sim::Operation finalize;
  finalize.kind = trace::EventKind::finalize;
  finalize.name = source.add_name("MPI_Finalize");
  for (int r = 0; r < source.ranks(); ++r) source.add(WorldRank(r), finalize);
}

// Each rank exchanges a message with both neighbours, then computes.
sim::MemorySource neighbour_exchange(int ranks) {
  sim::MemorySource source(ranks);
  const auto isend = source.add_name("MPI_Isend");
  const auto irecv = source.add_name("MPI_Irecv");
  sim::Operation waitall;
  waitall.kind = trace::EventKind::complete;
  waitall.name = source.add_name("MPI_Waitall");
  waitall.compute = Time::ns(50'000);
  std::uint64_t serial = 1;
  for (int step = 0; step < kOperations / (5 * ranks) + 1; ++step, serial += 4) {
    for (int r = 0; r < ranks; ++r) {
      const int left = (r + ranks - 1) % ranks;
      const int right = (r + 1) % ranks;
      const WorldRank rank(r);
      source.add(rank, message(trace::EventKind::irecv, irecv, left, serial));
      source.add(rank, message(trace::EventKind::irecv, irecv, right, serial + 1));
      source.add(rank, message(trace::EventKind::isend, isend, left, serial + 2));
      source.add(rank, message(trace::EventKind::isend, isend, right, serial + 3));
      std::vector<trace::Completion> completions(4);
      for (std::uint64_t i = 0; i < 4; ++i) completions[i].request = serial + i;
      source.add(rank, waitall, completions);
    }
  }
  add_finalize(source);
  return source;
}

sim::MemorySource ping_pong(int ranks) {
  sim::MemorySource source(ranks);
  const auto send = source.add_name("MPI_Send");
  const auto recv = source.add_name("MPI_Recv");
  for (int step = 0; step < kOperations / (2 * ranks) + 1; ++step) {
    for (int r = 0; r < ranks; r += 2) {
      source.add(WorldRank(r), message(trace::EventKind::send, send, r + 1, 0));
      source.add(WorldRank(r), message(trace::EventKind::recv, recv, r + 1, 0));
      source.add(WorldRank(r + 1), message(trace::EventKind::recv, recv, r, 0));
      source.add(WorldRank(r + 1), message(trace::EventKind::send, send, r, 0));
    }
  }
  add_finalize(source);
  return source;
}

sim::MemorySource allreduce(int ranks) {
  sim::MemorySource source(ranks);
  sim::Operation operation;
  operation.kind = trace::EventKind::collective;
  operation.name = source.add_name("MPI_Allreduce");
  operation.collective = machine::Cost::allreduce;
  operation.bytes = Bytes(8);
  operation.compute = Time::ns(1'000);
  for (int step = 0; step < kOperations / ranks + 1; ++step)
    for (int r = 0; r < ranks; ++r) source.add(WorldRank(r), operation);
  add_finalize(source);
  return source;
}

// Both neighbours in a ring by Sendrecv, 8 bytes to 64 KiB, with computation.
sim::MemorySource ring(int ranks, int steps) {
  sim::MemorySource source(ranks);
  sim::Operation exchange;
  exchange.kind = trace::EventKind::sendrecv;
  exchange.name = source.add_name("MPI_Sendrecv");
  for (int step = 0; step < steps; ++step) {
    exchange.send.bytes = exchange.recv.bytes = Bytes(std::uint64_t{8} << (step % 14));
    for (int r = 0; r < ranks; ++r) {
      const int towards = step % 2 == 0 ? 1 : ranks - 1;
      exchange.send.peer = WorldRank((r + towards) % ranks);
      exchange.recv.peer = WorldRank((r + ranks - towards) % ranks);
      exchange.compute = Time::ns(1'000 + (r * 37 + step * 11) % 500);
      source.add(WorldRank(r), exchange);
    }
  }
  add_finalize(source);
  return source;
}

sim::MemorySource collective(int ranks, const char* name, machine::Cost what, Bytes bytes,
                             int times) {
  sim::MemorySource source(ranks);
  sim::Operation operation;
  operation.kind = trace::EventKind::collective;
  operation.name = source.add_name(name);
  operation.collective = what;
  operation.bytes = bytes;
  operation.compute = Time::ns(1'000);
  for (int step = 0; step < times; ++step)
    for (int r = 0; r < ranks; ++r) source.add(WorldRank(r), operation);
  add_finalize(source);
  return source;
}

void replay(benchmark::State& state, sim::MemorySource source,
            const sim::SimulateOptions& options = {},
            const machine::MachineModel& model = cray_t3d()) {
  const machine::Timing timing(model, machine::Bound::avg);
  sim::NullSink sink;
  std::uint64_t operations = 0;
  std::uint64_t messages = 0;
  std::size_t peak = 0;
  for (auto _ : state) {
    source.rewind();
    const sim::SimulateResult result = sim::simulate(source, timing, options, sink);
    benchmark::DoNotOptimize(result.time);
    operations += result.stats.operations;
    messages += result.stats.messages;
    peak = result.stats.peak_bytes;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(operations));
  state.counters["messages"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
  state.counters["bytes_per_rank"] = static_cast<double>(peak) / source.ranks();
}

void BM_neighbour_exchange(benchmark::State& state) {
  replay(state, neighbour_exchange(static_cast<int>(state.range(0))));
}
// Every message waits for its receiver to be in a call.
void BM_neighbour_exchange_in_calls(benchmark::State& state) {
  machine::MachineModel model = cray_t3d();
  model.loggps.attended_from = Bytes(0);
  sim::SimulateOptions options;
  options.progress = sim::Progress::calls;
  replay(state, neighbour_exchange(static_cast<int>(state.range(0))), options, model);
}
void BM_ping_pong(benchmark::State& state) {
  replay(state, ping_pong(static_cast<int>(state.range(0))));
}
void BM_allreduce(benchmark::State& state) {
  replay(state, allreduce(static_cast<int>(state.range(0))));
}

void BM_loggps_ring(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  replay(state, ring(ranks, kOperations / ranks + 1), sim::loggps());
}
void BM_loggps_ring_of_100_steps(benchmark::State& state) {
  replay(state, ring(static_cast<int>(state.range(0)), 100), sim::loggps());
}
void BM_loggps_neighbour_exchange(benchmark::State& state) {
  replay(state, neighbour_exchange(static_cast<int>(state.range(0))), sim::loggps());
}
// On a 2D torus, store-and-forward.
void BM_hops_ring(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  const machine::Topology torus =
      machine::make_topology("torus:" + std::to_string(side) + "x" + std::to_string(side) +
                             "?latency=100ns&bandwidth=10GB/s");
  sim::SimulateOptions options = sim::loggps();
  options.network.kind = sim::NetworkKind::hops;
  options.network.topology = &torus;
  replay(state, ring(side * side, kOperations / side / side + 1), options);
}
void BM_loggps_allreduce(benchmark::State& state) {
  const sim::AlgorithmTable table("openmpi,allreduce=recursive_doubling");
  const int ranks = static_cast<int>(state.range(0));
  replay(state,
         collective(ranks, "MPI_Allreduce", machine::Cost::allreduce, Bytes(8),
                    kOperations / ranks / 4 + 1),
         sim::loggps(&table));
}
void BM_loggps_alltoall(benchmark::State& state) {
  const sim::AlgorithmTable table(state.range(1) != 0 ? "openmpi,alltoall=pairwise"
                                                      : "openmpi,alltoall=linear");
  const int ranks = static_cast<int>(state.range(0));
  replay(state,
         collective(ranks, "MPI_Alltoall", machine::Cost::alltoall, Bytes(1024),
                    kOperations / ranks / ranks + 1),
         sim::loggps(&table));
}
// All posted at once, on one switch: each rank's messages leave `o` apart, and share links.
void BM_flow_alltoall(benchmark::State& state) {
  const sim::AlgorithmTable table("openmpi,alltoall=linear");
  const int ranks = static_cast<int>(state.range(0));
  const machine::Topology star =
      machine::make_topology("crossbar:" + std::to_string(ranks) + "?latency=1us&bandwidth=1GB/s");
  sim::SimulateOptions options = sim::loggps(&table);
  options.network.kind = sim::NetworkKind::flow;
  options.network.topology = &star;
  replay(state,
         collective(ranks, "MPI_Alltoall", machine::Cost::alltoall, Bytes(10'000),
                    100'000 / ranks / ranks + 1),
         options);
}

BENCHMARK(BM_loggps_ring)->RangeMultiplier(4)->Range(16, 65536)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_loggps_ring_of_100_steps)->Arg(1024)->Arg(65536)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_hops_ring)->Arg(4)->Arg(32)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_loggps_neighbour_exchange)->Arg(16)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_loggps_allreduce)->RangeMultiplier(4)->Range(16, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_loggps_alltoall)->ArgsProduct({{64, 256}, {0, 1}})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_flow_alltoall)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_neighbour_exchange)->Arg(16)->Arg(256)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_neighbour_exchange_in_calls)
    ->Arg(16)
    ->Arg(256)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ping_pong)->Arg(2)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_allreduce)->Arg(16)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
