// What the kernel says of the calling thread, and how long that was without a core by it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace foretrace {

// Nanoseconds since the beginning of the thread, or of its process.
struct ThreadUsage {
  std::int64_t queued = -1;    // the thread waited for a core; -1: the kernel does not say
  std::int64_t others = 0;     // other threads of the process computed
  std::int64_t gave_away = 0;  // how often the thread left its core by itself
};

// Takes some microseconds.
ThreadUsage ask_for_usage();
// ThreadUsage::queued alone.
std::int64_t queued_ns();

// Of the threads of this process that are there: what they computed, what the one that computed
// most did, and how long the others waited for a core. Nothing: the kernel does not say.
struct ThreadsUsage {
  Time computed;
  Time most;
  Time queued_beside;
};
std::optional<ThreadsUsage> usage_of_threads();

// How long a thread did without a core, though one was free: it slept, or waited.
struct Waits {
  Time for_threads;  // of its process, which computed for a tenth of it: they may lack cores
  Time for_others;   // files, other processes; or it slept
};

// Less than this counts as nothing.
constexpr Time kLeastWait = Time::ns(100'000);

// Of a thread that was without a core for `without` between the two.
Waits waits_between(const ThreadUsage& before, const ThreadUsage& now, Time without);

}  // namespace foretrace
