// What the computer's clocks show to a program whose time is virtual. clock_calls.cpp stands in for
// the C library's functions that read them (gettimeofday, clock_gettime, ...; also std::chrono,
// Fortran's system_clock and Python's time come there), in the libraries that it is part of.
//
// Virtual is the time of the thread that starts the clock, outside of its MPI calls. Other threads,
// and what the MPI library itself reads, are shown real time; so are clocks of CPU time.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace foretrace::program_clock {

// Virtual time since start(), for the thread that started; nothing: it is shown the real time.
using Shown = std::optional<Time> (*)();

// From now on the calling thread is shown what `shown` says, counted from what the clocks show now.
// A child of the process is shown real time, from what its parent saw last.
void start(Shown shown);
// From now on `read` is called whenever the calling thread reads one of these clocks, which go on
// in real time.
void watch(void (*read)());
// The clocks go on in real time, from so much since start(); nobody watches them.
void stop(Time last);

// As long as one is there, the thread that makes it is shown the real time.
class Real {
 public:
  Real() { ++depth; }
  ~Real() { --depth; }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;

  inline static thread_local int depth = 0;
};

// For the functions that stand in: turns what the real clock showed into what the program sees.
void show(clockid_t clock, timespec& time);
// Whether that may be another time than the real one, for the calling thread.
bool is_virtual();

}  // namespace foretrace::program_clock
