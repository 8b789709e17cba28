// The report as a page: what `foretrace report -o FILE.html` writes. Draws only.
#pragma once

#include <string>

#include "analysis/compare_groups.hpp"
#include "analysis/profile.hpp"
#include "analysis/traffic.hpp"

namespace foretrace::views {

// One file without any outside address. `timeline`: the address of the run's time line
// page, to which tables lead; empty: there is none. `against`: the run as B beside others, nullptr:
// none.
std::string render_html_report(const analysis::Profile& profile, const analysis::Traffic& traffic,
                               const std::string& timeline,
                               const analysis::GroupComparison* against = nullptr);

}  // namespace foretrace::views
