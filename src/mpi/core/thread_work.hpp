// What one thread of the program has computed since its last call.
#pragma once

#include <utility>

#include "base/cpu_clock.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"
#include "base/time.hpp"
#include "base/wait_meter.hpp"

namespace foretrace::mpi {

struct ThreadWork {
  CpuClock cpu;
  Time compute;      // since its last posting
  double steps = 0;  // announced or counted since then
  // Where several threads call (Line::several_): the rank's clock when its last call returned.
  Time since;
  bool has_called = false;  // not only said what it computes
  Time slept_between;       // between calls, as asked for: since the beginning,
  Time slept_before{};      // and all that the thread slept until its last call

  WaitMeter waits{};

  // By the thread itself, where CPU time is measured: adds up what it computed and slept, and if
  // `counts_waits` what it waited.
  void stop(bool counts_waits) {
    const Slept slept = take_slept();
    compute += cpu.stop() + slept.asked;
    compute += waits.take(cpu, slept.passed, counts_waits);
  }
  void resume(bool measures_cpu) {
    slept_before = slept_ever;
    if (!measures_cpu) return;
    cpu.resume();
    take_slept();
  }
  void note_sleep() { slept_between += slept_ever - std::exchange(slept_before, slept_ever); }
};

}  // namespace foretrace::mpi
