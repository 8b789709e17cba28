// What something takes, known at some sizes.
#pragma once

#include <span>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::machine {

struct SizeTime {
  Bytes bytes;  // above 0
  Time time;    // not negative
};

// Between two sizes (ascending, distinct) a straight line; up to the first one each byte takes what
// it does there, beyond the last all take its time. Nothing where none is known.
Time time_at(std::span<const SizeTime> known, Bytes bytes);

}  // namespace foretrace::machine
