// What passed, really, while the one thread that calls MPI did, since somebody has asked for it:
// other threads compute meanwhile, or wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ticks.hpp"
#include "base/time.hpp"

namespace foretrace {

class InCalls {
 public:
  // By the thread that calls.
  void begin() {
    const std::int64_t state = state_;
    if (is_asked_.load(std::memory_order_relaxed) && !is_in_call(state))
      state_ = 2 * (state / 2 - monotonic_ns()) + 1;
  }
  void end() {
    const std::int64_t state = state_;
    if (!is_in_call(state)) return;
    const std::int64_t passed_ns = base(state) + monotonic_ns();
    before_ns_ = passed_ns;
    state_ = 2 * passed_ns;
  }
  void ask() { is_asked_.store(!is_over_, std::memory_order_relaxed); }

  // From now on several threads call.
  void stop() {
    is_over_ = true;
    is_asked_ = false;
  }

  // By any thread; what has passed of the call at hand included, or without it.
  Time passed() const {
    const std::int64_t state = state_;
    if (is_over_ || !is_in_call(state)) return before();
    return Time::ns(base(state) + monotonic_ns());
  }
  Time before() const { return Time::ns(before_ns_); }

 private:
  // Twice the nanoseconds that have passed; in a call less its beginning, and 1 more.
  static bool is_in_call(std::int64_t state) { return state % 2 != 0; }
  static std::int64_t base(std::int64_t state) { return (state - 1) / 2; }

  std::atomic<bool> is_asked_ = false;
  std::atomic<bool> is_over_ = false;
  std::atomic<std::int64_t> state_ = 0;
  std::atomic<std::int64_t> before_ns_ = 0;
};

}  // namespace foretrace
