// Robust fit of y ~ sum_j a_j X_j by relative error.
//
// The loss is (y - f) / f, so that values of every order of magnitude count the
// same; f and not y stands below the line, because dividing by the noisy y pulls
// a fit down by the square of the noise. A wild observation is one far from its
// own group's level: groups (launches) may differ as a whole, and none of them is
// ever thrown out as a whole; nor is a row (a point) of which three observations or more agree:
// then it is the form that is wrong there. Iteratively reweighted least squares; the weights
// are Hampel's (1 up to 3, none from 6 standard deviations on; Hampel, Ronchetti,
// Rousseeuw, Stahel, Robust Statistics, Wiley 1986, section 2.6), the standard
// deviation is that of a MAD. Interval estimates: group_errors.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "stats/least_squares.hpp"

namespace foretrace::stats {

// What a reader of the result has to know; sentence_of() says it.
enum class Note {
  no_points,          // nothing to fit
  left_out,           // some values were negative, not finite, or zero with nothing negligible
  all_zero,           // every value is zero: so are all coefficients
  too_few_points,     // no more distinct points than coefficients: nothing tells whether the
                      // form is right
  dependent_columns,  // a column says what others say already, or never varies
  constant,           // every value is the same
  one_group,          // a single group: errors are of its own scatter alone
  few_groups,         // two groups: intervals are very wide
  many_outliers,      // more than a fifth of the points was rejected
  not_settled,        // the iteration ended by its limit
  one_size,           // one x alone: nothing can be said about slopes
  too_few_sizes,      // fewer x than two pieces need: one piece
};

// One sentence without the final stop, e.g. "all values are zero".
std::string_view sentence_of(Note note);

struct RelativeProblem {
  std::vector<double> y;
  std::vector<std::size_t> group;  // per y: which launch; empty: all of the same
  std::vector<Column> columns;     // each as long as y
  // Values below this count as if they were as large: what the clock cannot
  // tell. With 0, observations of y = 0 are left out. >= 0.
  double negligible = 0;
};

struct RelativeFit {
  std::vector<Unknown> unknowns;  // one per column; the errors are those of independent points
  std::vector<double> fitted;     // per observation
  std::vector<double> weights;    // per observation, 0 (left out or rejected) to 1
  double scale = 0;               // standard deviation of y / f - 1 about its group's level
  std::size_t points = 0;         // observations that took part, rejected ones included
  std::size_t rejected = 0;       // of these, with weight 0
  std::vector<Note> notes;        // each once, in the order of the enum
};

struct RelativeSettings {
  // The scale is never taken to be below this: identical values would reject
  // everything that differs by rounding.
  double least_scale = 1e-3;
  int most_iterations = 30;
};

// Defined for every input, see Note; lengths that differ throw
// std::invalid_argument. As in fit_least_squares, dependent columns and those
// whose coefficient would become negative although it must not are left out.
RelativeFit fit_relative(const RelativeProblem& problem, const RelativeSettings& settings = {});

// Equal numbers for observations whose values agree in every column, counted
// from 0 in the order of their first appearance.
std::vector<std::size_t> distinct_rows(std::size_t observations, std::span<const Column> columns);

struct RelativeErrors {
  double mean = 0;
  double max = 0;
  std::size_t worst = 0;  // index of the max
  std::size_t points = 0;
};

// Of |fitted - y| / max(y, negligible) where `flags` is set (empty: everywhere) and y usable.
RelativeErrors relative_errors(std::span<const double> y, std::span<const double> fitted,
                               double negligible = 0, const std::vector<bool>& flags = {});

}  // namespace foretrace::stats
