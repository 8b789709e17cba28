// Draws a TopologyPicture as SVG: circles for processors, squares for switches,
// bars for buses. Colours follow the reader's light or dark setting. Only
// draws; the same picture gives the same bytes.
#pragma once

#include <string>

#include "views/topology/layout.hpp"

namespace foretrace::views {

std::string render_topology_svg(const TopologyPicture& picture);

}  // namespace foretrace::views
