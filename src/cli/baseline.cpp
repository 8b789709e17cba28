#include "cli/baseline.hpp"

#include <filesystem>

#include "analysis/profile.hpp"
#include "base/error.hpp"
#include "base/time_text.hpp"

namespace foretrace::cli {

Time read_baseline(const std::string& text) {
  if (const auto seconds = parse_seconds(text); seconds && *seconds > 0)
    return Time::from_seconds(*seconds);
  if (!std::filesystem::exists(text))
    throw UsageError("--baseline: expected a time above 0 such as 12.3s, or a trace; found '" +
                     text + "'");
  const Time time = analysis::profile_file(text).time;
  if (time == Time()) throw Error(text + ": a run that takes no time is no --baseline");
  return time;
}

}  // namespace foretrace::cli
