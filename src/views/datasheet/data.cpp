#include <nlohmann/json.hpp>

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::KnownRange;
using analysis::SheetFunction;
using analysis::SheetGroup;
using nlohmann::ordered_json;

const char* name_of(machine::RankSet ranks) {
  switch (ranks) {
    case machine::RankSet::all:
      return "all";
    case machine::RankSet::powers_of_two:
      return "powers of two";
    case machine::RankSet::others:
      return "others";
  }
  return "";
}

ordered_json json_of(const machine::Regime& regime) {
  ordered_json out = {{"from", regime.from.count}, {"to", nullptr}};
  if (regime.to.count != UINT64_MAX) out["to"] = regime.to.count;
  out["sums"] = ordered_json::array();
  for (const machine::TermSum& sum : regime.equation.sums()) {
    ordered_json terms = ordered_json::array();
    for (const machine::Term& term : sum.terms)
      terms.push_back({name_of(term.factor), term.coefficient.value, term.coefficient.error});
    out["sums"].push_back({{"ranks", name_of(sum.ranks)}, {"terms", std::move(terms)}});
  }
  if (const auto& interval = regime.equation.interval)
    out["interval"] = {interval->low, interval->high};
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
  if (each.function.extrapolation_error)
    out["extrapolation_error"] = *each.function.extrapolation_error;
  for (const machine::Regime& regime : each.function.regimes)
    out["regimes"].push_back(json_of(regime));
  for (const machine::Correction& row : each.function.corrections) {
    ordered_json factors = ordered_json::array();
    for (const machine::SizeFactor& at : row.factors)
      factors.push_back({at.bytes.count, at.factor});
    out["corrections"].push_back({{"ranks", row.ranks}, {"factors", std::move(factors)}});
  }
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
    out["common_ranks"] = analysis::common_ranks(sheets);
    for (const Bytes bytes : sheets.front().bytes) out["bytes"].push_back(bytes.count);
  }
  std::string text = out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  // Nothing in a script element may look like its end.
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace foretrace::views
