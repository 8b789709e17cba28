#include "views/draw/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace foretrace::views {
namespace {

constexpr double kWidestBand = 2;  // that is seen whole, as a factor

template <class Use>
void each_point(const Plot& plot, Use use) {
  for (const PlotSeries& series : plot.series)
    for (const auto& piece : series.pieces)
      for (const PlotPoint& point : piece) use(point);
}

// 65536 -> "64 Ki"
std::string binary_label(double value) {
  static constexpr const char* kPrefixes[] = {"", " Ki", " Mi", " Gi", " Ti", " Pi"};
  std::size_t prefix = 0;
  while (value >= 1024 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1024;
    ++prefix;
  }
  return fmt::format("{:.0f}{}", value, kPrefixes[prefix]);
}

// Decades; also 2 and 5 over a few of them; more within one, so that there is always a tick.
std::vector<Tick> log_ticks(const Axis& axis) {
  static constexpr double kDecades[] = {1};
  static constexpr double kFew[] = {1, 2, 5};
  static constexpr double kOne[] = {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9};
  const double decades = std::log10(axis.high / axis.low);
  const std::span<const double> leads = decades > 2.5   ? std::span<const double>(kDecades)
                                        : decades > 0.7 ? std::span<const double>(kFew)
                                                        : std::span<const double>(kOne);
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::floor(std::log10(axis.low))); std::pow(10, e) <= axis.high;
       ++e)
    for (const double lead : leads)
      if (const double value = lead * std::pow(10, e); value >= axis.low && value <= axis.high)
        ticks.push_back({value, fmt::format("{:g}", value)});
  return ticks;
}

std::vector<Tick> linear_ticks(const Axis& axis) {
  const double rough = (axis.high - axis.low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  std::vector<Tick> ticks;
  for (double n = std::ceil(axis.low / step); n * step <= axis.high; ++n)
    ticks.push_back({n * step, fmt::format("{:g}", n == 0 ? 0.0 : n * step)});
  return ticks;
}

}  // namespace

double Axis::place(double value) const {
  const double clamped = std::clamp(value, low, high);
  const double share =
      log ? std::log(clamped / low) / std::log(high / low) : (clamped - low) / (high - low);
  return from + share * (to - from);
}

Axis x_axis(const Plot& plot, double from, double to) {
  Axis axis{true, INFINITY, 0, from, to};
  each_point(plot, [&](const PlotPoint& p) {
    axis.low = std::min(axis.low, p.x);
    axis.high = std::max(axis.high, p.x);
  });
  if (!(axis.low < axis.high)) {
    const double only = std::isfinite(axis.low) ? axis.low : 1;
    axis.low = only / 2;
    axis.high = only * 2;
  }
  return axis;
}

Axis y_axis(const Plot& plot, double from, double to) {
  Axis axis{plot.log_y, INFINITY, -INFINITY, from, to};
  const auto see = [&](double y) {
    if (plot.log_y && !(y > 0)) return;
    axis.low = std::min(axis.low, y);
    axis.high = std::max(axis.high, y);
  };
  // A wide band may leave the picture: what is looked at are the curves.
  each_point(plot, [&](const PlotPoint& p) {
    see(p.y);
    if (!plot.log_y) return;
    see(std::max(p.low, p.y / kWidestBand));
    see(std::min(p.high, p.y * kWidestBand));
  });
  if (!std::isfinite(axis.low)) return {plot.log_y, plot.log_y ? 0.1 : -1, 1, from, to};
  if (plot.log_y) {
    axis.low /= 1.3;
    axis.high *= 1.3;
  } else {
    // Zero is in sight, with room on both sides.
    const double room = std::max({std::abs(axis.low), std::abs(axis.high), 1e-9}) * 0.08;
    axis.low = std::min(axis.low, 0.0) - room;
    axis.high = std::max(axis.high, 0.0) + room;
  }
  return axis;
}

std::vector<Tick> x_ticks(const Axis& axis, int most) {
  const double doublings = std::log2(axis.high / axis.low);
  const int step = std::max(1, static_cast<int>(std::ceil(doublings / most)));
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::ceil(std::log2(axis.low) - 1e-9)); std::exp2(e) <= axis.high;
       ++e)
    if (e >= 0 && e % step == 0) ticks.push_back({std::exp2(e), binary_label(std::exp2(e))});
  return ticks;
}

std::vector<Tick> y_ticks(const Axis& axis) {
  return axis.log ? log_ticks(axis) : linear_ticks(axis);
}

double width_with_legend(const Plot& plot, double begin, double least) {
  constexpr double kLetter = 6.4;  // of 11 pixels, in the widest of usual fonts
  double width = least;
  for (const PlotSeries& series : plot.series)
    width = std::max(width, begin + kLetter * static_cast<double>(series.label.size()));
  return width;
}

}  // namespace foretrace::views
