// Errors of a relative fit by the bootstrap of whole groups (launches).
//
// Points of one launch share their launch's state, so the launch is what is drawn
// with replacement (Davison, Hinkley, Bootstrap Methods, 1997, section 3.8). With G groups the
// bootstrap's variance is (G-1)/G of the right one and its percentiles are those
// of a handful of values: at 5 groups a nominal 95 % percentile interval covers
// about 83 %. Hence: the bootstrap's standard deviation times sqrt(G/(G-1)), and Student's t
// with G-1 degrees of freedom, which is exact where the groups' estimates are
// normal, and conservative at 95 % where their variances differ (Ibragimov, Mueller, Journal of
// Business & Economic Statistics 28 (2010) 453).
// The robust weights stay those of the whole fit (Salibian-Barrera, Zamar, Annals of Statistics
// 30 (2002) 556), so that a resample is a sum of G small matrices.
//
// Non-negative coefficients: a constrained estimate at or near 0 has no Student
// distribution. The intervals are those of the fit without the constraint, cut at 0
// afterwards, which keeps their coverage. A single group has the scatter of its
// points about the fit only (Note::one_group).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/relative_fit.hpp"

namespace foretrace::stats {

struct Interval {
  double lower = 0;
  double upper = 0;
};

struct GroupSettings {
  double coverage = 0.95;  // of every interval, in (0, 1)
  // Where all distinct resamples are no more than this (126 for 5 groups), each is taken
  // once with its probability; otherwise so many are drawn.
  std::size_t resamples = 200;
  std::uint64_t seed = 1;
};

struct GroupErrors {
  std::vector<Interval> coefficients;  // one per column; {0, 0} where it has no place in the fit
  std::vector<double> errors;          // standard errors, likewise
  std::size_t groups = 0;
  double degrees_of_freedom = 0;  // of Student's t
  double coverage = 0.95;
  double point_scale =
      0;  // relative standard deviation of a group's point about that group's own fit
  std::vector<Note> notes;

  // For a row of the design (one value per column of the problem). The curve itself:
  Interval confidence(std::span<const double> row) const;
  // What a new group (launch) will show at that row, wild values aside: its own
  // level, its point's scatter and the curve's uncertainty. The variance has two
  // parts with different degrees of freedom, joined by Satterthwaite's formula
  // (Biometrics Bulletin 2 (1946) 110).
  Interval prediction(std::span<const double> row) const;

  // What these are computed from, for the columns in `free`.
  std::vector<std::size_t> free;      // columns of the unconstrained fit
  std::vector<double> unconstrained;  // its coefficients
  std::vector<double> covariance;     // of these, free x free by rows, of the mean over groups
  std::vector<double> leverage;       // unscaled inverse of the information of one group, likewise
  std::vector<double> values;         // the fit's coefficients, one per column
  std::vector<bool> non_negative;     // per column
  double point_degrees = 0;           // degrees of freedom of point_scale
  double negligible = 0;
};

// `fit` is fit_relative's or choose_columns' of the same problem; only columns in `columns`
// count (empty: all). Same seed, same bytes.
GroupErrors group_errors(const RelativeProblem& problem, const RelativeFit& fit,
                         const GroupSettings& settings = {},
                         const std::vector<std::size_t>& columns = {});

}  // namespace foretrace::stats
