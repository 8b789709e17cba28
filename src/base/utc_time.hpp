// utc_now(): when something was done, as results, data sheets and samples keep it.
#pragma once

#include <string>

namespace foretrace {

// The time of day in UTC, in seconds, by ISO 8601: "2024-05-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace foretrace
