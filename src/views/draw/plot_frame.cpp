#include "views/draw/plot_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace foretrace::views {

std::string pixel(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

std::size_t label_stride(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

}  // namespace foretrace::views
