#include "capture/host/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "trace/call_counters.hpp"

namespace foretrace::capture {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

[[noreturn]] void refuse(const char* name, std::string_view value, const char* expected) {
  throw Error(std::string(name) + "='" + std::string(value) + "': expected " + expected);
}

void read_compute(std::string_view value, Settings& settings) {
  try {
    settings.compute = compute::parse_spec(value, "FORETRACE_COMPUTE");
  } catch (const UsageError& error) {
    throw Error(error.what());
  }
}

const char* name_of(machine::Bound bound) {
  return bound == machine::Bound::min ? "min" : bound == machine::Bound::max ? "max" : "avg";
}

// What a trace's steps are, where the program did not announce them; and that kernels, or waits,
// were left out.
std::string describe_counts(const Settings& settings) {
  std::string text;
  if (settings.count != compute::Counter::none) text = compute::counts_option(settings.count);
  if (settings.sample > 0)
    text += (text.empty() ? "" : " ") + ("sample=" + std::to_string(settings.sample));
  if (!settings.counts_waits) text += text.empty() ? "waits=none" : " waits=none";
  return text;
}

int read_depth(std::string_view value) {
  int depth = 1;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, depth);
  if (!value.empty() &&
      (parsed.ec != std::errc() || parsed.ptr != end || depth < 1 || depth > trace::kMostFrames))
    refuse("FORETRACE_DEPTH", value, "a number of frames from 1 to 8");
  return depth;
}

// A number from 1 on; 0: not said.
int read_count(const char* name, const char* what) {
  const std::string_view value = variable(name);
  int count = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, count);
  if (!value.empty() && (error != std::errc() || stop != end || count < 1))
    refuse(name, value, (std::string(what) + ", 1 or more").c_str());
  return count;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  const std::string_view mode = variable("FORETRACE_MODE");
  if (mode == "record")
    settings.mode = Mode::record;
  else if (mode == "predict")
    settings.mode = Mode::predict;
  else if (mode == "profile")
    settings.mode = Mode::profile;
  else if (!mode.empty() && mode != "off")
    refuse("FORETRACE_MODE", mode, "off, profile, record or predict");
  if (settings.mode == Mode::off) return settings;

  settings.output = variable("FORETRACE_OUTPUT");
  if (settings.output.empty())
    settings.output = settings.mode == Mode::profile ? "foretrace.fprof" : "foretrace.ftr";
  settings.told = variable("FORETRACE_TELL");
  if (settings.mode == Mode::profile) settings.depth = read_depth(variable("FORETRACE_DEPTH"));
  settings.machine = variable("FORETRACE_MACHINE");
  if (settings.mode == Mode::predict && settings.machine.empty())
    throw Error("FORETRACE_MODE=predict needs FORETRACE_MACHINE, the machine model's file");

  const std::string_view clock = variable("FORETRACE_CLOCK");
  if (clock == "wall")
    settings.clock = trace::Clock::wall;
  else if (!clock.empty() && clock != "cpu")
    refuse("FORETRACE_CLOCK", clock, "cpu or wall");
  if (settings.mode == Mode::predict) settings.clock = trace::Clock::virtual_;

  const std::string_view bound = variable("FORETRACE_BOUND");
  if (bound == "min")
    settings.bound = machine::Bound::min;
  else if (bound == "max")
    settings.bound = machine::Bound::max;
  else if (!bound.empty() && bound != "avg")
    refuse("FORETRACE_BOUND", bound, "min, avg or max");

  const std::string_view compute = variable("FORETRACE_COMPUTE");
  if (!compute.empty()) read_compute(compute, settings);

  const std::string_view start = variable("FORETRACE_START");
  if (start == "off")
    settings.start_logging = false;
  else if (start == "never" && settings.mode == Mode::record)
    settings.logs_calls = false;
  else if (!start.empty() && start != "on")
    refuse("FORETRACE_START", start, "on, off, or for record never");
  const std::string_view count = variable("FORETRACE_COUNT");
  settings.count =
      settings.mode == Mode::predict ? settings.compute.counter : compute::parse_counter(count);
  if (!count.empty() && compute::parse_counter(count) == compute::Counter::none)
    refuse("FORETRACE_COUNT", count, "blocks or instructions");

  settings.scale_from = variable("FORETRACE_SCALE_FROM");
  settings.slower = variable("FORETRACE_SLOWER");
  settings.lines_of_run = variable("FORETRACE_LINES_OF_RUN");
  const std::string_view state = variable("FORETRACE_STATE");
  if (state == "other")
    settings.in_other_state = true;
  else if (!state.empty() && state != "measured")
    refuse("FORETRACE_STATE", state, "measured or other");
  settings.sample = read_count("FORETRACE_SAMPLE", "how often each kernel is to be executed");
  settings.placement = variable("FORETRACE_PLACEMENT");
  settings.ranks_per_node = read_count("FORETRACE_RANKS_PER_NODE", "how many ranks share a node");

  const std::string_view wtime = variable("FORETRACE_WTIME");
  if (wtime == "real")
    settings.virtual_wtime = false;
  else if (!wtime.empty() && wtime != "virtual")
    refuse("FORETRACE_WTIME", wtime, "virtual or real");
  const std::string_view waits = variable("FORETRACE_WAITS");
  if (waits == "none")
    settings.counts_waits = false;
  else if (!waits.empty() && waits != "measured")
    refuse("FORETRACE_WAITS", waits, "measured or none");

  const std::string_view yield = variable("FORETRACE_YIELD");
  if (yield == "always")
    settings.yield = Yield::always;
  else if (yield == "never")
    settings.yield = Yield::never;
  else if (!yield.empty() && yield != "auto")
    refuse("FORETRACE_YIELD", yield, "auto, always or never");
  return settings;
}

std::string describe(const Settings& settings) {
  const std::string counts = describe_counts(settings);
  if (settings.mode != Mode::predict) return counts;
  std::string text = std::string("bound=") + name_of(settings.bound) +
                     " compute=" + compute::format_spec(settings.compute);
  if (settings.in_other_state) text += " state=other";
  if (!settings.slower.empty()) text += " slower=" + settings.slower;
  return counts.empty() ? text : text + " " + counts;
}

}  // namespace foretrace::capture
