#include "base/preload.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace foretrace {

void take_out_of_preload(std::string_view part) {
  const char* const value = std::getenv("LD_PRELOAD");
  if (!value) return;
  std::string others;
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    if (entry.empty() || entry.find(part) != std::string_view::npos) continue;
    if (!others.empty()) others += ':';
    others += entry;
  }
  if (others.empty())
    ::unsetenv("LD_PRELOAD");
  else
    ::setenv("LD_PRELOAD", others.c_str(), 1);
}

}  // namespace foretrace
