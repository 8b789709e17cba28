// Watchdog: work that may never return, such as a plug-in's, in a thread of its own.
//
// It knows nothing of entities: who runs work says by a counter that it gets on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace foretrace::architecture {

// Runs `work` and waits for it; true: it is done (what it throws is thrown on). False: `progress`
// stood still while the thread used `patience` seconds of processor time, or ten times as long
// where it sleeps. The thread then goes on until the process ends, so what `work` uses must be
// kept by `work` itself. Processor time, since a busy machine must not make a run fail.
bool finishes_in_time(std::function<void()> work, const std::atomic<std::uint64_t>& progress,
                      double patience);

}  // namespace foretrace::architecture
