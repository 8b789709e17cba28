// A surface over two axes, as a picture: cells coloured by their height, with a frame, and dots
// where points are.
#pragma once

#include <string>
#include <string_view>

#include "results/surface.hpp"
#include "views/draw/picture.hpp"

namespace foretrace::views {

// `value_label`: what stands at the upright axis.
Picture draw_surface(const results::Surface& surface, const std::string& title,
                     const std::string& value_label);

// Whether an axis for these values is logarithmic.
bool is_wide(double low, double high);

// With what a page's surfaces are turned, by the mouse or the arrow keys: a script element.
std::string_view surface_script();

}  // namespace foretrace::views
