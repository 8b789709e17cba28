// For tests of times: microseconds as data sheets print them.
#pragma once

#include <cmath>

#include "base/time.hpp"

namespace foretrace::machine {

inline Time us(double microseconds) {
  return Time::ns(std::llround(microseconds * 1000));
}

}  // namespace foretrace::machine
