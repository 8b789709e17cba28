// Which columns belong into a fit: by a criterion that punishes over-fitting.
//
// Candidates are lists of column indices: all subsets of a dictionary, or the few
// forms of a paper. Judged are the means over groups of every distinct row of the
// design: what all groups share is not noise that averages out, so a row counts as one
// point however often it was measured, and a factor common to a whole group
// changes no choice.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/relative_fit.hpp"

namespace foretrace::stats {

enum class Criterion {
  bic,   // n ln(RSS / n) + k ln n: Schwarz, Annals of Statistics 6 (1978) 461
  aicc,  // n ln(RSS / n) + 2k + 2k(k+1)/(n-k-1): Hurvich, Tsai, Biometrika 76 (1989) 297
};

using ColumnSet = std::vector<std::size_t>;  // ascending indices of columns

// All subsets of {0, ..., columns - 1} that hold `always` and no more than `most`
// columns, the smaller ones first. The empty set is not among them.
std::vector<ColumnSet> subsets(std::size_t columns, std::size_t most, const ColumnSet& always = {});

struct ChoiceSettings {
  Criterion criterion = Criterion::bic;
  RelativeSettings fit;
};

struct Choice {
  std::size_t candidate = 0;  // index of the chosen one
  ColumnSet columns;  // of the problem, those with a coefficient (non-negative ones may fall out)
  RelativeFit fit;    // one unknown per column of the problem, unused where not chosen
  double criterion = 0;
  std::vector<double> criteria;  // of each candidate
};

// The candidate with the least criterion; of equal ones (within rounding) the
// first. `candidates` must not be empty: std::invalid_argument.
Choice choose_columns(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates,
                      const ChoiceSettings& settings = {});

// The error of predicting what was not seen: chooses and fits without the
// observations flagged in `held_out` (as long as y), and compares these. For the
// error of extrapolation flag the largest p.
struct HeldOut {
  Choice choice;
  RelativeErrors errors;  // of the held-out observations
};
HeldOut predict_held_out(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates,
                         const std::vector<bool>& held_out, const ChoiceSettings& settings = {});

}  // namespace foretrace::stats
