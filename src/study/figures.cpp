#include "study/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/error.hpp"
#include "results/schema.hpp"

namespace foretrace::study {
namespace {

constexpr std::size_t kLongestLine = 4096;  // std::regex needs stack for each character

void add(Figures& out, const std::string& name, const nlohmann::json& value) {
  if (!value.is_number()) return;
  for (const auto& [known, unused] : out)
    if (known == name) return;
  out.emplace_back(name, value.get<double>());
}

void add_model(const nlohmann::json& json, Figures& out) {
  const nlohmann::json& total = json.at("total");
  add(out, "time", total.at("avg"));
  add(out, "time_min", total.at("min"));
  add(out, "time_max", total.at("max"));
  if (json.contains("speedup")) add(out, "speedup", json["speedup"]);
  for (const auto& [name, phase] : json.at("phases").items())
    add(out, results::column_of("phase_", name), phase.at("avg"));
}

void add_report(const nlohmann::json& json, Figures& out) {
  for (const char* name : {"time", "serial_time", "speedup", "efficiency", "load_balance", "wait",
                           "messages", "message_bytes"})
    if (json.contains(name)) add(out, name, json[name]);
  if (json.contains("phases"))
    for (const nlohmann::json& phase : json["phases"])
      add(out, results::column_of("phase_", phase.at("name").get<std::string>()), phase.at("time"));
  if (json.contains("states"))
    for (const auto& [name, time] : json["states"].items())
      add(out, results::column_of("state_", name), time);
}

}  // namespace

Figures figures_of_json(const std::string& text) {
  Figures out;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.contains("total"))
      add_model(json, out);
    else
      add_report(json, out);
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("what the command printed is no report: ") + error.what());
  }
  return out;
}

int ranks_of_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() ? json.value("ranks", 0) : 0;
}

std::string notes_of_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  std::string lines;
  if (!json.is_object()) return lines;
  for (const nlohmann::json& note : json.value("notes", nlohmann::json::array()))
    lines += (lines.empty() ? "" : "\n") + note.get<std::string>();
  return lines;
}

Figures figures_of_patterns(const std::string& text, const std::vector<Quantity>& quantities) {
  Figures out;
  for (const Quantity& quantity : quantities) {
    const std::regex pattern(quantity.pattern);
    std::istringstream lines(text);
    std::smatch match;
    std::optional<double> last;
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > kLongestLine) line.resize(kLongestLine);
      if (!std::regex_search(line, match, pattern)) continue;
      const std::string found = match[1].str();
      char* end = nullptr;
      const double value = std::strtod(found.c_str(), &end);
      if (end != found.c_str() && std::isfinite(value)) last = value;
    }
    if (last) out.emplace_back(quantity.name, *last);
  }
  return out;
}

double relative_half_width(std::vector<double> values) {
  // Ranks r and n - 1 - r hold the median with probability 1 - 2 P(B <= r), B binomial(n, 1/2).
  const auto n = values.size();
  if (n < 6) return std::numeric_limits<double>::infinity();
  std::ranges::sort(values);
  double term = std::pow(0.5, static_cast<double>(n));
  double below = 0;
  std::size_t rank = 0;
  for (std::size_t r = 0; r < n / 2; ++r) {
    below += term;
    if (2 * below > 0.05) break;
    rank = r;
    term *= static_cast<double>(n - r) / static_cast<double>(r + 1);
  }
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  if (!(median > 0)) return std::numeric_limits<double>::infinity();
  return (values[n - 1 - rank] - values[rank]) / 2 / median;
}

}  // namespace foretrace::study
