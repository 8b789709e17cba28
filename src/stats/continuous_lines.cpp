#include "stats/continuous_lines.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace foretrace::stats {
namespace {

// Positions tried between two measured x before the best is narrowed down.
constexpr int kTries = 6;
constexpr int kNarrowing = 20;
constexpr int kRounds = 4;
constexpr double kGolden = 0.6180339887498949;

}  // namespace

double ramp(double x, double from, double to) {
  return std::clamp(x, from, to) - from;
}

ContinuousFit fit_continuous(const Cells& cells, std::size_t begin, std::size_t end,
                             const std::vector<double>& kinks) {
  const std::size_t pieces = kinks.size() + 1;
  ContinuousFit fit;
  fit.pieces.assign(pieces, Lines(cells.curves));
  const auto m = static_cast<Eigen::Index>(pieces + 1);
  // The outer pieces' ramps begin at the first row and end nowhere.
  const auto from = [&](std::size_t p) { return p == 0 ? cells.x[begin] : kinks[p - 1]; };
  const auto to = [&](std::size_t p) { return p + 1 == pieces ? HUGE_VAL : kinks[p]; };
  for (std::size_t c = 0; c < cells.curves; ++c) {
    std::vector<std::size_t> rows;
    for (std::size_t i = begin; i < end; ++i)
      if (cells.weight[i * cells.curves + c] > 0) rows.push_back(i);
    if (rows.empty()) continue;
    Eigen::MatrixXd design(static_cast<Eigen::Index>(rows.size()), m);
    Eigen::VectorXd y(design.rows());
    for (Eigen::Index r = 0; r < design.rows(); ++r) {
      const std::size_t i = rows[static_cast<std::size_t>(r)];
      const double root = std::sqrt(cells.weight[i * cells.curves + c]);
      y[r] = root * cells.y[i * cells.curves + c];
      design(r, 0) = root;
      for (std::size_t p = 0; p < pieces; ++p)
        design(r, static_cast<Eigen::Index>(p) + 1) = root * ramp(cells.x[i], from(p), to(p));
    }
    Eigen::VectorXd scale(m);
    for (Eigen::Index j = 0; j < m; ++j) {
      scale[j] = std::max(design.col(j).norm(), 1e-300);
      design.col(j) /= scale[j];
    }
    // Normal equations of columns of length 1: nearly dependent ones are damped, not refused.
    Eigen::MatrixXd normal = design.transpose() * design;
    normal.diagonal().array() += 1e-13;
    const Eigen::VectorXd solution = normal.ldlt().solve(design.transpose() * y);
    fit.squares += (y - design * solution).squaredNorm();
    double level = solution[0] / scale[0];
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto j = static_cast<Eigen::Index>(p) + 1;
      const double slope = solution[j] / scale[j];
      fit.pieces[p][c] = {level - slope * from(p), slope, true};
      if (p + 1 < pieces) level += slope * (to(p) - from(p));
    }
  }
  return fit;
}

std::vector<double> place_kinks(const Cells& cells, std::size_t begin, std::size_t end,
                                std::vector<double> kinks, std::size_t rows) {
  const auto squares = [&](const std::vector<double>& at) {
    return fit_continuous(cells, begin, end, at).squares;
  };
  const std::vector<double> start = kinks;
  double best = squares(kinks);
  for (int round = 0; round < kRounds; ++round) {
    const double before = best;
    for (std::size_t k = 0; k < kinks.size(); ++k) {
      // A row at least on either side.
      double low = k == 0 ? cells.x[begin + 1] : kinks[k - 1];
      double high = k + 1 == kinks.size() ? cells.x[end - 2] : kinks[k + 1];
      const auto near = static_cast<std::size_t>(
          std::upper_bound(cells.x.begin() + static_cast<std::ptrdiff_t>(begin),
                           cells.x.begin() + static_cast<std::ptrdiff_t>(end), start[k]) -
          cells.x.begin());
      low = std::max(low, cells.x[near > begin + rows ? near - 1 - rows : begin]);
      high = std::min(high, cells.x[std::min(near + rows, end - 1)]);
      if (!(low < high)) continue;
      const auto try_at = [&](double x) {
        std::vector<double> moved = kinks;
        moved[k] = x;
        return squares(moved);
      };
      // Even steps between neighbouring rows: the squares are smooth there.
      std::vector<double> tries;
      for (std::size_t i = begin; i + 1 < end; ++i)
        for (int t = 0; t < kTries; ++t) {
          const double x = cells.x[i] + (cells.x[i + 1] - cells.x[i]) * t / kTries;
          if (x > low && x < high) tries.push_back(x);
        }
      double place = kinks[k];
      std::size_t found = tries.size();
      for (std::size_t t = 0; t < tries.size(); ++t) {
        const double value = try_at(tries[t]);
        if (value >= best) continue;
        best = value;
        place = tries[t];
        found = t;
      }
      if (found < tries.size()) {
        double a = found > 0 ? tries[found - 1] : low;
        double b = found + 1 < tries.size() ? tries[found + 1] : high;
        for (int step = 0; step < kNarrowing; ++step) {
          const double left = b - kGolden * (b - a);
          const double right = a + kGolden * (b - a);
          if (try_at(left) < try_at(right))
            b = right;
          else
            a = left;
        }
        const double middle = (a + b) / 2;
        if (const double value = try_at(middle); value < best) {
          best = value;
          place = middle;
        }
      }
      kinks[k] = place;
    }
    if (!(best < before * (1 - 1e-6))) break;
  }
  return kinks;
}

}  // namespace foretrace::stats
