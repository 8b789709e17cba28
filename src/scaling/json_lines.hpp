// Extra-P's JSON Lines: one measurement a line, {"params": {"p": 8}, "callpath": "main->f",
// "metric": "time", "value": 1.5}; value may be a list of repeated ones.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::scaling {

struct Measurement {
  std::map<std::string, double> parameters;
  std::string callpath;  // "" where the line has none
  std::string metric;
  std::vector<double> values;  // at least one
};

// Throws Error "FILE:LINE: ...".
std::vector<Measurement> read_json_lines(const std::string& path);
std::vector<Measurement> parse_json_lines(std::string_view text, const std::string& file);

}  // namespace foretrace::scaling
