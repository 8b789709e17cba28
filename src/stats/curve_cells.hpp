// The points of several curves and groups in rows of the same x, ready for segmentation.
//
// Between segmentation.hpp, which is for callers, and the search for pieces. A cell
// is one x of one curve: the median over groups, each group first divided by its own
// level thereabouts, so that a launch that is slower as a whole, or for some sizes,
// moves no breakpoint.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stats/segmentation.hpp"

namespace foretrace::stats {

// One value per cell, with its weight 1 / base^2, the base being what relative
// errors are measured by; weight 0: not measured or wild.
struct Cells {
  std::vector<double> x;  // ascending, distinct
  std::size_t curves = 0;
  std::vector<double> y;  // cell (i, c) at i * curves + c
  std::vector<double> weight;

  std::size_t size() const { return x.size(); }
};

// Every observation, by group.
class CurveData {
 public:
  // Uses the points that can be used; `left_out` counts the others.
  CurveData(const std::vector<CurvePoint>& points, double negligible);

  struct Value {
    std::size_t i = 0;  // index of x
    std::size_t curve = 0;
    double y = 0;  // divided by its group's level at this x
  };

  const std::vector<double>& x() const { return x_; }
  std::size_t curves() const { return curves_; }
  std::size_t groups() const { return by_group_.size(); }
  const std::vector<Value>& values(std::size_t group) const { return by_group_[group]; }
  std::size_t left_out() const { return left_out_; }

  // Cells of all groups, or of all but one.
  Cells cells(std::optional<std::size_t> without = std::nullopt) const;
  double relative(double y, double fitted) const;

 private:
  void remove_levels();

  double negligible_;
  std::vector<double> x_;
  std::size_t curves_ = 0;
  std::size_t left_out_ = 0;
  std::vector<std::vector<Value>> by_group_;
};

// Weight 0 for cells that stand out of their neighbours in x on both sides: those
// further than `factor` from the median of five in a row.
void drop_wild_cells(Cells& cells, double factor);

}  // namespace foretrace::stats
