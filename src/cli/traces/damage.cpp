#include "cli/traces/damage.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "trace/damage.hpp"

namespace foretrace::cli {

int tell_damage(const std::string& path, const std::vector<trace::Damage>& damage) {
  if (damage.empty()) return 0;
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(damage.size(), kMost); ++i)
    std::fprintf(stderr, "foretrace: %s: %s\n", path.c_str(),
                 trace::describe_damage(damage[i]).c_str());
  if (damage.size() > kMost)
    std::fprintf(stderr, "foretrace: %s: and %zu more such places\n", path.c_str(),
                 damage.size() - kMost);
  trace::TraceReader reader(path);
  const trace::Remains remains = trace::look_through(reader);
  std::fprintf(stderr, "foretrace: %s: left are %s; figures are of these alone\n", path.c_str(),
               trace::describe_remains(remains, reader.ranks()).c_str());
  return 1;
}

void tell_what_is_there(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return;
  trace::TraceReader reader(path);
  const trace::Remains remains = trace::look_through(reader);
  if (remains.events > 0)
    std::fprintf(stderr, "foretrace: %s holds what happened until then: %s\n", path.c_str(),
                 trace::describe_remains(remains, reader.ranks()).c_str());
}

}  // namespace foretrace::cli
