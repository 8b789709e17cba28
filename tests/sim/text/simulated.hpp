// Text programs on the machine with round times of tests/sim/programs.hpp.
#pragma once

#include <string>
#include <utility>

#include "../programs.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"
#include "sim/text/ti_source.hpp"

namespace foretrace::sim {

// In both orders of ready ranks; throws Error where they differ.
template <class Rewindable>
Replayed simulate_on_test_machine(Rewindable& source) {
  static const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  std::vector<Replayed> runs;
  for (const ReadyOrder order : {ReadyOrder::last_in_first_out, ReadyOrder::lowest_rank_first}) {
    source.rewind();
    SimulateOptions options;
    options.order = order;
    MemorySink sink(source, {});
    SimulateResult result = simulate(source, timing, options, sink);
    runs.push_back({std::move(result), sink.take()});
  }
  if (runs[0].trace.ranks != runs[1].trace.ranks)
    throw Error("the order in which ranks are taken up changes the result");
  return std::move(runs[0]);
}

inline Replayed simulate_goal(const std::string& text) {
  GoalSource source(parse_goal(text, "x.goal"));
  return simulate_on_test_machine(source);
}

inline Replayed simulate_ti(const std::string& text, const TiOptions& options = {}) {
  TiSource source(parse_ti(text, "x.txt", options));
  return simulate_on_test_machine(source);
}

}  // namespace foretrace::sim
