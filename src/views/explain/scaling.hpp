// The table of efficiencies of several runs: text, JSON, and a page.
#pragma once

#include <string>
#include <vector>

#include "explain/scaling.hpp"

namespace foretrace::views {

struct ScalingTable {
  std::vector<explain::ScaledRun> runs;  // compare_runs() has been called
  explain::Scaling scaling = explain::Scaling::strong;
  std::string where;  // " of Cray T3D (network datasheet)"
  std::vector<std::string> notes;
};

std::string render_text_scaling(const ScalingTable& table);
std::string render_json_scaling(const ScalingTable& table);
std::string render_html_scaling(const ScalingTable& table);

}  // namespace foretrace::views
