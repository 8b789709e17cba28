// A program of tests/sim/programs.hpp, simulated on test_machine() and explained.
#pragma once

#include <memory>

#include "explain/explanation.hpp"
#include "machine/ideal.hpp"
#include "sim/programs.hpp"

namespace foretrace::explain {

using sim::Programs;
using sim::us;

inline void send(Programs& programs, int rank, int to, Time before, const char* name,
                 std::uint64_t bytes = 0) {
  sim::Operation operation = programs.make(trace::EventKind::send, name, before);
  operation.send = Programs::end(to, bytes, 0);
  programs.add(WorldRank(rank), operation);
}
inline void recv(Programs& programs, int rank, int from, Time before, const char* name,
                 std::uint64_t bytes = 0) {
  sim::Operation operation = programs.make(trace::EventKind::recv, name, before);
  operation.recv = Programs::end(from, bytes, 0);
  programs.add(WorldRank(rank), operation);
}

struct Explained {
  Run run;
  Explanation explanation;

  const Finding* first(const std::string& kind) const {
    for (const Finding& finding : explanation.findings)
      if (finding.kind == kind) return &finding;
    return nullptr;
  }
  const WaitGroup* waits_at(const std::string& function) const {
    for (const WaitGroup& group : explanation.waits)
      if (group.place.function == function) return &group;
    return nullptr;
  }
};

inline Explained explain_program(const Programs& programs, const sim::NetworkOptions& network = {},
                                 const ExplainOptions& how = {},
                                 const machine::MachineModel& model = sim::test_machine()) {
  const machine::Timing timing(model, machine::Bound::avg);
  Explained explained;
  Programs source = programs;
  source.rewind();
  RunSink sink(source, explained.run);
  sim::SimulateOptions options;
  options.network = network;
  options.dependences = &explained.run.graph;
  sim::simulate(source, timing, options, sink);
  sink.finish();
  const Simulate again = [&](const Edits& edits, Ideal ideal, sim::Sink& sink) {
    auto fresh = std::make_unique<Programs>(programs);
    fresh->rewind();
    EditedSource edited(std::move(fresh), explained.run, edits);
    const bool fast = ideal == Ideal::ideal || ideal == Ideal::ideal_no_files;
    const bool files = ideal != Ideal::no_files && ideal != Ideal::ideal_no_files;
    machine::MachineModel kept =
        machine::keep_portion(model, fast ? machine::Portion::nothing : machine::Portion::whole);
    if (!files) kept = machine::without_files(kept);
    const machine::Timing edited_timing(kept, machine::Bound::avg);
    sim::SimulateOptions plain;
    plain.network = network;
    return sim::simulate(edited, edited_timing, plain, sink).time;
  };
  explained.explanation = explain(explained.run, source, again, how);
  return explained;
}

}  // namespace foretrace::explain
