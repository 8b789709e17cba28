// Lines that meet at kinks: continuous piecewise linear fits of every curve, and
// where the kinks are best put.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/piece_search.hpp"

namespace foretrace::stats {

// The lines of kinks.size() + 1 pieces of the rows begin..end-1, continuous at the
// kinks (ascending x), by weighted least squares over the columns 1 and ramp().
struct ContinuousFit {
  std::vector<Lines> pieces;
  double squares = 0;
};
ContinuousFit fit_continuous(const Cells& cells, std::size_t begin, std::size_t end,
                             const std::vector<double>& kinks);

// Moves each kink in turn to where the squares are least, at most `rows` rows away from where it
// is and leaving a row between kinks, until none moves.
std::vector<double> place_kinks(const Cells& cells, std::size_t begin, std::size_t end,
                                std::vector<double> kinks, std::size_t rows);

}  // namespace foretrace::stats
