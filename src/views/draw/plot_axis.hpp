// The axes of a plot: which values they show, where each lies, what stands at them.
//
// Between a Plot and what draws it; draws nothing.
#pragma once

#include <string>
#include <vector>

#include "views/draw/plot.hpp"

namespace foretrace::views {

struct Axis {
  bool log = true;
  double low = 1, high = 10;  // in values
  double from = 0, to = 1;    // in pixels or characters

  // Values outside lie at the ends.
  double place(double value) const;
};

struct Tick {
  double value = 0;
  std::string label;
};

// Axes that hold everything in the plot.
Axis x_axis(const Plot& plot, double from, double to);
Axis y_axis(const Plot& plot, double from, double to);

// Powers of two, about `most` of them.
std::vector<Tick> x_ticks(const Axis& axis, int most);
std::vector<Tick> y_ticks(const Axis& axis);

// How wide a picture must be, `least` at least, for a legend whose words begin at `begin`.
double width_with_legend(const Plot& plot, double begin, double least);

}  // namespace foretrace::views
