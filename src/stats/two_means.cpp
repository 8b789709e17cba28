#include "stats/two_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/summary.hpp"

namespace foretrace::stats {
namespace {

struct Side {
  double mean = 0;
  double variance = 0;  // of the mean
  double degrees = 1;   // of freedom of the variance

  Side(std::span<const double> values, bool exact) : mean(stats::mean(values)) {
    if (exact) return;
    const double deviation = standard_deviation(values);
    variance = deviation * deviation / static_cast<double>(values.size());
    degrees = static_cast<double>(values.size() - 1);
  }
};

// Student's t for b - r a, with the degrees of freedom of Satterthwaite (Biometrics Bulletin 2
// (1946) 110).
double student_at(const Side& a, const Side& b, double r, double coverage) {
  const double of_a = r * r * a.variance;
  const double sum = of_a + b.variance;
  return student(coverage,
                 sum * sum / (of_a * of_a / a.degrees + b.variance * b.variance / b.degrees));
}

// Where (b - r a)^2 = t^2 (r^2 var(a) + var(b)), on the upper or the lower side of b / a. Since
// t's degrees of freedom depend on r, again with those of what was found, until that stays.
double limit(const Side& a, const Side& b, bool upper, double coverage) {
  constexpr int kMostSteps = 50;
  double r = b.mean / a.mean;
  for (int step = 0; step < kMostSteps; ++step) {
    // Where nothing is known of b, and r is 0, all that scatters is a.
    const double t = student_at(a, b, r > 0 || b.variance > 0 ? r : 1, coverage);
    const double square = a.mean * a.mean - t * t * a.variance;
    if (square <= 0) return upper ? std::numeric_limits<double>::infinity() : 0;
    const double product = a.mean * b.mean;
    const double root =
        std::sqrt(product * product - square * (b.mean * b.mean - t * t * b.variance));
    const double next = std::max(0.0, (upper ? product + root : product - root) / square);
    const double change = std::fabs(next - r);
    r = next;
    if (change <= 1e-13 * r) break;
  }
  return r;
}

std::optional<Interval> ratio_interval(const Side& a, const Side& b, double coverage) {
  if (a.mean <= 0) return std::nullopt;
  if (a.variance == 0 && b.variance == 0) return Interval{b.mean / a.mean, b.mean / a.mean};
  // Where a itself may be zero, any ratio may be.
  if (a.mean <= student(coverage, a.degrees) * std::sqrt(a.variance)) return std::nullopt;
  return Interval{limit(a, b, false, coverage), limit(a, b, true, coverage)};
}

}  // namespace

MeanIntervals compare_means(std::span<const double> a, bool a_exact, std::span<const double> b,
                            bool b_exact, double coverage) {
  MeanIntervals means;
  if ((a.size() < 2 && !a_exact) || (b.size() < 2 && !b_exact)) return means;
  const Side x(a, a_exact);
  const Side y(b, b_exact);
  const double error = std::sqrt(x.variance + y.variance);
  const double half = error == 0 ? 0 : student_at(x, y, 1, coverage) * error;
  means.difference = Interval{y.mean - x.mean - half, y.mean - x.mean + half};
  means.ratio = ratio_interval(x, y, coverage);
  return means;
}

}  // namespace foretrace::stats
