// What a thread of the program has slept. A program sleeps in place of computing, or until
// something is there; CPU time knows nothing of it. sleep_calls.cpp stands in for the C library's
// functions, in the libraries that it is part of, and lets the thread sleep as it asked for.
#pragma once

#include <utility>

#include "base/time.hpp"

namespace foretrace {

struct Slept {
  Time asked;   // less what a signal cut off
  Time passed;  // until it went on
};
inline thread_local Slept slept_so_far;

// By the calling thread since it was asked last.
inline Slept take_slept() {
  return std::exchange(slept_so_far, {});
}

}  // namespace foretrace
