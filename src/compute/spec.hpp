// Spec: how the computation between two calls becomes time, as --compute says
// it. One vocabulary for predict, simulate and live runs; which of it applies
// where is the caller's to say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/compute_costs.hpp"
#include "trace/event.hpp"

namespace foretrace::compute {

enum class Kind {
  none,       // no time
  annotated,  // FORETRACE_COMPUTE's steps times a step: the model's, or one that is given
  counted,    // what was executed, times the model's cost of one
  measured,   // CPU time of this machine (of the recording one) times a scale
  table,      // times of regions, measured on the target
  replayed,   // the times of an earlier run
};

enum class Counter { none, blocks, instructions };

struct Spec {
  Kind kind = Kind::measured;
  double scale = 1;                 // measured: seconds there for a second here
  std::optional<double> step = {};  // annotated: seconds
  Counter counter = Counter::none;  // counted
  std::string file;                 // table, replayed
};

// Whether what a program sleeps takes no time, since nothing of this machine is measured.
constexpr bool leaves_sleep_out(Kind kind) {
  return kind == Kind::none || kind == Kind::annotated || kind == Kind::counted;
}

// none, annotated[:STEP], counted[:blocks|instructions], measured[:SCALE] (recorded is
// the same), table:FILE, replayed:RUN.ftr. Throws UsageError; `option` is what
// the text was given with.
Spec parse_spec(std::string_view text, std::string_view option);
// The text that parses back to it.
std::string format_spec(const Spec& spec);

// "blocks" or "instructions"; Counter::none for any other text.
Counter parse_counter(std::string_view text);
std::string_view name_of(Counter counter);

// What TraceInfo::options of a trace holds whose Event::steps are such counts.
std::string counts_option(Counter counter);
// What Event::steps of that trace are; Counter::none: annotated steps.
Counter counter_of(const trace::TraceInfo& info);

// Seconds for one count. Throws Error where the machine has no such cost.
double cost_of(Counter counter, const machine::ComputeCosts& costs);

}  // namespace foretrace::compute
