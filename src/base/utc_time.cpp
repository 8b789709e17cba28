#include "base/utc_time.hpp"

#include <ctime>

namespace foretrace {

std::string utc_now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace foretrace
