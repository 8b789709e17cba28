// What all drawn plots have in common: where their frame lies, and how places are written.
//
// In pixels. For the plots of data sheets and for charts, which so look alike.
#pragma once

#include <cstddef>
#include <string>

namespace foretrace::views {

inline constexpr double kPlotWidth = 720;
inline constexpr double kPlotHeight = 330;
inline constexpr double kPlotLeft = 74;
inline constexpr double kPlotRight = 560;  // the legend stands right of it
inline constexpr double kPlotTop = 30;
inline constexpr double kPlotBottom = 280;
inline constexpr int kPlotColours = 5;

// To a tenth.
std::string pixel(double value);

// Every n-th label is written, so that they do not touch: `most` of `count`.
std::size_t label_stride(std::size_t count, std::size_t most);

}  // namespace foretrace::views
