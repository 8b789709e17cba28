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

// A table in which nothing is a region of its own.
machine::ComputeTable table_of(machine::RegionTime time, double seconds, double scale) {
  machine::ComputeTable table;
  table.elsewhere.time = time;
  table.elsewhere.seconds = {seconds};
  table.elsewhere.scale = scale;
  return table;
}

machine::ComputeTable slowed(machine::ComputeTable table, double factor) {
  table.elsewhere.scale *= factor;
  for (machine::ComputeRegion& region : table.regions) region.scale *= factor;
  return table;
}

// The table bound for each rank: for its node, and as much slower as it is.
RuleMaker rule_of_table(const machine::ComputeTable& table, const ComputeCosts* here,
                        const ComputeCosts& target, const RankFacts& facts, bool& needs_cpu) {
  std::map<std::pair<NodeRanks, double>, std::shared_ptr<const Regions>> bound;
  const auto bind = [&](NodeRanks ranks, double slower) {
    auto& regions = bound[{ranks, slower}];
    if (!regions)
      regions =
          std::make_shared<const Regions>(bind_table(slowed(table, slower), here, target, ranks));
    return regions;
  };
  std::vector<std::shared_ptr<const Regions>> of_ranks;
  for (std::size_t i = 0; i < std::max(facts.node_ranks.size(), facts.slower.size()); ++i)
    of_ranks.push_back(bind(i < facts.node_ranks.size() ? facts.node_ranks[i] : NodeRanks(),
                            i < facts.slower.size() ? facts.slower[i] : 1));
  const auto of_all = of_ranks.empty() ? bind({}, 1) : of_ranks.front();
  needs_cpu = of_all->needs(machine::RegionTime::measured);
  return [of_all, of_ranks](WorldRank rank) {
    const auto index = static_cast<std::size_t>(rank.value);
    return std::make_unique<RegionRule>(index < of_ranks.size() ? of_ranks[index] : of_all);
  };
}

template <class Value>
bool are_alike(const std::vector<Value>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
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
                 double step, const RankFacts& facts) {
  Rules rules;
  rules.scale = spec.scale;
  std::optional<ComputeCosts> here;
  if (!scale_from.empty()) {
    if (spec.kind != Kind::measured && spec.kind != Kind::table)
      throw UsageError("--scale-from scales what was measured; --compute " + format_spec(spec) +
                       " measures nothing");
    here = machine::read_compute_costs(scale_from);
    rules.note = note_of_most(*here, facts.node_ranks, &NodeRanks::here);
    if (rules.note.empty()) rules.note = note_of_most(target, facts.node_ranks, &NodeRanks::there);
  }
  if (!facts.slower.empty() && (spec.kind == Kind::none || spec.kind == Kind::replayed))
    throw UsageError("--slower makes computation longer; --compute " + format_spec(spec) +
                     (spec.kind == Kind::none ? " has none" : " has it as it was"));
  using machine::RegionTime;
  const bool are_ranks_alike = are_alike(facts.node_ranks) && are_alike(facts.slower);
  switch (spec.kind) {
    case Kind::none:
      break;
    case Kind::annotated:
    case Kind::counted:
      if (!facts.slower.empty())
        rules.make = rule_of_table(table_of(RegionTime::step, step, 1), nullptr, target, facts,
                                   rules.needs_cpu);
      break;
    case Kind::measured:
      rules.needs_cpu = true;
      if (!are_ranks_alike) {
        const auto table = table_of(RegionTime::measured, 0, std::exchange(rules.scale, 1));
        rules.make = rule_of_table(table, here ? &*here : nullptr, target, facts, rules.needs_cpu);
        break;
      }
      if (!facts.slower.empty()) rules.scale *= facts.slower.front();
      if (here)
        rules.scale *= kernel_ratio(
            {}, *here, target, facts.node_ranks.empty() ? NodeRanks() : facts.node_ranks.front());
      break;
    case Kind::table:
      rules.make = rule_of_table(machine::read_compute_table(spec.file), here ? &*here : nullptr,
                                 target, facts, rules.needs_cpu);
      break;
    case Kind::replayed: {
      const auto trace = std::make_shared<trace::TraceReader>(spec.file);
      if (trace->ranks() != facts.ranks)
        throw Error(spec.file + ": is of a run on " + std::to_string(trace->ranks()) +
                    " ranks, not " + std::to_string(facts.ranks));
      trace::refuse_damaged(*trace);
      rules.make = [trace](WorldRank rank) { return std::make_unique<ReplayRule>(trace, rank); };
      break;
    }
  }
  return rules;
}

}  // namespace foretrace::compute
