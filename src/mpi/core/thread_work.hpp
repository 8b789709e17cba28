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

  Time slept_since{};  // its last call, really

  // By the thread itself, where CPU time is measured: adds up what it computed and slept.
  void stop() {
    const Slept slept = take_slept();
    compute += cpu.stop() + slept.asked;
    slept_since += slept.passed;
  }
  // It calls: what it waited counts, too, if `counts_waits`.
  void end(bool counts_waits) {
    stop();
    compute += waits.take(cpu, std::exchange(slept_since, Time()), counts_waits);
  }
  // That, as far as it can be told before.
  Time waited(bool counts_waits) const {
    return counts_waits ? waits.since(cpu, slept_since) : Time();
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
