#include "stats/piece_validation.hpp"

#include <algorithm>
#include <cmath>

#include "stats/summary.hpp"

namespace foretrace::stats {
namespace {

// Cells further than this from the finest fit are wild.
constexpr double kMisfit = 8;
constexpr std::size_t kPointFolds = 5;
// A gain below this share of the loss is none, however steady.
constexpr double kLeastGain = 0.02;

double at(const Line& line, double x) {
  return line.intercept + line.slope * x;
}

double loss(const CurveData& data, double y, double fitted, double noise) {
  const double u = data.relative(y, fitted) / noise;
  return std::min(u * u, kMostLoss);
}

std::vector<Lines> lines_of(const Cells& cells, const Division& division) {
  std::vector<Lines> lines;
  for (std::size_t p = 0; p < division.size(); ++p)
    lines.push_back(
        fit_lines(cells, division[p], p + 1 < division.size() ? division[p + 1] : cells.size()));
  return lines;
}

std::size_t piece_of_row(const Division& division, std::size_t row) {
  return static_cast<std::size_t>(std::ranges::upper_bound(division, row) - division.begin()) - 1;
}

}  // namespace

std::vector<Fold> folds_of(const CurveData& data) {
  std::vector<Fold> folds;
  if (data.groups() > 1) {
    for (std::size_t g = 0; g < data.groups(); ++g)
      folds.push_back({data.cells(g), data.values(g), false});
    return folds;
  }
  if (data.groups() == 0) return folds;
  for (std::size_t f = 0; f < kPointFolds; ++f) {
    Fold& fold = folds.emplace_back(Fold{data.cells(), {}, true});
    for (const CurveData::Value& value : data.values(0)) {
      if (value.i % kPointFolds != f) continue;
      fold.left_out.push_back(value);
      fold.cells.weight[value.i * fold.cells.curves + value.curve] = 0;
    }
  }
  return folds;
}

void drop_misfits(Cells& cells, const SearchSettings& settings, double least_scale) {
  const std::vector<Division> divisions = best_divisions(cells, settings);
  if (divisions.empty()) return;
  const Division& finest = divisions.back();
  const std::vector<Lines> lines = lines_of(cells, finest);
  std::vector<double> distance(cells.y.size(), 0), measured;
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t c = 0; c < cells.curves; ++c) {
      const std::size_t k = i * cells.curves + c;
      if (cells.weight[k] <= 0) continue;
      const double fitted = at(lines[piece_of_row(finest, i)][c], cells.x[i]);
      distance[k] = std::fabs(cells.y[k] - fitted) * std::sqrt(cells.weight[k]);
      measured.push_back(distance[k]);
    }
  if (measured.empty()) return;
  const double scale = std::max(kMadToSigma * median(measured), least_scale);
  for (std::size_t k = 0; k < distance.size(); ++k)
    if (distance[k] > kMisfit * scale) cells.weight[k] = 0;
}

double noise_about(const CurveData& data, const Cells& cells, const Division& division) {
  const std::vector<Lines> lines = lines_of(cells, division);
  std::vector<double> distances;
  for (std::size_t g = 0; g < data.groups(); ++g)
    for (const CurveData::Value& value : data.values(g)) {
      const Line& line = lines[piece_of_row(division, value.i)][value.curve];
      distances.push_back(std::fabs(data.relative(value.y, at(line, cells.x[value.i]))));
    }
  if (distances.empty()) return 0;
  const auto n = static_cast<double>(distances.size());
  const double used = 2 * static_cast<double>(division.size() * cells.curves);
  return kMadToSigma * median(distances) * std::sqrt(n / std::max(n - used, 1.0));
}

double loss_of(const Fold& fold, const CurveData& data, const Division& division, double noise) {
  const std::vector<Lines> lines = lines_of(fold.cells, division);
  double total = 0;
  for (const CurveData::Value& value : fold.left_out) {
    const double x = fold.cells.x[value.i];
    const std::size_t p = piece_of_row(division, value.i);
    const auto of = [&](std::size_t piece) {
      return loss(data, value.y, at(lines[piece][value.curve], x), noise);
    };
    double least = of(p);
    if (fold.rows_left_out) {
      if (p > 0 && value.i == division[p]) least = std::min(least, of(p - 1));
      if (p + 1 < division.size() && value.i + 1 == division[p + 1])
        least = std::min(least, of(p + 1));
    }
    total += least;
  }
  return fold.left_out.empty() ? 0 : total / static_cast<double>(fold.left_out.size());
}

double loss_of(const Fold& fold, const CurveData& data, const Segmentation& pieces, double noise) {
  double total = 0;
  for (const CurveData::Value& value : fold.left_out) {
    const double x = fold.cells.x[value.i];
    total +=
        loss(data, value.y, at(pieces.pieces[pieces.piece_of(x)].lines[value.curve], x), noise);
  }
  return fold.left_out.empty() ? 0 : total / static_cast<double>(fold.left_out.size());
}

double need(const std::vector<double>& simple, const std::vector<double>& rich) {
  std::vector<double> differences;
  for (std::size_t f = 0; f < simple.size(); ++f) differences.push_back(simple[f] - rich[f]);
  if (differences.empty()) return 0;
  const double error =
      standard_deviation(differences) / std::sqrt(static_cast<double>(differences.size()));
  // Gains that are the same in every fold are still measured against something.
  const double floor = kLeastGain * mean(rich);
  return mean(differences) / std::max({error, floor, 1e-12});
}

bool good_enough(const std::vector<double>& simple, const std::vector<double>& rich) {
  return need(simple, rich) <= 1;
}

}  // namespace foretrace::stats
