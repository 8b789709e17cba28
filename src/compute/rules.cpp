#include "compute/rules.hpp"

#include <optional>

#include "base/error.hpp"
#include "compute/replay.hpp"
#include "trace/damage.hpp"

namespace foretrace::compute {

Rules read_rules(const Spec& spec, const std::string& scale_from,
                 const machine::ComputeCosts& target, int ranks) {
  Rules rules;
  rules.scale = spec.scale;
  std::optional<machine::ComputeCosts> here;
  if (!scale_from.empty()) {
    if (spec.kind != Kind::measured && spec.kind != Kind::table)
      throw UsageError("--scale-from scales what was measured; --compute " + format_spec(spec) +
                       " measures nothing");
    here = machine::read_compute_costs(scale_from);
  }
  switch (spec.kind) {
    case Kind::none:
    case Kind::annotated:
    case Kind::counted:
      break;
    case Kind::measured:
      rules.needs_cpu = true;
      if (here) rules.scale *= kernel_ratio({}, *here, target);
      break;
    case Kind::table: {
      const machine::ComputeTable table = machine::read_compute_table(spec.file);
      const auto regions =
          std::make_shared<const Regions>(bind_table(table, here ? &*here : nullptr, target));
      rules.needs_cpu = regions->needs(machine::RegionTime::measured);
      rules.make = [regions](WorldRank) { return std::make_unique<RegionRule>(regions); };
      break;
    }
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
