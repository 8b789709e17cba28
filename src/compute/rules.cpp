#include "compute/rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "compute/replay.hpp"
#include "trace/damage.hpp"

namespace foretrace::compute {
namespace {

using machine::ComputeCosts;

// The table bound for each rank's node.
RuleMaker rule_of_table(const machine::ComputeTable& table, const ComputeCosts* here,
                        const ComputeCosts& target, const std::vector<NodeRanks>& node_ranks,
                        bool& needs_cpu) {
  std::map<NodeRanks, std::shared_ptr<const Regions>> bound;
  const auto bind = [&](NodeRanks ranks) {
    auto& regions = bound[ranks];
    if (!regions) regions = std::make_shared<const Regions>(bind_table(table, here, target, ranks));
    return regions;
  };
  std::vector<std::shared_ptr<const Regions>> of_ranks;
  for (const NodeRanks ranks : node_ranks) of_ranks.push_back(bind(ranks));
  const auto of_all = of_ranks.empty() ? bind({}) : of_ranks.front();
  needs_cpu = of_all->needs(machine::RegionTime::measured);
  return [of_all, of_ranks](WorldRank rank) {
    const auto index = static_cast<std::size_t>(rank.value);
    return std::make_unique<RegionRule>(index < of_ranks.size() ? of_ranks[index] : of_all);
  };
}

// Where more ranks compute on a node than did while a machine was measured.
std::string note_of_most(const ComputeCosts& costs, const std::vector<NodeRanks>& node_ranks,
                         int NodeRanks::*side) {
  int measured = 0;
  for (const auto& [name, times] : costs.kernels)
    if (!times.by_ranks.empty()) measured = std::max(measured, times.by_ranks.rbegin()->first);
  int most = 0;
  for (const NodeRanks ranks : node_ranks) most = std::max(most, ranks.*side);
  if (measured == 0 || most <= measured) return {};
  return "the kernels of '" + costs.machine + "' are known for up to " + std::to_string(measured) +
         " ranks that compute on a node; for " + std::to_string(most) + " they count as for " +
         std::to_string(measured);
}

}  // namespace

Rules read_rules(const Spec& spec, const std::string& scale_from, const ComputeCosts& target,
                 int ranks, const std::vector<NodeRanks>& node_ranks) {
  Rules rules;
  rules.scale = spec.scale;
  std::optional<ComputeCosts> here;
  if (!scale_from.empty()) {
    if (spec.kind != Kind::measured && spec.kind != Kind::table)
      throw UsageError("--scale-from scales what was measured; --compute " + format_spec(spec) +
                       " measures nothing");
    here = machine::read_compute_costs(scale_from);
    rules.note = note_of_most(*here, node_ranks, &NodeRanks::here);
    if (rules.note.empty()) rules.note = note_of_most(target, node_ranks, &NodeRanks::there);
  }
  switch (spec.kind) {
    case Kind::none:
    case Kind::annotated:
    case Kind::counted:
      break;
    case Kind::measured:
      rules.needs_cpu = true;
      if (!here) break;
      if (std::ranges::adjacent_find(node_ranks, std::not_equal_to()) == node_ranks.end()) {
        rules.scale *=
            kernel_ratio({}, *here, target, node_ranks.empty() ? NodeRanks() : node_ranks.front());
      } else {
        machine::ComputeTable table;
        table.elsewhere.time = machine::RegionTime::measured;
        table.elsewhere.scale = std::exchange(rules.scale, 1);
        rules.make = rule_of_table(table, &*here, target, node_ranks, rules.needs_cpu);
      }
      break;
    case Kind::table:
      rules.make = rule_of_table(machine::read_compute_table(spec.file), here ? &*here : nullptr,
                                 target, node_ranks, rules.needs_cpu);
      break;
    case Kind::replayed: {
      const auto trace = std::make_shared<trace::TraceReader>(spec.file);
      if (trace->ranks() != ranks)
        throw Error(spec.file + ": is of a run on " + std::to_string(trace->ranks()) +
                    " ranks, not " + std::to_string(ranks));
      trace::refuse_damaged(*trace);
      rules.make = [trace](WorldRank rank) { return std::make_unique<ReplayRule>(trace, rank); };
      break;
    }
  }
  return rules;
}

}  // namespace foretrace::compute
