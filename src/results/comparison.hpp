// Two ways to a figure side by side: measured and predicted, one machine and another, two files.
//
// From tables of points (query.hpp) to a plain result; views draw it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/query.hpp"

namespace foretrace::results {

struct ComparedPoint {
  std::vector<Cell> keys;  // by Comparison::keys
  double a = 0, b = 0;
  double ratio = 0;  // b / a
};

// Of one quantity, over all points that both sides have.
struct ComparedQuantity {
  std::string name;
  std::vector<ComparedPoint> points;
  double mean_ratio = 0;   // geometric
  double mean_error = 0;   // of |b / a - 1|
  std::size_t worst = 0;   // the point with the largest |ln(b / a)|
  double worst_error = 0;  // its b / a - 1
};

struct Comparison {
  std::vector<Column> keys;  // what makes two points the same
  std::vector<ComparedQuantity> quantities;
  std::size_t only_a = 0, only_b = 0;         // points that the other side lacks
  std::vector<std::string> notes_a, notes_b;  // Table::notes()
};

// Points are the same if program, ranks and all parameters that both sides know agree; also the
// machine, where both sides have several. Where each side is of one program, and another one than
// the other side, these are compared. `quantities` empty: time and phases that both have.
// Throws Error where nothing can be compared or it is not clear what with.
Comparison compare(const Table& a, const Table& b, const std::vector<std::string>& quantities);

// The ratios as a table of points: the keys, and for each quantity b / a.
Table ratios_of(const Comparison& comparison);

}  // namespace foretrace::results
