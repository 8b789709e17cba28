// What a thread of the program has slept. A program sleeps in place of computing, or until
// something is there; CPU time knows nothing of it. sleep_calls.cpp stands in for the C library's
// functions, in the libraries that it is part of, and lets the thread sleep as it asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace foretrace {

inline thread_local std::int64_t slept_ns = 0;

inline void add_slept(std::int64_t ns) {
  slept_ns += std::max<std::int64_t>(ns, 0);
}

// By the calling thread since it was asked last: as long as it asked for, less what a signal cut
// off.
inline Time take_slept() {
  return Time::ns(std::exchange(slept_ns, 0));
}

}  // namespace foretrace
