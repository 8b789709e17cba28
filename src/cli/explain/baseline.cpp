#include "cli/explain/baseline.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Amounts = std::map<std::string, double>;

// Of differences below this share of the run nothing is said.
constexpr double kLeast = 1e-4;
constexpr std::size_t kShown = 10;

// "MPI_Recv in halo.c, phase solve": a place without its line or offset.
std::string place_of(const json& entry) {
  const std::string function = entry.at("function").get<std::string>();
  const std::string place = entry.at("place").get<std::string>();
  const std::string phase = entry.at("phase").get<std::string>();
  std::string text = function.empty() ? "end" : function;
  if (place != function) text += " in " + place.substr(0, place.find_last_of(":+"));
  if (!phase.empty()) text += ", phase " + phase;
  return text;
}

Amounts path_of(const json& explained) {
  Amounts amounts;
  double rest = explained.at("time").get<double>();
  for (const json& entry : explained.at("critical_path").at("places")) {
    const double computing = entry.at("compute").get<double>();
    const double whole = entry.at("time").get<double>();
    amounts["computation before " + place_of(entry)] += computing;
    amounts[place_of(entry)] += whole - computing;
    rest -= whole;
  }
  amounts["other places"] += rest;
  return amounts;
}

// Where a finding is, after its kind.
std::string where_of(const json& entry) {
  const std::string kind = entry.at("kind").get<std::string>();
  if (kind == "placement") return {};
  if (kind == "faster link") {
    const json& link = entry.at("link");
    return " between " + link.at(0).get<std::string>() + " and " + link.at(1).get<std::string>();
  }
  return (kind == "imbalance" ? " before " : " at ") + place_of(entry);
}

Amounts findings_of(const json& explained) {
  Amounts amounts;
  for (const json& entry : explained.at("findings")) {
    const bool wait = entry.at("kind") == "wait";
    const std::string kind = entry.at(wait ? "wait" : "kind").get<std::string>();
    double& gain = amounts[kind + where_of(entry)];
    gain = std::max(gain, entry.at("gain").get<double>());
  }
  return amounts;
}

// What differs by more than `least`, by the difference, greatest first.
std::vector<ExplainChange> changes(const Amounts& before, const Amounts& now, double least) {
  std::map<std::string, ExplainChange> all;
  for (const auto& [what, time] : before) all[what].before = time;
  for (const auto& [what, time] : now) all[what].now = time;
  std::vector<ExplainChange> list;
  for (auto& [what, change] : all) {
    change.what = what;
    if (std::abs(change.now - change.before) > least) list.push_back(change);
  }
  std::ranges::stable_sort(
      list, [](const auto& a, const auto& b) { return a.now - a.before > b.now - b.before; });
  return list;
}

// Another program, or another way to start it.
std::string difference_between(const json& before, const json& now) {
  const auto size_of = [](const json& explained) {
    const int ranks = explained.at("ranks").get<int>();
    return std::to_string(ranks) + (ranks == 1 ? " rank and " : " ranks and ") +
           std::to_string(explained.at("calls").get<std::uint64_t>()) + " calls";
  };
  const std::string old_size = size_of(before);
  const std::string new_size = size_of(now);
  return old_size == new_size ? std::string()
                              : "the runs differ: before " + old_size + ", now " + new_size;
}

std::string time_text(double seconds) {
  return views::format_picoseconds(seconds * 1e12);
}

std::string table_of(const std::vector<ExplainChange>& changes) {
  constexpr views::Align L = views::Align::left;
  constexpr views::Align R = views::Align::right;
  views::TextTable table({R, R, R, L});
  table.add({"before", "now", "difference", "what"});
  for (std::size_t i = 0; i < std::min(kShown, changes.size()); ++i) {
    const ExplainChange& one = changes[i];
    const double difference = one.now - one.before;
    table.add({time_text(one.before), time_text(one.now),
               (difference < 0 ? "-" : "+") + time_text(std::abs(difference)), one.what});
  }
  return table.render(2);
}

ordered_json json_of(const std::vector<ExplainChange>& changes) {
  ordered_json list = ordered_json::array();
  for (const ExplainChange& one : changes)
    list.push_back({{"what", one.what}, {"before", one.before}, {"now", one.now}});
  return list;
}

}  // namespace

double read_within(const std::string& text) {
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  const bool percent = rest == "%" || rest == " %";
  if (error != std::errc() || !(percent || rest.empty()) || !(value >= 0) || !std::isfinite(value))
    throw UsageError("--within: expected a share such as 5% or 0.05, found '" + text + "'");
  if (!percent && value > 1)
    throw UsageError("--within: " + text + " would be " + text + " times; say " + text + "%");
  return percent ? value / 100 : value;
}

ExplainComparison compare_with_baseline(const std::string& file, const std::string& now,
                                        double within) {
  const std::string then = read_whole_file(file, "the baseline");
  const json new_one = json::parse(now);
  try {
    const json old_one = json::parse(then);
    ExplainComparison comparison;
    comparison.within = within;
    comparison.before = old_one.at("time").get<double>();
    comparison.now = new_one.at("time").get<double>();
    comparison.note = difference_between(old_one, new_one);
    comparison.notes_before = old_one.value("notes", comparison.notes_before);
    comparison.notes_now = new_one.value("notes", comparison.notes_now);
    const double least = kLeast * comparison.before;
    comparison.path = changes(path_of(old_one), path_of(new_one), least);
    comparison.findings = changes(findings_of(old_one), findings_of(new_one), least);
    std::erase_if(comparison.findings, [](const auto& one) { return one.now < one.before; });
    return comparison;
  } catch (const json::parse_error&) {
    throw Error(file + ": expected what foretrace explain --json prints, found no JSON");
  } catch (const json::exception&) {
    throw Error(file + ": expected what foretrace explain --json prints, found other JSON");
  }
}

std::string render_comparison(const ExplainComparison& comparison, bool json_wanted) {
  if (json_wanted) {
    const ordered_json object = {{"baseline_time", comparison.before},
                                 {"time", comparison.now},
                                 {"within", comparison.within},
                                 {"worse", comparison.is_worse()},
                                 {"baseline_notes", comparison.notes_before},
                                 {"notes", comparison.notes_now},
                                 {"critical_path", json_of(comparison.path)},
                                 {"findings", json_of(comparison.findings)}};
    return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  const double change =
      comparison.before > 0 ? (comparison.now - comparison.before) / comparison.before : 0;
  char share[64];
  std::snprintf(share, sizeof share, "%+.1f %%", 100 * change);
  std::string text = time_text(comparison.now) + ", before " + time_text(comparison.before) + " (" +
                     share + "): " + (comparison.is_worse() ? "worse" : "not worse") +
                     " than the baseline within " + views::format_percent(comparison.within) + "\n";
  for (const std::string& note : comparison.notes_before) text += "note: before: " + note + "\n";
  for (const std::string& note : comparison.notes_now) text += "note: now: " + note + "\n";
  if (!comparison.path.empty())
    text += "\nWhere the difference lies, along the critical path\n" + table_of(comparison.path);
  if (!comparison.findings.empty())
    text += "\nFindings that are new, or bring more than before\n" + table_of(comparison.findings);
  return text;
}

}  // namespace foretrace::cli
