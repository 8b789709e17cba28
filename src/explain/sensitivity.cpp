#include "explain/sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::explain {
namespace {

class PieceSearch {
 public:
  PieceSearch(const Axis& axis, const std::function<Time(double)>& time)
      : axis_(axis), time_(time) {}

  struct Point {
    double x = 0;
    double time = 0;
    double left = 0;  // slopes
    double right = 0;
  };

  enum class Sides : std::uint8_t { both, left, right };
  Point at(double x, Sides sides = Sides::both) {
    ++simulations_;
    Point point;
    point.x = x;
    // Differences of whole picoseconds, however long the run is.
    const Time here = time_(x);
    point.time = here.seconds();
    if (sides != Sides::left || x < axis_.step)
      point.left = point.right = (time_(x + axis_.step) - here).seconds() / axis_.step;
    if (sides != Sides::right && x >= axis_.step)
      point.left = (here - time_(x - axis_.step)).seconds() / axis_.step;
    return point;
  }

  // Two tangents that agree are the line between; else they meet where a break point
  // is, or another piece.
  void split(const Point& a, const Point& b, std::vector<Piece>& pieces) {
    const double apart = b.x - a.x;
    // Each message's time is rounded to a picosecond.
    const double tolerance = 1e-12 + axis_.rounding * (1 + apart / axis_.step);
    if (apart <= 2 * axis_.step || std::abs(a.time + a.right * apart - b.time) <= tolerance) {
      pieces.push_back({a.x, b.x, apart > 0 ? (b.time - a.time) / apart : a.right});
      return;
    }
    if (simulations_ >= axis_.most) {
      exact_ = false;
      pieces.push_back({a.x, b.x, (b.time - a.time) / apart});
      return;
    }
    double x = a.x + apart / 2;
    if (a.right != b.left) {
      const double meet = (b.time - a.time + a.right * a.x - b.left * b.x) / (a.right - b.left);
      if (meet > a.x + axis_.step && meet < b.x - axis_.step) x = meet;
    }
    x = std::round(x / axis_.step) * axis_.step;
    if (x <= a.x || x >= b.x) x = a.x + apart / 2;
    const Point middle = at(x);
    split(a, middle, pieces);
    split(middle, b, pieces);
  }

  // The axis's end, or where the run takes `wanted` seconds.
  Point last(double wanted) {
    Point last = at(axis_.end, Sides::left);
    const double farthest = axis_.farthest > 0 ? axis_.farthest : std::max(axis_.end, wanted);
    while (last.time < wanted && last.x < farthest && simulations_ < axis_.most) {
      // The curve of the longest of many ways only gets steeper.
      const double rest =
          last.left > 0 ? 1.01 * (wanted - last.time) / last.left : 3 * (last.x - axis_.value);
      const double next = std::min(last.x + std::max(rest, 2 * axis_.step), 10 * farthest);
      last = at(std::round(next / axis_.step) * axis_.step, Sides::left);
    }
    return last;
  }

  bool exact() const { return exact_; }

 private:
  const Axis& axis_;
  const std::function<Time(double)>& time_;
  int simulations_ = 0;
  bool exact_ = true;
};

// Pieces of one line, found from several sides, are one.
std::vector<Piece> joined(const std::vector<Piece>& pieces) {
  std::vector<Piece> all;
  for (const Piece& piece : pieces) {
    const double scale = std::max(std::abs(piece.slope), 1e-30);
    if (!all.empty() && std::abs(all.back().slope - piece.slope) <= 1e-6 * scale)
      all.back().to = piece.to;
    else
      all.push_back(piece);
  }
  return all;
}

}  // namespace

Sensitivity find_sensitivity(const Axis& axis, const std::function<Time(double)>& time) {
  PieceSearch search(axis, time);
  Sensitivity result;
  result.parameter = axis.parameter;
  result.unit = axis.unit;
  result.meaning = axis.meaning;
  result.value = axis.value;
  const PieceSearch::Point here = search.at(axis.value);
  result.slope = here.right;
  std::vector<Piece> pieces;
  if (axis.value > 0) search.split(search.at(0, PieceSearch::Sides::right), here, pieces);
  search.split(here, search.last(here.time * (1 + kTolerances[2])), pieces);
  result.pieces = joined(pieces);
  for (std::size_t i = 1; i < result.pieces.size(); ++i)
    result.break_points.push_back(result.pieces[i].from);
  result.exact = search.exact();
  for (std::size_t i = 0; i < 3; ++i) {
    const double wanted = here.time * (1 + kTolerances[i]);
    double reached = here.time;
    for (const Piece& piece : result.pieces) {
      const double from = std::max(piece.from, axis.value);
      if (piece.to <= from) continue;
      const double end = reached + piece.slope * (piece.to - from);
      if (end >= wanted && piece.slope > 0) {
        result.tolerance[i] = from + (wanted - reached) / piece.slope;
        break;
      }
      reached = end;
    }
  }
  return result;
}

}  // namespace foretrace::explain
