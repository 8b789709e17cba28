#include <nlohmann/json.hpp>

#include "views/datasheet.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::KnownRange;
using analysis::SheetFunction;
using analysis::SheetGroup;
using nlohmann::ordered_json;

ordered_json json_of(const machine::Regime& regime) {
  ordered_json terms = ordered_json::array();
  const auto add = [&](std::string_view factor, const machine::Coefficient& c) {
    if (c.value != 0 || c.error != 0) terms.push_back({factor, c.value, c.error});
  };
  add("1", regime.equation.constant);
  add(name_of(regime.equation.startup_form), regime.equation.startup);
  add(name_of(regime.equation.data_form), regime.equation.data);
  ordered_json out = {{"from", regime.from.count}, {"to", nullptr}};
  if (regime.to.count != UINT64_MAX) out["to"] = regime.to.count;
  out["sums"] = ordered_json::array();
  out["sums"].push_back({{"ranks", "all"}, {"terms", std::move(terms)}});
  return out;
}

const char* name_of(SheetGroup group) {
  switch (group) {
    case SheetGroup::point_to_point:
      return "pair";
    case SheetGroup::collective:
      return "both";
    case SheetGroup::no_data:
      return "ranks";
  }
  return "";
}

ordered_json json_of(const KnownRange& known) {
  ordered_json out = {{"ranks", nullptr},
                      {"bytes", {known.least_bytes.count, known.most_bytes.count}}};
  if (known.most_ranks > 0) out["ranks"] = {known.least_ranks, known.most_ranks};
  return out;
}

ordered_json json_of(const SheetFunction& each) {
  ordered_json out = {{"name", each.function.name},
                      {"group", name_of(each.group)},
                      {"depends_on_ranks", analysis::depends_on_ranks(each.function)},
                      {"regimes", ordered_json::array()},
                      {"points", ordered_json::array()},
                      {"measured", json_of(each.known)}};
  for (const machine::Regime& regime : each.function.regimes)
    out["regimes"].push_back(json_of(regime));
  for (const analysis::MeasuredPoint& p : each.measured)
    out["points"].push_back({{"ranks", p.ranks},
                             {"bytes", p.bytes.count},
                             {"median", p.median},
                             {"low", p.low},
                             {"high", p.high},
                             {"samples", p.samples}});
  return out;
}

}  // namespace

std::string datasheet_json(std::span<const Datasheet> sheets) {
  ordered_json out = {{"machines", ordered_json::array()},
                      {"ranks", ordered_json::array()},
                      {"bytes", ordered_json::array()}};
  for (const Datasheet& sheet : sheets) {
    ordered_json functions = ordered_json::array();
    for (const SheetFunction& each : sheet.functions) functions.push_back(json_of(each));
    out["machines"].push_back({{"name", sheet.model.name},
                               {"time_unit", sheet.model.time_unit},
                               {"element", sheet.model.element.count},
                               {"functions", std::move(functions)}});
  }
  if (!sheets.empty()) {
    out["ranks"] = sheets.front().ranks;
    for (const Bytes bytes : sheets.front().bytes) out["bytes"].push_back(bytes.count);
  }
  std::string text = out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  // Nothing in a script element may look like its end.
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace foretrace::views
