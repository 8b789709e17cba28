#include "base/program_clock.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ticks.hpp"

namespace foretrace::program_clock {

namespace {

// Those that go on while a thread sleeps.
constexpr std::array kClocks{CLOCK_REALTIME,
                             CLOCK_MONOTONIC,
                             CLOCK_MONOTONIC_RAW,
                             CLOCK_REALTIME_COARSE,
                             CLOCK_MONOTONIC_COARSE,
                             CLOCK_BOOTTIME,
                             CLOCK_TAI};

std::int64_t read(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return ns_of(now);
}

struct State {
  void (*read)() = nullptr;                             // between watch() and stop()
  Shown shown = nullptr;                                // between start() and stop()
  std::array<std::int64_t, kClocks.size()> begin_ns{};  // what each showed at start()
  std::int64_t last_ns = 0;                             // shown since then
  bool over = false;                                    // after stop():
  std::array<std::int64_t, kClocks.size()> ahead_ns{};  // of the real one
};
// Of the thread that starts: a process has one rank.
thread_local State state;

std::optional<std::size_t> index_of(clockid_t clock) {
  for (std::size_t i = 0; i < kClocks.size(); ++i)
    if (kClocks[i] == clock) return i;
  return std::nullopt;
}

// Virtual time since the start in whole nanoseconds, where the calling thread is shown it.
std::optional<std::int64_t> passed() {
  if (!state.shown || Real::depth > 0) return std::nullopt;
  const Real real;
  const std::optional<Time> time = state.shown();
  // A thread may turn out to have waited for another one for less than it seemed.
  if (time) state.last_ns = std::max(state.last_ns, time->count_ps() / 1000);
  return time ? std::optional(state.last_ns) : std::nullopt;
}

void go_on_from(std::int64_t last_ns) {
  if (!state.shown) return;
  const Real real;
  for (std::size_t i = 0; i < kClocks.size(); ++i)
    state.ahead_ns[i] = state.begin_ns[i] + last_ns - read(kClocks[i]);
  state.shown = nullptr;
  state.over = true;
}

}  // namespace

void start(Shown shown) {
  const Real real;
  for (std::size_t i = 0; i < kClocks.size(); ++i) state.begin_ns[i] = read(kClocks[i]);
  state.last_ns = 0;
  state.over = false;
  state.shown = shown;
  ::pthread_atfork(nullptr, nullptr, [] { go_on_from(state.last_ns); });
}

void watch(void (*read)()) {
  state.read = read;
}

void stop(Time last) {
  state.read = nullptr;
  go_on_from(last.count_ps() / 1000);
}

void show(clockid_t clock, timespec& time) {
  if (Real::depth > 0) return;
  if (state.read) state.read();
  if (!state.shown && !state.over) return;
  const std::optional<std::size_t> index = index_of(clock);
  if (!index) return;
  if (state.over)
    time = to_timespec(ns_of(time) + state.ahead_ns[*index]);
  else if (const std::optional<std::int64_t> virtual_ns = passed())
    time = to_timespec(state.begin_ns[*index] + *virtual_ns);
}

bool is_virtual() {
  return (state.shown || state.over) && Real::depth == 0;
}

}  // namespace foretrace::program_clock
