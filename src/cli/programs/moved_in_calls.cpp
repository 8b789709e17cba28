#include "cli/programs/moved_in_calls.hpp"

#include <utility>

#include "cli/simulate/simulation.hpp"
#include "machine/timing.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {

namespace {

// Whether there is a message, or a posted collective, that needs others in MPI.
bool has_attended(trace::TraceReader& reader, const machine::MachineModel& model) {
  const machine::Timing timing(model, machine::Bound::avg);
  machine::Placement placement;
  for (const std::int32_t node : reader.info().nodes) placement.emplace_back(node);
  const machine::RankPaths paths(std::move(placement));
  trace::Event event;
  for (std::int32_t rank = 0; rank < reader.ranks(); ++rank)
    while (reader.next(WorldRank(rank), event)) {
      using enum trace::EventKind;
      if (event.kind == icollective) return true;
      const bool sends = event.kind == send || event.kind == isend || event.kind == sendrecv;
      if (sends && event.send.peer.valid() &&
          timing.on(paths.between(WorldRank(rank), event.send.peer))
              .is_attended(event.mode, event.send.bytes))
        return true;
    }
  return false;
}

}  // namespace

void move_in_calls(const std::string& path, const std::string& machine, const std::string& bound,
                   bool in_other_state) {
  trace::TraceReader reader(path);
  if (!reader.sealed() || !reader.damage().empty()) return;
  SimulationOptions options;
  options.input = path;
  options.machine = machine;
  options.bound = bound;
  options.in_other_state = in_other_state;
  options.progress = "calls";
  options.allow_invalid = true;  // what the summary says of that is enough
  Simulation simulation(options);
  if (!has_attended(reader, simulation.model())) return;
  trace::TraceInfo info = reader.info();
  info.options += " progress=calls";
  const auto source = simulation.open();
  sim::FileSink sink(*source, info, path);
  simulation.run(*source, sink);
  sink.finish();
}

}  // namespace foretrace::cli
