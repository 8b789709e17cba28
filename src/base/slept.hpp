// What a thread of the program has slept. A program sleeps in place of computing, or until
// something is there; CPU time knows nothing of it. sleep_calls.cpp and timed_waits.cpp stand in
// for the C library's functions, in the libraries that they are part of, and let the thread sleep
// as it asked for.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/ticks.hpp"
#include "base/time.hpp"

namespace foretrace {

struct Slept {
  Time asked;   // less what a signal cut off
  Time passed;  // until it went on
};
inline thread_local Slept slept_so_far;
// Of the calling thread since its beginning: what it asked for, and how often it came back from
// MPI.
inline thread_local Time slept_ever;
inline thread_local std::uint64_t times_in_mpi = 0;
// The same of all threads, nearly: those that come back at once may count as one.
inline std::atomic<std::uint64_t> all_times_in_mpi{0};
inline void note_back_from_mpi() {
  ++times_in_mpi;
  all_times_in_mpi.store(all_times_in_mpi.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
}
// And how long it has waited, really, for other threads of its process, as far as is known.
inline thread_local Time waited_for_threads;

// The calling thread slept, or waited for something that takes a known time.
inline void note_slept(const Slept& slept) {
  slept_so_far.asked += slept.asked;
  slept_so_far.passed += slept.passed;
  slept_ever += slept.asked;
}

// It waited so long (really) for another thread of its process, and goes on so much later by that.
inline void note_held_up(Time held_up, Time waited) {
  slept_so_far.asked += held_up;
  slept_so_far.passed += waited;
  waited_for_threads += waited;
}

// What the calling thread has computed since its beginning, what it slept included.
inline Time work_of_thread() {
  return Time::ns(now_on(CLOCK_THREAD_CPUTIME_ID)) + slept_ever;
}

// By the calling thread since it was asked last.
inline Slept take_slept() {
  return std::exchange(slept_so_far, {});
}

}  // namespace foretrace
