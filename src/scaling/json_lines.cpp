#include "scaling/json_lines.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/whole_file.hpp"

namespace foretrace::scaling {
namespace {

using nlohmann::json;

double number(const json& value, const std::string& where, const std::string& what) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    throw Error(where + what + " is no number");
  return value.get<double>();
}

std::string text(const json& line, const char* key, const std::string& where) {
  if (!line.contains(key)) return "";
  if (!line[key].is_string()) throw Error(where + "'" + key + "' is no text");
  return line[key].get<std::string>();
}

Measurement measurement_of(const json& line, const std::string& where) {
  if (!line.is_object()) throw Error(where + "expected an object in braces");
  Measurement out;
  const char* key = line.contains("params") ? "params" : "parameters";
  if (!line.contains(key) || !line[key].is_object())
    throw Error(where + "'params' is missing: {\"params\": {\"p\": 8}, \"value\": 1.5}");
  for (const auto& [name, value] : line[key].items())
    out.parameters[name] = number(value, where, "parameter '" + name + "'");
  out.callpath = text(line, "callpath", where);
  out.metric = text(line, "metric", where);
  if (!line.contains("value")) throw Error(where + "'value' is missing");
  if (line["value"].is_array())
    for (const json& each : line["value"]) out.values.push_back(number(each, where, "a value"));
  else
    out.values.push_back(number(line["value"], where, "'value'"));
  if (out.values.empty()) throw Error(where + "'value' is empty");
  return out;
}

}  // namespace

std::vector<Measurement> parse_json_lines(std::string_view text, const std::string& file) {
  std::vector<Measurement> out;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = file + ":" + std::to_string(number) + ": ";
    const json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded()) throw Error(where + "this is no JSON");
    out.push_back(measurement_of(parsed, where));
  }
  if (out.empty()) throw Error(file + ": there is no measurement in it");
  return out;
}

std::vector<Measurement> read_json_lines(const std::string& path) {
  return parse_json_lines(read_whole_file(path, "the measurements"), path);
}

}  // namespace foretrace::scaling
