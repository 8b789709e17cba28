#include "cli/simulate/baseline.hpp"

#include <cstdio>
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
  const analysis::Profile profile = analysis::profile_file(text);
  if (profile.time == Time()) throw Error(text + ": a run that takes no time is no --baseline");
  for (const std::string& note : profile.info.notes)
    std::fprintf(stderr, "foretrace: %s: %s\n", text.c_str(), note.c_str());
  return profile.time;
}

}  // namespace foretrace::cli
