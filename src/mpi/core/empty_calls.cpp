// What an interval between two calls shows in which the program does nothing: the way out of the
// library and into it again. Measured at the program's start, and left out of what it computes.
#include <algorithm>
#include <array>
#include <utility>

#include "base/cpu_clock.hpp"
#include "base/slept.hpp"
#include "base/time.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/line.hpp"

namespace foretrace::mpi {

// As every call of the program does it, from the place of the call at hand.
__attribute__((noinline)) static Time call_nothing() {
  const Entry entry(current_function(), line.call_at_hand().point);
  return line.interval_of_nothing();
}

Time Line::interval_of_nothing() {
  at_hand_.said = true;
  return std::exchange(work_->compute, Time());
}

// The way out of one call and into the next is no computation. The least of those that are usual:
// others were disturbed. What a wait adds, in colder caches, is left in.
void Line::leave_out_calls() {
  const CallAtHand call = at_hand_;
  const std::uint64_t calls = calls_;
  const auto times = times_in_mpi;
  const CallState state = save_call();
  Time (*volatile nothing)() = call_nothing;
  nothing();
  std::array<Time, 256> shown;
  for (Time& each : shown) each = nothing();
  const auto usual = shown.begin() + shown.size() / 4;
  std::ranges::nth_element(shown, usual);
  CpuClock::leave_out(*usual);
  restore_call(state);
  at_hand_ = call;
  calls_ = calls;
  times_in_mpi = times;
  measuring_ = false;
}

}  // namespace foretrace::mpi
