#include "views/scaling/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

// How far beyond the largest measured value the question lies; 1: not beyond.
double beyond(const LawReport& report) {
  double most = 1;
  for (std::size_t i = 0; i < report.at.size(); ++i)
    most = std::max(most, report.at[i] / report.law.largest[i]);
  return most;
}
// How far below the smallest; 1: not below.
double below(const LawReport& report) {
  double most = 1;
  for (std::size_t i = 0; i < report.at.size(); ++i)
    most = std::max(most, report.law.smallest[i] / report.at[i]);
  return most;
}

std::string text_of(const LawReport& report) {
  const scaling::ScalingLaw& law = report.law;
  std::string out;
  for (const auto& [name, value] : report.of)
    out += (out.empty() ? "" : ", ") + name + " " + plain_text(value);
  if (!out.empty()) out += "\n";
  std::string at;
  for (std::size_t i = 0; i < report.at.size(); ++i)
    at += fmt::format("{}{} = {:g}", i ? ", " : "", law.names[i], report.at[i]);
  out += fmt::format("{} = {}\n", report.metric, scaling::format_law(law.best.terms, law.names));
  out += fmt::format("at {}: {:.4g}, 95 % interval {:.4g} to {:.4g}\n", at, law.best.value, law.low,
                     law.high);
  out += fmt::format("{} points, left out in turn they are off by {}", law.points,
                     format_percent(law.best.error));
  if (law.noise > 0) out += fmt::format("; a measurement varies by {}", format_percent(law.noise));
  out += "\n";
  if (beyond(report) > 1)
    out += fmt::format(
        "{:.3g} times beyond the largest that was measured: the interval holds only if nothing new "
        "begins on the way (another algorithm, protocol, cache)\n",
        beyond(report));
  if (below(report) > 1)
    out += fmt::format(
        "{:.3g} times below the smallest that was measured: with few ranks or little data a "
        "program "
        "may do without what the law counts (a rank alone sends nothing)\n",
        below(report));
  if (law.missed > 0)
    out += fmt::format(
        "told from the others, the {} would have been off by {}: the interval allows for as much "
        "with each such step\n",
        beyond(report) > 1 && below(report) > 1 ? "largest or smallest"
        : beyond(report) > 1                    ? "largest"
                                                : "smallest",
        format_percent(law.missed));
  for (const std::string& note : report.notes) out += "note: " + plain_text(note) + "\n";
  if (law.identifiable) return out;
  out += law.others.empty() ? "the interval is too wide to trust the value\n"
                            : "the data cannot tell this form from others, which differ there; do "
                              "not trust it:\n";
  for (const scaling::Candidate& other : law.others)
    out +=
        fmt::format("  {:.4g} by {}\n", other.value, scaling::format_law(other.terms, law.names));
  return out;
}

nlohmann::ordered_json json_of(const LawReport& report) {
  const scaling::ScalingLaw& law = report.law;
  nlohmann::ordered_json out;
  if (!report.of.empty()) {
    out["of"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : report.of) out["of"][name] = value;
  }
  out["metric"] = report.metric;
  for (std::size_t i = 0; i < report.at.size(); ++i) out["at"][law.names[i]] = report.at[i];
  out["form"] = scaling::format_law(law.best.terms, law.names);
  out["value"] = law.best.value;
  out["interval"] = {law.low, law.high};
  out["identifiable"] = law.identifiable;
  out["growth"] = law.best.growth;
  out["error"] = law.best.error;
  out["noise"] = law.noise;
  out["missed"] = law.missed;
  out["points"] = law.points;
  out["beyond"] = beyond(report);
  out["below"] = below(report);
  out["alternatives"] = nlohmann::ordered_json::array();
  for (const scaling::Candidate& other : law.others)
    out["alternatives"].push_back({{"form", scaling::format_law(other.terms, law.names)},
                                   {"value", other.value},
                                   {"growth", other.growth}});
  out["notes"] = report.notes;
  return out;
}

}  // namespace

std::string render_text_laws(const std::vector<LawReport>& reports) {
  std::string out;
  for (const LawReport& report : reports) out += (out.empty() ? "" : "\n") + text_of(report);
  return out;
}

std::string render_json_laws(const std::vector<LawReport>& reports) {
  if (reports.size() == 1) return json_text(json_of(reports.front()));
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const LawReport& report : reports) all.push_back(json_of(report));
  return json_text(all);
}

}  // namespace foretrace::views
