// What a thread of the program waited between its calls of MPI, by other means than MPI and sleep.
#pragma once

#include <algorithm>

#include "base/cpu_clock.hpp"
#include "base/time.hpp"

namespace foretrace {

class WaitMeter {
 public:
  // Since the last take(), of which the thread slept for `slept`: what it waited for files or other
  // processes. Less than kLeastWait is taken for how late sleep ends.
  Time since(const CpuClock& cpu, Time slept) const { return waits(cpu, slept).for_others; }

  // The same, and begins anew. `counts`: such waits are part of the prediction; if not, the result
  // is zero.
  Time take(const CpuClock& cpu, Time slept, bool counts) {
    const Waits found = waits(cpu, slept);
    taken_ = cpu.waits();
    left_out_ += found.for_threads + (counts ? Time() : found.for_others);
    if (!counts) return Time();
    counted_ += found.for_others;
    return found.for_others;
  }

  // Since the beginning: what take() said, and what it left out, with waits for other threads.
  Time counted() const { return counted_; }
  Time left_out() const { return left_out_; }

 private:
  // Sleep beside threads that compute is sleep all the same.
  Waits waits(const CpuClock& cpu, Time slept) const {
    const auto beyond = [](Time wait, Time without) {
      return wait - without < kLeastWait ? Time() : wait - without;
    };
    const Time others = cpu.waits().for_others - taken_.for_others;
    const Time threads = cpu.waits().for_threads - taken_.for_threads;
    return {beyond(threads, std::max(slept - others, Time())), beyond(others, slept)};
  }

  Waits taken_;
  Time counted_, left_out_;
};

}  // namespace foretrace
