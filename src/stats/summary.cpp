#include "stats/summary.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace foretrace::stats {

double quantile(std::span<const double> values, double q) {
  if (values.empty()) throw std::invalid_argument("an empty set has no quantile");
  std::vector<double> sorted(values.begin(), values.end());
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(sorted, middle);
  const double share = position - static_cast<double>(below);
  if (share == 0) return *middle;
  const double next = *std::min_element(middle + 1, sorted.end());
  return *middle + share * (next - *middle);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (double value : values) distances.push_back(std::fabs(value - center));
  return median(distances);
}

// Both are taken about the first value, which removes a common offset before
// anything is added up or squared.
double mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("an empty set has no mean");
  const double origin = values.front();
  double sum = 0;
  for (double value : values) sum += value - origin;
  return origin + sum / static_cast<double>(values.size());
}

double interquartile_mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("an empty set has no mean");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  const double origin = sorted.front();
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // What of this value's place, i to i + 1, lies in the middle half.
    const auto place = static_cast<double>(i);
    const double share = std::min(place + 1, 0.75 * n) - std::max(place, 0.25 * n);
    if (share > 0) sum += share * (sorted[i] - origin);
  }
  return origin + sum / (0.5 * n);
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double student(double coverage, double degrees) {
  const boost::math::students_t distribution(std::max(degrees, 1e-3));
  return boost::math::quantile(distribution, 0.5 + coverage / 2);
}

}  // namespace foretrace::stats
