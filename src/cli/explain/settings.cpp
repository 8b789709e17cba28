#include "cli/explain/settings.hpp"

#include <algorithm>
#include <optional>

#include "cli/explain/places_by_time.hpp"
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
  const std::vector<PlaceTime> sites = places_by_time(run, [](const Call& call) {
    return call.kind == trace::EventKind::collective &&
           sim::algorithms_for(call.collective).size() >= 2;
  });
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
    explain::Finding finding = finding_at(sites[i], places);
    finding.kind = "algorithm";
    finding.predicted = run.time;
    for (const sim::Algorithm& algorithm : algorithms) {
      const Time time = time_with(simulation, run, sites[i].place, algorithm.name);
      if (time >= finding.predicted) continue;
      finding.predicted = time;
      finding.change = algorithm.name;
    }
    finding.gain = run.time - finding.predicted;
    if (finding.gain.seconds() <= kLeastSettingGain * run.time.seconds()) continue;
    finding.effort = explain::Effort::setting;
    finding.check = checks.option("--collective", sites[i].place, false);
    if (!finding.check.empty()) finding.check += "=" + finding.change;
    explanation.findings.push_back(std::move(finding));
  }
}

}  // namespace foretrace::cli
