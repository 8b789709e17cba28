// What one launch says: quantities from the JSON that a command prints, and from the program's
// own output. Private to src/study.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study/study_file.hpp"

namespace foretrace::study {

using Figures = std::vector<std::pair<std::string, double>>;

// Of `report --json`, `simulate --json` (time, serial_time, speedup, efficiency, wait, messages,
// phase_NAME, state_NAME) or `model --json` (time, time_min, time_max, phase_NAME). Throws Error.
Figures figures_of_json(const std::string& text);

// The number of ranks that it tells; 0: none.
int ranks_of_json(const std::string& text);

// What the command said of them, a line each.
std::string notes_of_json(const std::string& text);

// What the patterns find in `text`, which is looked at line by line; the last match counts.
Figures figures_of_patterns(const std::string& text, const std::vector<Quantity>& quantities);

// A 95 % interval of the median from order statistics (binomial; no assumption on the values):
// its half width divided by the median. Infinity for fewer than 6 values, which have none.
double relative_half_width(std::vector<double> values);

}  // namespace foretrace::study
