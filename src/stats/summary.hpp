// Robust summaries of a set of numbers.
//
// Numbers in, numbers out: knows neither units nor where the numbers come
// from. All functions take the values in any order and leave them alone; an
// empty set has no summary: std::invalid_argument.
#pragma once

#include <span>

namespace foretrace::stats {

// The middle value; the mean of the two middle ones for an even count.
double median(std::span<const double> values);

// The value below which the share `q` (0..1) lies, linear between neighbours:
// the element at position q * (n - 1) of the sorted values.
double quantile(std::span<const double> values, double q);

// Median of the absolute distances to the median. Times kMadToSigma it
// estimates the standard deviation of a normal distribution.
double median_absolute_deviation(std::span<const double> values);
inline constexpr double kMadToSigma = 1.4826022185056018;  // 1 / normal quantile(3/4)

double mean(std::span<const double> values);

// The mean of the middle half: a quarter of the values is cut off at each end, in part where four
// does not divide their number. As robust as a quartile, and where values alternate between two
// it is steady between them, which the median is not.
double interquartile_mean(std::span<const double> values);

// Of a sample (divided by n - 1); 0 for one value. Exact for values that differ
// little from each other but are far from zero.
double standard_deviation(std::span<const double> values);

// So many standard errors to each side of a mean is what holds the true one with
// probability `coverage` (0..1, both excluded): Student's t of `degrees` of freedom,
// taken as 0.001 at least.
double student(double coverage, double degrees);

}  // namespace foretrace::stats
