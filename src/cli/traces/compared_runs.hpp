// Runs that commands set beside each other: traces, and profiles of foretrace profile.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare.hpp"
#include "analysis/compare_groups.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::cli {

bool is_profile(const std::string& path);

// A trace, or a file that is made one.
analysis::RunEvents events_of(const std::string& path);

// Of all of these, `status` becomes 1 where a trace is damaged.
analysis::RunTimes times_of(const std::string& path, int& status);

// The runs of one side; the first one's time line, called by `name`, goes to `timelines`, unless
// that is nullptr.
analysis::RunGroup read_group(const std::vector<std::string>& paths, const char* name,
                              std::vector<views::TimelineRun>* timelines, int& status);

}  // namespace foretrace::cli
