#include "cli/explain/settings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "explain/edits.hpp"
#include "explain/findings.hpp"
#include "explain/places.hpp"
#include "explain/rewrites.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;
using explain::PlaceId;

// So many calls are simulated in all, but at least kLeastTried algorithms.
constexpr std::uint64_t kMostSetCalls = 20'000'000;
constexpr std::uint64_t kLeastTried = 14;
constexpr double kLeastSettingGain = 1e-6;

struct Site {
  PlaceId place = 0;
  machine::Cost collective = machine::Cost::kCount;
  Time time;  // of all calls
  std::set<std::int32_t> ranks;
};

// Where collectives are called that there are several algorithms of, by the time there.
std::vector<Site> sites_of(const explain::Run& run) {
  std::map<PlaceId, Site> sites;
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (const Call& call : run.calls[r]) {
      if (call.kind != trace::EventKind::collective) continue;
      if (sim::algorithms_for(call.collective).size() < 2) continue;
      Site& site = sites[call.place];
      site.place = call.place;
      site.collective = call.collective;
      site.time += run.graph[call.leave].at - run.graph[call.enter].at;
      site.ranks.insert(static_cast<std::int32_t>(r));
    }
  std::vector<Site> list;
  for (auto& [place, site] : sites) list.push_back(std::move(site));
  std::ranges::stable_sort(list, [](const Site& a, const Site& b) { return a.time > b.time; });
  return list;
}

// The run time with the collectives of a place carried out by another algorithm.
Time time_with(const Simulation& simulation, const explain::Run& run, PlaceId place,
               std::string_view algorithm) {
  const explain::Edits none;
  const explain::Open open = [&]() -> std::unique_ptr<sim::Source> {
    return std::make_unique<explain::EditedSource>(simulation.open_shared(), run, none);
  };
  const explain::CallChoice meant = [&](WorldRank rank, std::uint32_t call, const auto&) {
    const auto& calls = run.calls[static_cast<std::size_t>(rank.value)];
    return call < calls.size() && calls[call].place == place;
  };
  const explain::Rewrites rewrites = explain::with_algorithm(open, meant, std::string(algorithm));
  explain::RewrittenSource source(open(), rewrites);
  sim::NullSink nothing;
  Replay replay;
  replay.settled = true;
  return simulation.run(source, nothing, replay).time;
}

}  // namespace

void find_better_algorithms(const Simulation& simulation, const explain::Run& run,
                            const sim::Source& names, explain::Explanation& explanation) {
  if (!simulation.expands_collectives() || names.messages_race()) return;
  const std::vector<Site> sites = sites_of(run);
  if (sites.empty()) return;
  const explain::Places places(run, names);
  const explain::Checks checks(run, names);
  std::uint64_t left =
      std::max(kLeastTried, kMostSetCalls / std::max<std::uint64_t>(explanation.calls, 1));
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto& algorithms = sim::algorithms_for(sites[i].collective);
    if (left < algorithms.size()) {
      explanation.notes.push_back("other algorithms were tried at " + std::to_string(i) + " of " +
                                  std::to_string(sites.size()) + " places with collectives");
      break;
    }
    left -= algorithms.size();
    explain::Finding finding;
    finding.kind = "algorithm";
    finding.place = places.describe(sites[i].place);
    finding.predicted = run.time;
    for (const sim::Algorithm& algorithm : algorithms) {
      const Time time = time_with(simulation, run, sites[i].place, algorithm.name);
      if (time >= finding.predicted) continue;
      finding.predicted = time;
      finding.change = algorithm.name;
    }
    finding.gain = run.time - finding.predicted;
    if (finding.gain.seconds() <= kLeastSettingGain * run.time.seconds()) continue;
    for (const std::int32_t rank : sites[i].ranks) finding.ranks.emplace_back(rank);
    finding.spent = sites[i].time;
    finding.verified = true;
    finding.effort = explain::Effort::setting;
    finding.check = checks.option("--collective", sites[i].place, false);
    if (!finding.check.empty()) finding.check += "=" + finding.change;
    explanation.findings.push_back(std::move(finding));
  }
  std::ranges::stable_sort(explanation.findings,
                           [](const auto& a, const auto& b) { return a.gain > b.gain; });
}

}  // namespace foretrace::cli
