// Curves y(x) as pieces of straight lines that share their breakpoints.
//
// Every curve (number of ranks) has a line a + b x of its own in each piece. The best
// pieces for each number of them come from dynamic programming over the measured x
// (Bellman, Roth, JASA 64 (1969) 1079), the number itself from cross-validation (whole groups
// left out; of a single group, points) with the one-standard-error rule (Breiman et al.,
// Classification and Regression Trees, 1984, section 3.4.3) applied to the paired differences.
// Each break found is then a jump, if it was confirmed or the
// data show one, a continuous kink, or merged where cross-validation does not
// support it. Loss: relative error, bounded, about the group's own level. The
// final coefficients of a piece are the caller's to fit (relative_fit.hpp); ramp()
// gives the columns that keep a kink continuous.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stats/relative_fit.hpp"

namespace foretrace::stats {

struct CurvePoint {
  double x = 0;           // >= 0
  std::size_t curve = 0;  // 0..
  std::size_t group = 0;  // launch
  double y = 0;
};

struct SegmentSettings {
  // Last x of the lower piece, in any order. Always breaks, where there are x on both sides.
  std::vector<double> given;
  // Positions of jumps known from elsewhere, likewise the last x below. A found break in
  // the same gap between measured x, or in the next one, is a jump there.
  std::vector<double> confirmed;
  std::size_t least_points = 4;  // distinct x in a piece, but for those between given breaks
  std::size_t most_pieces = 8;   // more only where more are given
  double negligible = 0;         // as in RelativeProblem
  double least_scale = 2e-3;     // the relative noise is never taken to be below this
  double least_jump = 0.02;      // an unconfirmed jump must be this large (share of y)
};

enum class BreakKind { given, jump, kink };

struct Break {
  // The lower piece ends here (x included). Of an unconfirmed jump the geometric
  // middle of `below` and `above`; of a kink where the lines meet.
  double x = 0;
  double below = 0;  // last measured x of the lower piece
  double above = 0;  // first of the upper
  BreakKind kind = BreakKind::jump;
  bool confirmed = false;  // by settings.confirmed
  double jump = 0;  // upper line over lower line at x, less 1, of the curve where it is largest
  // How many standard errors that jump is from none; 0 where there is no telling.
  double significance = 0;
};

struct Line {
  double intercept = 0;
  double slope = 0;
  bool measured = false;  // the curve has points in the piece
};

struct Piece {
  double from = 0;  // first and last measured x
  double to = 0;
  std::size_t distinct_x = 0;
  std::vector<Line> lines;  // per curve
};

struct Segmentation {
  std::vector<Piece> pieces;  // ascending; at least one where there are points
  std::vector<Break> breaks;  // between them: one less
  // Mean bounded loss left out, by number of pieces (index 0: the fewest possible, which is
  // fewest_pieces), before kinks were made continuous or merged.
  std::vector<double> losses;
  std::size_t fewest_pieces = 1;
  double noise = 0;  // relative standard deviation of a group's points about the lines
  std::vector<Note> notes;

  // Piece that holds x (also beyond the ends).
  std::size_t piece_of(double x) const;
  // Of the line of that curve and piece; none where the curve was not measured there.
  std::optional<double> evaluate(std::size_t curve, double x) const;
  // Index of the first piece of the continuous run (joined by kinks) that piece i is in.
  std::size_t run_start(std::size_t piece) const;
};

Segmentation segment(const std::vector<CurvePoint>& points, const SegmentSettings& settings = {});

// How much of [from, to] lies below x: the column whose coefficient is the slope in that interval
// of a continuous line. With a constant and one ramp for each piece a run of kinks stays
// continuous, and slopes can be held non-negative.
double ramp(double x, double from, double to);

}  // namespace foretrace::stats
