#include "cli/explain/placement.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "explain/edits.hpp"

namespace foretrace::cli {
namespace {

// So many calls are simulated in all.
constexpr std::uint64_t kMostPlacedCalls = 2'000'000;
constexpr double kLeastGain = 1e-6;

}  // namespace

explain::BetterPlacement better_placement(const Simulation& simulation, const explain::Run& run) {
  const machine::Placement* present = simulation.placement();
  if (!present)
    throw UsageError(
        "--better-placement: on this network it is all the same where a rank runs; choose "
        "--topology and --network hops, bus, flow or packet");
  const explain::Edits none;
  const auto simulate = [&](Replay replay) {
    explain::EditedSource source(simulation.open_shared(), run, none);
    sim::NullSink nothing;
    replay.settled = true;
    return simulation.run(source, nothing, replay).time;
  };
  sim::MessageMatrix messages;
  Replay counting;
  counting.messages = &messages;
  simulate(counting);
  std::uint64_t calls = 1;
  for (const auto& of_rank : run.calls) calls += of_rank.size();
  const auto placed = [&](const machine::Placement& placement) {
    Replay replay;
    replay.placement = &placement;
    return simulate(replay);
  };
  return explain::find_placement(messages, *simulation.topology(), *present, run.time,
                                 kMostPlacedCalls / calls, placed);
}

std::string format_placement(const machine::Placement& placement,
                             const machine::Topology& topology) {
  std::string text;
  for (const machine::NodeId node : placement) text += topology.node_name(node) + "\n";
  return text;
}

void add_better_placement(const Simulation& simulation, const explain::Run& run,
                          explain::Explanation& explanation) {
  const machine::Placement* present = simulation.placement();
  if (!present) return;
  const explain::BetterPlacement better = better_placement(simulation, run);
  explain::Finding finding;
  finding.gain = run.time - better.time;
  if (finding.gain.seconds() <= kLeastGain * run.time.seconds()) return;
  finding.kind = "placement";
  finding.predicted = better.time;
  for (std::size_t rank = 0; rank < present->size(); ++rank) {
    finding.processors.push_back(simulation.topology()->node_name(better.placement[rank]));
    if (better.placement[rank] != (*present)[rank])
      finding.ranks.emplace_back(static_cast<std::int32_t>(rank));
  }
  finding.verified = true;
  finding.effort = explain::Effort::setting;
  finding.check = "--better-placement FILE";
  explanation.findings.push_back(std::move(finding));
}

}  // namespace foretrace::cli
