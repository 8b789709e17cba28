#include "cli/explain/links.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/explain/tries.hpp"
#include "cli/explain/what_if.hpp"
#include "explain/edits.hpp"

namespace foretrace::cli {
namespace {

using machine::NodeId;
using machine::NodeKind;

constexpr std::size_t kMostLinks = 3;

// Whether single links can be made faster.
bool has_links(const Simulation& simulation) {
  return simulation.placement() && !simulation.architecture() &&
         simulation.network() != sim::NetworkKind::bus &&
         simulation.network() != sim::NetworkKind::loggps;
}

std::optional<NodeId> find_node(const machine::Topology& topology, const std::string& name) {
  for (int node = 0; node < topology.nodes(); ++node)
    if (topology.node_name(NodeId(node)) == name) return NodeId(node);
  return std::nullopt;
}

// Both ways at once.
struct Cable {
  NodeId from;  // the way that was busy the longest
  NodeId to;
  Time busy;
};

// The longest busy first; none of a bus, which is no link between two.
std::vector<Cable> cables_by_time(const machine::Topology& topology, const sim::LinkUsage& usage) {
  std::map<std::pair<NodeId, NodeId>, Cable> cables;
  for (const sim::LinkLoad& load : usage.loads()) {
    if (load.busy == Time()) continue;  // messages without bytes
    const NodeId from = topology.from(load.link);
    const NodeId to = topology.to(load.link);
    if (topology.kind(from) == NodeKind::bus || topology.kind(to) == NodeKind::bus) continue;
    Cable& cable = cables[std::minmax(from, to)];
    if (load.busy > cable.busy) cable = {from, to, load.busy};
  }
  std::vector<Cable> list;
  for (const auto& [nodes, cable] : cables) list.push_back(cable);
  std::ranges::stable_sort(list, [](const Cable& a, const Cable& b) { return a.busy > b.busy; });
  return list;
}

sim::SimulateResult run_with(const Simulation& simulation, const explain::Run& run,
                             const FasterLink& link) {
  const explain::Edits none;
  explain::EditedSource source(simulation.open_shared(), run, none);
  sim::NullSink nothing;
  Replay replay;
  replay.settled = true;
  replay.faster_link = link;
  return simulation.run(source, nothing, replay);
}

}  // namespace

FasterLink parse_faster_link(const Simulation& simulation, const std::string& text) {
  const double factor = factor_of("--faster-link", text, "3,s0=2");
  if (!has_links(simulation))
    throw UsageError(
        "--faster-link: on this network no link has a speed of its own; choose --topology and "
        "--network hops, flow or packet");
  const machine::Topology& topology = *simulation.topology();
  const std::string names = text.substr(0, text.rfind('='));
  // Names may have commas.
  for (std::size_t comma = names.find(','); comma != std::string::npos;
       comma = names.find(',', comma + 1)) {
    const std::optional<NodeId> from = find_node(topology, names.substr(0, comma));
    const std::optional<NodeId> to = find_node(topology, names.substr(comma + 1));
    if (!from || !to) continue;
    if (topology.with_link_times(*from, *to, 1, 1)) return {*from, *to, factor};
    throw UsageError("--faster-link " + text + ": there is no link between these two");
  }
  throw UsageError("--faster-link " + text +
                   ": the topology has no such nodes; 'foretrace simulate --links' names the "
                   "links that are used");
}

void find_faster_links(Simulation& simulation, const explain::Run& run,
                       const sim::SimulateResult& as_it_is, explain::Explanation& explanation) {
  if (!as_it_is.links || !has_links(simulation)) return;
  const machine::Topology& topology = *simulation.topology();
  std::uint64_t left = tries_of(explanation);
  std::vector<Cable> cables = cables_by_time(topology, *as_it_is.links);
  if (cables.size() > kMostLinks) cables.resize(kMostLinks);
  for (const Cable& cable : cables) {
    if (left-- == 0) {
      explanation.notes.push_back(
          "the run is too large to try faster links; --faster-link A,B=2 tries one");
      return;
    }
    sim::SimulateResult result;
    try {
      result = run_with(simulation, run, {cable.from, cable.to, kVeryFast});
    } catch (const Error&) {
      continue;  // that run does not end: its messages come in another order
    }
    explain::Finding finding;
    finding.gain = run.time - result.time;
    if (finding.gain.seconds() <= kLeastTriedGain * run.time.seconds()) continue;
    finding.kind = "faster link";
    finding.link = {topology.node_name(cable.from), topology.node_name(cable.to)};
    finding.predicted = result.time;
    finding.spent = cable.busy;
    finding.verified = true;
    finding.effort = explain::Effort::machine;
    const std::string names = finding.link.front() + "," + finding.link.back();
    // Not what a shell would take for several words.
    if (names.find(' ') == std::string::npos) finding.check = "--faster-link " + names + "=1e6";
    finding.notes = new_notes(std::move(result.notes), as_it_is.notes);
    explanation.findings.push_back(std::move(finding));
  }
}

}  // namespace foretrace::cli
