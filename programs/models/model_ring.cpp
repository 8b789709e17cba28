// model_ring - a token goes once around a ring of 1000 ranks: the program of
// docs/model-programs.md, with all that it takes.
#include <cstdio>

#include "machine/loggps.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/model/model_program.hpp"
#include "sim/sink.hpp"

using namespace foretrace;

sim::RankTask ring(sim::ModelRank& rank, Bytes token) {
  const int right = (rank.rank() + 1) % rank.size();
  const int left = (rank.rank() + rank.size() - 1) % rank.size();
  if (rank.rank() == 0) co_await rank.send(right, token);
  co_await rank.recv(left);
  if (rank.rank() == 0) co_return;
  rank.compute(Time::ns(250));
  co_await rank.send(right, token);
}

int main() {
  sim::ModelProgram program(1000, [](sim::ModelRank& rank) { return ring(rank, Bytes(1)); });

  const machine::MachineModel model;  // or machine::read_machine_file("M.toml")
  const machine::Timing timing(model, machine::Bound::avg);
  sim::SimulateOptions options;
  options.network.kind = sim::NetworkKind::loggps;
  options.network.loggps = machine::loggps_times(
      model, machine::parse_loggps("L=2us,o=500ns,g=100ns,G=0.08ns"), machine::Bound::avg);
  sim::NullSink sink;  // or a FileSink, for report and timeline

  const sim::SimulateResult result = sim::simulate(program, timing, options, sink);
  std::printf("%.3f us\n", result.time.seconds() * 1e6);
}
