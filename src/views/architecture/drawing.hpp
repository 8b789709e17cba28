// A machine of parts as a picture (SVG): entities by kind, links, boxes; how busy a run kept each
// link, where that is known.
#pragma once

#include <string>
#include <vector>

#include "architecture/message_network.hpp"
#include "base/time.hpp"

namespace foretrace::views {

// busy: by link of the architecture, the share of time in which something was on it (0 to 1);
// empty: not known.
std::string render_svg_architecture(const architecture::FlatArchitecture& architecture,
                                    const std::vector<double>& busy);

// For render_svg_architecture, from what was recorded up to `end`.
std::vector<double> busy_links(const architecture::FlatArchitecture& architecture,
                               const architecture::Recording& recording, Time end);

}  // namespace foretrace::views
