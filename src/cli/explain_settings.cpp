#include "cli/explain_settings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "explain/edits.hpp"
#include "explain/findings.hpp"
#include "explain/loaded_run.hpp"
#include "explain/places.hpp"
#include "explain/rewrites.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;
using explain::PlaceId;

// So many calls are simulated in all, but at least kLeastTried algorithms.
constexpr std::uint64_t kMostCalls = 20'000'000;
constexpr std::uint64_t kLeastTried = 14;
constexpr double kLeastGain = 1e-6;

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

class Tries {
 public:
  Tries(Simulation& simulation, const explain::Run& run)
      : simulation_(&simulation), run_(&run), loaded_(simulation.open()) {
    replay_.settled = true;
  }

  Time with(const explain::Place& place, std::string_view algorithm) const {
    const explain::Open open = [this]() -> std::unique_ptr<sim::Source> {
      return std::make_unique<explain::EditedSource>(loaded_.open(), *run_, none_);
    };
    const explain::Rewrites rewrites = explain::with_algorithm(
        open, [&](const explain::Place& other) { return other == place; }, std::string(algorithm));
    explain::RewrittenSource source(open(), rewrites);
    sim::NullSink nothing;
    return simulation_->run(source, nothing, replay_).time;
  }

 private:
  const Simulation* simulation_;
  const explain::Run* run_;
  explain::LoadedRun loaded_;
  explain::Edits none_;
  Replay replay_;
};

}  // namespace

void find_better_algorithms(Simulation& simulation, const explain::Run& run,
                            const sim::Source& names, explain::Explanation& explanation) {
  if (!simulation.expands_collectives() || names.races()) return;
  const std::vector<Site> sites = sites_of(run);
  if (sites.empty()) return;
  const explain::Places places(run, names);
  const explain::Checks checks(run, names);
  const Tries tries(simulation, run);
  std::uint64_t left =
      std::max(kLeastTried, kMostCalls / std::max<std::uint64_t>(explanation.calls, 1));
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
      const Time time = tries.with(finding.place, algorithm.name);
      if (time >= finding.predicted) continue;
      finding.predicted = time;
      finding.change = algorithm.name;
    }
    finding.gain = run.time - finding.predicted;
    if (finding.gain.seconds() <= kLeastGain * run.time.seconds()) continue;
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
