// Cross-validation of pieces: what is left out and what missing it costs.
//
// A fold leaves out one group; of a single group, every fifth x. The loss of a value is
// the square of its relative error in units of the noise, no more than kMostLoss,
// so that wild values cost the same under every candidate.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/curve_cells.hpp"
#include "stats/piece_search.hpp"
#include "stats/segmentation.hpp"

namespace foretrace::stats {

inline constexpr double kMostLoss = 9;

struct Fold {
  Cells cells;  // to learn from
  std::vector<CurveData::Value> left_out;
  bool rows_left_out = false;  // by x, not by group
};

std::vector<Fold> folds_of(const CurveData& data);

// Weight 0 for cells that lie far (8 standard deviations) from the finest division.
void drop_misfits(Cells& cells, const SearchSettings& settings, double least_scale);

// Relative standard deviation of single values about the division's lines, by their MAD.
double noise_about(const CurveData& data, const Cells& cells, const Division& division);

// Mean loss of what the fold left out. Where left-out rows lie between two pieces,
// nothing tells which they belong to: the better one counts.
double loss_of(const Fold& fold, const CurveData& data, const Division& division, double noise);
// The same of pieces and breaks at hand (lines as fitted to the fold's cells).
double loss_of(const Fold& fold, const CurveData& data, const Segmentation& pieces, double noise);

// Whether `simple` is as good as `rich`, fold by fold: its mean loss is no more than one
// standard error of the paired differences above.
bool good_enough(const std::vector<double>& simple, const std::vector<double>& rich);
// Mean of the paired differences in their standard errors: how badly rich is needed.
double need(const std::vector<double>& simple, const std::vector<double>& rich);

}  // namespace foretrace::stats
