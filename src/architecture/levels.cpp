// Which boxes --level means, which parameters --parameter.
#include <charconv>
#include <utility>

#include "architecture/elaborate.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {

namespace {

std::pair<std::string, std::string> halves(const std::string& option, const std::string& text,
                                           const char* expected) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError(option + " " + text + ": expected " + expected);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

LevelChoice parse_level_choice(const std::string& text) {
  auto [box, level] = halves("--level", text, "BOX=LEVEL, for example 'node[0..3].nic=detail'");
  return {std::move(box), std::move(level)};
}

ParameterChoice parse_parameter_choice(const std::string& text) {
  auto [path, value] =
      halves("--parameter", text, "PARAMETER=VALUE, for example 'node[*].nic.injection=25GB/s'");
  return {std::move(path), std::move(value)};
}

bool matches_path(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= path.size(); ++skip)
      if (matches_path(pattern.substr(1), path.substr(skip))) return true;
    return false;
  }
  if (path.empty() || pattern.front() != path.front()) return false;
  if (pattern.front() != '[') return matches_path(pattern.substr(1), path.substr(1));
  const std::size_t close = pattern.find(']');
  const std::size_t end = path.find(']');
  const std::size_t dots = pattern.find("..");
  if (pattern.starts_with("[*]") && end != path.npos)
    return matches_path(pattern.substr(3), path.substr(end + 1));
  if (close == pattern.npos || end == path.npos || dots == pattern.npos || dots > close)
    return matches_path(pattern.substr(1), path.substr(1));
  const auto number = [](std::string_view digits) {
    long value = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  const long value = number(path.substr(1, end - 1));
  return value >= number(pattern.substr(1, dots - 1)) &&
         value <= number(pattern.substr(dots + 2, close - dots - 2)) &&
         matches_path(pattern.substr(close + 1), path.substr(end + 1));
}

}  // namespace foretrace::architecture
