#include "mpi_api/groups.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "mpi_api/names.hpp"

namespace foretrace::mpi_api {
namespace {

namespace patterns {
#define FORETRACE_GROUP(name, ...) constexpr Pattern name[] = {__VA_ARGS__};
#include "mpi_groups.inc"
#undef FORETRACE_GROUP
}  // namespace patterns

constexpr Group kGroups[] = {
#define FORETRACE_GROUP(name, ...) {#name, patterns::name},
#include "mpi_groups.inc"
#undef FORETRACE_GROUP
};

}  // namespace

std::span<const Group> groups() {
  return kGroups;
}

const Group* find_group(std::string_view name) {
  const auto found = std::ranges::find(kGroups, name, &Group::name);
  return found == std::end(kGroups) ? nullptr : &*found;
}

bool is_in(const Group& group, std::string_view function) {
  const std::string_view name = without_large_count(function);
  return std::ranges::any_of(group.patterns, [&](const Pattern& pattern) {
    if (pattern.is_name) return pattern.text == name;
    return ::fnmatch(pattern.text.data(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
  });
}

bool is_in_any(std::string_view function, std::initializer_list<std::string_view> groups) {
  return std::ranges::any_of(
      groups, [&](std::string_view name) { return is_in(*find_group(name), function); });
}

bool is_poll(std::string_view function) {
  static const Group* const polls = find_group("polls");
  return is_in(*polls, function);
}

bool chooses(std::string_view function) {
  static const Group* const choices = find_group("choices");
  return is_in(*choices, function);
}

bool moves_messages(std::string_view function) {
  return is_poll(function) || is_in_any(function, {"completions", "probes", "one_sided", "io"});
}

}  // namespace foretrace::mpi_api
