// Quantities over two columns: surfaces over ranks and size, one for each program, way, machine
// and further parameter.
//
// From a table of points (query.hpp), or of ratios (comparison.hpp), to plain grids; views draw
// them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/query.hpp"

namespace foretrace::results {

struct Surface {
  std::vector<std::pair<std::string, std::string>> of;  // columns that tell surfaces apart
  std::string quantity, x_name, y_name;
  std::vector<double> x, y;                   // rising, two each at least
  std::vector<std::optional<double>> values;  // by y, in it by x

  const std::optional<double>& at(std::size_t column, std::size_t row) const {
    return values[row * x.size() + column];
  }
};

// The columns that tell rows with the same `axes` apart: neither quantities, nor parameters that
// have one value for each value of an axis.
std::vector<std::size_t> key_columns(const Table& table, const std::vector<std::size_t>& axes);

// ranks and the first parameter with several numbers at one number of ranks; none: nothing to
// draw over two columns.
std::optional<std::pair<std::string, std::string>> axes_of(const Table& points);

// `quantities` empty: time. What has no four neighbouring points is left out. Of points that were
// run anew the latest counts. Throws UsageError for a column that has no numbers.
std::vector<Surface> surfaces_of(const Table& points, const std::string& x, const std::string& y,
                                 const std::vector<std::string>& quantities);

// With at most `most` values (two or more) of each axis, evenly spread among them, both ends kept.
Surface thinned(const Surface& surface, std::size_t most);

// The least and the greatest value; 0 and 0: there is none.
std::pair<double, double> range_of(const Surface& surface);

// T(r) / T(p), r being the fewest ranks: of a surface of times over ranks; else none.
std::optional<Surface> speedup_of(const Surface& times);

}  // namespace foretrace::results
