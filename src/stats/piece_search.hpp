// The best division of rows of cells into a number of pieces, each with a line for
// every curve: dynamic programming over the rows.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/curve_cells.hpp"

namespace foretrace::stats {

// A line by weighted least squares, accumulated point by point about the
// running means, which keeps its digits whatever the offsets.
class LineSums {
 public:
  void add(double x, double y, double weight);
  double squares() const;  // weighted, about the line
  Line line() const;
  double weight() const { return weight_; }

 private:
  double weight_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;
};

using Lines = std::vector<Line>;  // per curve

Lines fit_lines(const Cells& cells, std::size_t begin, std::size_t end);
// Weighted squares about these lines.
double squares_about_lines(const Cells& cells, std::size_t begin, std::size_t end);

// First rows of the pieces: starts[0] = 0.
using Division = std::vector<std::size_t>;

struct SearchSettings {
  std::vector<std::size_t> forced;  // rows (ascending, > 0) where a piece begins in any case
  std::size_t least = 4;            // rows in a piece, but for a whole section between forced ones
  std::size_t most = 8;             // pieces, where not more are forced
};

// Result [k]: the best division into fewest + k pieces, fewest = forced + 1; fewer
// entries where there are too few rows. Rows must not be empty.
std::vector<Division> best_divisions(const Cells& cells, const SearchSettings& settings);

}  // namespace foretrace::stats
