#include "imported/model.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "measure/fit/fit.hpp"
#include "toml_file/text.hpp"

namespace foretrace::imported {
namespace {

// The middle of each size of a function, of the fewest ranks that it was measured with.
std::map<std::uint64_t, double> middles(const Measurements& measurements,
                                        const std::string& function) {
  std::vector<measure::Sample> samples;
  std::ranges::copy_if(measurements.samples, std::back_inserter(samples),
                       [&](const measure::Sample& each) { return each.function == function; });
  std::map<std::uint64_t, double> out;
  for (const measure::Point& point : measure::summarise(samples))
    out.emplace(point.bytes, point.seconds);
  return out;
}

bool is_quicker_than_a_message(const std::map<std::uint64_t, double>& collective,
                               const std::map<std::uint64_t, double>& message) {
  std::size_t both = 0;
  std::size_t quicker = 0;
  for (const auto& [bytes, seconds] : collective) {
    const auto found = message.find(bytes);
    if (found == message.end()) continue;
    ++both;
    quicker += seconds < found->second ? 1 : 0;
  }
  return quicker > 0 && 2 * quicker >= both;
}

void leave_out_the_impossible(Measurements& measurements) {
  const std::map<std::uint64_t, double> message = middles(measurements, "recv");
  std::set<std::string> names;
  for (const measure::Sample& each : measurements.samples)
    if (each.ranks > 2) names.insert(each.function);
  for (const std::string& name : names) {
    if (!is_quicker_than_a_message(middles(measurements, name), message)) continue;
    std::erase_if(measurements.samples,
                  [&](const measure::Sample& each) { return each.function == name; });
    measurements.notes.push_back(
        name +
        ": left out: at most sizes it takes less than a single message, so it is the mean of ranks "
        "that mostly found the data there, and no rank's time");
  }
}

measure::SampleSet sample_set(Measurements measurements) {
  measure::SampleSet set;
  set.samples = std::move(measurements.samples);
  if (measurements.resolution > 0)
    set.info["timer_overhead"] = machine::number(measurements.resolution);
  if (measurements.sync_threshold)
    set.info["sync_threshold"] = std::to_string(*measurements.sync_threshold);
  return set;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

void set_provenance(machine::MachineModel& model, const Provenance& provenance) {
  model.kind = "derived";
  model.name = provenance.name;
  model.source = provenance.source;
  model.licence = provenance.licence;
  model.date = provenance.date;
  model.mpi_library = provenance.mpi_library;
}

ImportedModel fit_measurements(Measurements measurements, const Provenance& provenance) {
  leave_out_the_impossible(measurements);
  if (measurements.samples.empty())
    throw Error("nothing to make a model of" +
                (measurements.notes.empty() ? std::string() : ": " + measurements.notes.front()));
  ImportedModel imported;
  imported.notes = std::move(measurements.notes);
  const auto methods = std::move(measurements.methods);
  imported.model = measure::fit_model(sample_set(std::move(measurements))).model;
  for (auto& [name, function] : imported.model.functions) {
    const auto method = methods.find(name);
    if (method != methods.end()) function.method = method->second;
    if (name == "wtime") function.function_class = "local";
    // The papers' forms are for comparison on one's own machine.
    function.baseline.clear();
    function.baseline_held_out.reset();
  }
  for (const std::string& name : machine::unreliable_functions(imported.model))
    imported.notes.push_back("WARNING: INVALID: the equations of " + name + " are off by " +
                             percent(imported.model.find(name)->held_out->mean) +
                             " at sizes that were left out");
  set_provenance(imported.model, provenance);
  return imported;
}

std::string render_functions(const machine::MachineModel& model) {
  std::string out;
  char line[160];
  std::snprintf(line, sizeof line, "%-14s %-22s %-18s %7s %11s %10s\n", "function", "ranks",
                "bytes", "regimes", "held out", "at most");
  out += line;
  for (const auto& [name, function] : model.functions) {
    std::string ranks = "-";
    std::string bytes = "-";
    if (const auto& measured = function.measured) {
      ranks.clear();
      for (const int p : measured->ranks) ranks += (ranks.empty() ? "" : " ") + std::to_string(p);
      bytes = std::to_string(measured->from.count) + " to " + std::to_string(measured->to.count);
    }
    std::snprintf(line, sizeof line, "%-14s %-22s %-18s %7zu %11s %10s\n", name.c_str(),
                  ranks.c_str(), bytes.c_str(), function.regimes.size(),
                  function.held_out ? percent(function.held_out->mean).c_str() : "-",
                  function.held_out ? percent(function.held_out->max).c_str() : "-");
    out += line;
  }
  return out;
}

}  // namespace foretrace::imported
