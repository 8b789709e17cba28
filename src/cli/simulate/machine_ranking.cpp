#include "cli/simulate/machine_ranking.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/words/named_files.hpp"
#include "machine/machine_file.hpp"
#include "sim/sink.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::cli {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// What LogGPS cannot do without: messages, and what they cost their sender.
std::vector<std::string> missing_for_messages(const machine::MachineModel& model) {
  std::vector<std::string> missing;
  if (!model.find("send") && !model.loggps.overhead_send) missing.emplace_back("send");
  if (!model.find("recv") && !model.find("send") && !model.loggps.latency)
    missing.emplace_back("recv");
  return missing;
}

constexpr const char* kNoStep = "a step of computation ([compute] step)";

// The run on one machine by one network. Returns what is missing there, or fills `ranked`.
std::vector<std::string> try_network(SimulationOptions options, const std::string& network,
                                     RankedMachine& ranked) {
  options.network = network;
  if (!network.empty() && network != "datasheet")
    if (auto missing = missing_for_messages(machine::read_machine_file(options.machine));
        !missing.empty())
      return missing;
  const auto bounds = std::to_array<std::pair<const char*, Time*>>(
      {{"avg", &ranked.time}, {"min", &ranked.least}, {"max", &ranked.most}});
  for (const auto& [bound, time] : bounds) {
    options.bound = bound;
    Simulation simulation(options);
    const std::unique_ptr<sim::Source> source = simulation.open();
    sim::NullSink sink;
    const sim::SimulateResult result = simulation.run(*source, sink);
    if (!result.unknowns.missing.empty()) return result.unknowns.missing;
    if (result.announced && options.compute.starts_with("annotated") &&
        simulation.model().compute_step == 0)
      return {kNoStep};
    *time = result.time;
    ranked.beyond = result.unknowns.beyond;
  }
  ranked.network = network.empty() ? "datasheet" : network;
  // The ends of the equations are not those of a run where the order of messages changes.
  ranked.least = std::min(ranked.least, ranked.time);
  ranked.most = std::max(ranked.most, ranked.time);
  return {};
}

// Among the machines whose errors are known.
void set_places(std::vector<RankedMachine>& ranked) {
  const auto count = [&](auto holds) {
    return static_cast<std::size_t>(std::ranges::count_if(
        ranked, [&](const RankedMachine& other) { return other.has_interval() && holds(other); }));
  };
  for (RankedMachine& one : ranked) {
    if (!one.has_interval()) continue;
    one.best_place = 1 + count([&](const RankedMachine& other) { return other.most < one.least; });
    one.worst_place = count([&](const RankedMachine& other) { return !(other.least > one.most); });
  }
}

std::string place_of(const RankedMachine& machine) {
  if (!machine.has_interval()) return "-";
  const std::string best = std::to_string(machine.best_place);
  return machine.best_place == machine.worst_place
             ? best
             : best + "-" + std::to_string(machine.worst_place);
}

}  // namespace

Ranking rank_machines(const SimulationOptions& options) {
  Ranking ranking;
  ranking.own_steps = options.compute == "annotated";
  std::string first_error;
  std::size_t tried = 0;
  std::size_t failed = 0;
  for (const NamedFile& file : named_files(Named::machine)) {
    SimulationOptions here = options;
    here.machine = file.path;
    RankedMachine ranked;
    ranked.name = file.name;
    ++tried;
    try {
      std::vector<std::string> missing = try_network(here, options.network, ranked);
      if (!missing.empty() && options.network.empty() && options.collectives.empty())
        if (auto other = try_network(here, "loggps", ranked);
            other.empty() || other.front() == kNoStep)
          missing = std::move(other);
      if (missing.empty())
        ranking.ranked.push_back(std::move(ranked));
      else
        ranking.unranked.push_back({file.name, "nobody measured " + list_of(missing)});
    } catch (const Error& error) {
      if (failed++ == 0) first_error = error.what();
      ranking.unranked.push_back({file.name, error.what()});
    }
  }
  if (tried == 0) throw Error("no machine models are installed");
  // What fails on every machine is the run's fault.
  if (failed == tried) throw Error(first_error);
  std::ranges::stable_sort(ranking.ranked, {}, &RankedMachine::time);
  set_places(ranking.ranked);
  return ranking;
}

std::string render_ranking(const Ranking& ranking) {
  using enum views::Align;
  std::string out;
  if (!ranking.ranked.empty()) {
    views::TextTable table({right, left, right, right, right, left, left});
    table.add({"place", "machine", "time", "least", "most", "network", "beyond what was measured"});
    for (const RankedMachine& each : ranking.ranked) {
      const bool known = each.has_interval();
      table.add({place_of(each), each.name, views::format_time(each.time),
                 known ? views::format_time(each.least) : "-",
                 known ? views::format_time(each.most) : "-", each.network, list_of(each.beyond)});
    }
    out += table.render(0);
  }
  if (!ranking.unranked.empty()) {
    out += ranking.ranked.empty() ? "not ranked\n" : "\nnot ranked\n";
    views::TextTable table({left, left});
    for (const UnrankedMachine& each : ranking.unranked) table.add({each.name, each.reason});
    out += table.render(2);
  }
  return out +
         "\nMachines with overlapping intervals are not told apart: they share places. \"-\": the\n"
         "model's errors are not known, so it has no place. " +
         (ranking.own_steps ? "What the program announces takes as\n"
                              "many steps of each machine's own computation.\n"
                            : "How fast each machine computes is not\n"
                              "known: --compute is the same for all.\n");
}

std::string ranking_json(const Ranking& ranking) {
  using nlohmann::ordered_json;
  ordered_json all = {{"ranked", ordered_json::array()}, {"unranked", ordered_json::array()}};
  for (const RankedMachine& each : ranking.ranked) {
    ordered_json machine = {{"name", each.name}, {"time", each.time.seconds()}};
    if (each.has_interval()) {
      machine["min"] = each.least.seconds();
      machine["max"] = each.most.seconds();
      machine["place"] = {each.best_place, each.worst_place};
    }
    machine["network"] = each.network;
    machine["beyond"] = each.beyond;
    all["ranked"].push_back(std::move(machine));
  }
  for (const UnrankedMachine& each : ranking.unranked)
    all["unranked"].push_back({{"name", each.name}, {"reason", each.reason}});
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace foretrace::cli
