#include "stats/curve_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "stats/summary.hpp"

namespace foretrace::stats {
namespace {

// A group's level at a row is that of so many rows on either side: what slows a
// launch down often does so for some sizes only. Fewer rows would let groups follow each
// other's noise, and pieces of noise be found.
constexpr std::size_t kLevelRows = 14;

}  // namespace

CurveData::CurveData(const std::vector<CurvePoint>& points, double negligible)
    : negligible_(negligible) {
  std::set<double> x;
  std::map<std::size_t, std::size_t> groups;
  const auto usable = [negligible](const CurvePoint& point) {
    return std::isfinite(point.x) && point.x >= 0 && std::isfinite(point.y) && point.y >= 0 &&
           (point.y > 0 || negligible > 0);
  };
  for (const CurvePoint& point : points) {
    if (!usable(point)) {
      ++left_out_;
      continue;
    }
    x.insert(point.x);
    groups.emplace(point.group, groups.size());
    curves_ = std::max(curves_, point.curve + 1);
  }
  x_.assign(x.begin(), x.end());
  by_group_.resize(groups.size());
  for (const CurvePoint& point : points) {
    if (!usable(point)) continue;
    const auto i = static_cast<std::size_t>(std::ranges::lower_bound(x_, point.x) - x_.begin());
    by_group_[groups.at(point.group)].push_back({i, point.curve, point.y});
  }
  remove_levels();
}

void CurveData::remove_levels() {
  if (groups() < 2) return;
  const Cells middle = cells();
  for (std::vector<Value>& group : by_group_) {
    std::vector<std::vector<double>> ratios(x_.size());
    for (const Value& value : group) {
      const double usual = middle.y[value.i * curves_ + value.curve];
      if (usual > negligible_) ratios[value.i].push_back(value.y / usual);
    }
    std::vector<double> level(x_.size(), 1);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      std::vector<double> near;
      const std::size_t end = std::min(i + kLevelRows + 1, x_.size());
      for (std::size_t k = i > kLevelRows ? i - kLevelRows : 0; k < end; ++k)
        near.insert(near.end(), ratios[k].begin(), ratios[k].end());
      if (!near.empty()) level[i] = median(near);
    }
    for (Value& value : group)
      if (level[value.i] > 0) value.y /= level[value.i];
  }
}

Cells CurveData::cells(std::optional<std::size_t> without) const {
  Cells cells{x_, curves_, std::vector<double>(x_.size() * curves_, 0),
              std::vector<double>(x_.size() * curves_, 0)};
  std::vector<std::vector<double>> values(cells.y.size());
  for (std::size_t g = 0; g < groups(); ++g) {
    if (without && g == *without) continue;
    for (const Value& value : by_group_[g])
      values[value.i * curves_ + value.curve].push_back(value.y);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k].empty()) continue;
    cells.y[k] = median(values[k]);
    const double base = std::max(cells.y[k], negligible_);
    if (base > 0) cells.weight[k] = 1 / (base * base);
  }
  return cells;
}

double CurveData::relative(double y, double fitted) const {
  const double base = std::max({fitted, 0.2 * y, negligible_});
  return base > 0 ? (y - fitted) / base : 0;
}

void drop_wild_cells(Cells& cells, double factor) {
  constexpr std::size_t kWindow = 5;
  for (std::size_t c = 0; c < cells.curves; ++c) {
    std::vector<std::size_t> row;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells.weight[i * cells.curves + c] > 0) row.push_back(i * cells.curves + c);
    if (row.size() < kWindow) continue;
    std::vector<std::size_t> wild;
    for (std::size_t k = kWindow / 2; k + kWindow / 2 < row.size(); ++k) {
      // The base in place of the value: what is negligible is never wild.
      std::array<double, kWindow> near{};
      for (std::size_t m = 0; m < kWindow; ++m)
        near[m] = 1 / std::sqrt(cells.weight[row[k + m - kWindow / 2]]);
      const double usual = median(near);
      const double y = near[kWindow / 2];
      // Growth is no reason: only what is outside of both its neighbours.
      const auto [low, high] = std::minmax(near[kWindow / 2 - 1], near[kWindow / 2 + 1]);
      if ((y > high && y > factor * usual) || (y < low && factor * y < usual))
        wild.push_back(row[k]);
    }
    for (std::size_t k : wild) cells.weight[k] = 0;
  }
}

}  // namespace foretrace::stats
