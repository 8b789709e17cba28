#include "stats/piece_search.hpp"

#include <algorithm>
#include <limits>

namespace foretrace::stats {

void LineSums::add(double x, double y, double weight) {
  if (weight <= 0) return;
  weight_ += weight;
  const double dx = x - x_;
  const double dy = y - y_;
  const double share = weight / weight_;
  x_ += share * dx;
  y_ += share * dy;
  xx_ += weight * dx * (x - x_);
  xy_ += weight * dx * (y - y_);
  yy_ += weight * dy * (y - y_);
}

double LineSums::squares() const {
  return std::max(0.0, xx_ > 0 ? yy_ - xy_ * xy_ / xx_ : yy_);
}

Line LineSums::line() const {
  if (weight_ == 0) return {};
  const double slope = xx_ > 0 ? xy_ / xx_ : 0;
  return {y_ - slope * x_, slope, true};
}

namespace {

std::vector<LineSums> sums(const Cells& cells, std::size_t begin, std::size_t end) {
  std::vector<LineSums> result(cells.curves);
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t c = 0; c < cells.curves; ++c) {
      const std::size_t k = i * cells.curves + c;
      result[c].add(cells.x[i], cells.y[k], cells.weight[k]);
    }
  return result;
}

constexpr double kNever = std::numeric_limits<double>::infinity();

// cost[i * (n + 1) + j] of the piece of rows i..j-1; kNever where it may not be one.
std::vector<double> piece_costs(const Cells& cells, const SearchSettings& settings) {
  const std::size_t n = cells.size();
  std::vector<double> cost((n + 1) * (n + 1), kNever);
  const auto is_edge = [&](std::size_t row) {
    return row == 0 || row == n || std::ranges::binary_search(settings.forced, row);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto next = std::ranges::upper_bound(settings.forced, i);
    const std::size_t limit = next == settings.forced.end() ? n : *next;
    std::vector<LineSums> curve(cells.curves);
    for (std::size_t j = i + 1; j <= limit; ++j) {
      double squares = 0;
      for (std::size_t c = 0; c < cells.curves; ++c) {
        const std::size_t k = (j - 1) * cells.curves + c;
        curve[c].add(cells.x[j - 1], cells.y[k], cells.weight[k]);
        squares += curve[c].squares();
      }
      // Nothing at all (x = 0) often has a way of its own.
      const bool nothing = i == 0 && j == 1 && cells.x[0] == 0;
      if (j - i >= settings.least || (is_edge(i) && is_edge(j)) || nothing)
        cost[i * (n + 1) + j] = squares;
    }
  }
  return cost;
}

}  // namespace

Lines fit_lines(const Cells& cells, std::size_t begin, std::size_t end) {
  Lines lines;
  for (const LineSums& curve : sums(cells, begin, end)) lines.push_back(curve.line());
  return lines;
}

double squares_about_lines(const Cells& cells, std::size_t begin, std::size_t end) {
  double total = 0;
  for (const LineSums& curve : sums(cells, begin, end)) total += curve.squares();
  return total;
}

std::vector<Division> best_divisions(const Cells& cells, const SearchSettings& settings) {
  const std::size_t n = cells.size();
  const std::size_t fewest = settings.forced.size() + 1;
  const std::size_t most = std::max(fewest, settings.most);
  const std::vector<double> piece = piece_costs(cells, settings);
  // best[k][j]: the first j rows in k pieces; from[k][j]: where the last of them begins.
  std::vector<std::vector<double>> best(most + 1, std::vector<double>(n + 1, kNever));
  std::vector<std::vector<std::size_t>> from(most + 1, std::vector<std::size_t>(n + 1, 0));
  best[0][0] = 0;
  for (std::size_t k = 1; k <= most; ++k)
    for (std::size_t j = k; j <= n; ++j)
      for (std::size_t i = k - 1; i < j; ++i) {
        const double cost = best[k - 1][i] + piece[i * (n + 1) + j];
        if (cost >= best[k][j]) continue;
        best[k][j] = cost;
        from[k][j] = i;
      }
  std::vector<Division> divisions;
  for (std::size_t k = fewest; k <= most && best[k][n] < kNever; ++k) {
    Division division(k);
    for (std::size_t m = k, j = n; m > 0; --m) j = division[m - 1] = from[m][j];
    divisions.push_back(std::move(division));
  }
  return divisions;
}

}  // namespace foretrace::stats
