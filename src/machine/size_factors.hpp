// What a function takes as a multiple of its equations' time, known at some sizes.
#pragma once

#include <span>
#include <vector>

#include "base/ids.hpp"

namespace foretrace::machine {

struct SizeFactor {
  Bytes bytes;
  double factor = 1;  // above 0
};

// Between two sizes (ascending, distinct) the factor changes evenly with the size's logarithm;
// beyond the first and the last it is theirs. 1 where none is known.
double factor_at(std::span<const SizeFactor> known, Bytes bytes);

// What was measured with one number of ranks, as multiples of the equations' times.
struct Correction {
  int ranks = 0;
  std::vector<SizeFactor> factors;  // by bytes, ascending, distinct; at least one
};

// The same for `ranks` >= 1, where `known` (by ranks, ascending, distinct) are several: the
// factor's logarithm changes evenly with those of the size and of the ranks, so that a time which
// is a power of them is met. 1 where none is known.
double factor_at(std::span<const Correction> known, int ranks, Bytes bytes);

}  // namespace foretrace::machine
