#include "architecture/watchdog.hpp"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

namespace foretrace::architecture {
namespace {

constexpr std::chrono::milliseconds kLook{20};

double processor_seconds(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

bool finishes_in_time(std::function<void()> work, const std::atomic<std::uint64_t>& progress,
                      double patience) {
  std::packaged_task<void()> task(std::move(work));
  std::future<void> done = task.get_future();
  std::thread thread(std::move(task));
  clockid_t clock{};
  const bool has_clock = pthread_getcpuclockid(thread.native_handle(), &clock) == 0;
  const auto used = [&] { return has_clock ? processor_seconds(clock) : 0.0; };
  std::uint64_t seen = progress.load();
  double used_then = used();
  std::int64_t looks = 0;  // looks, not seconds: a process that was stopped has not waited
  while (done.wait_for(kLook) != std::future_status::ready) {
    ++looks;
    if (const std::uint64_t now = progress.load(); now != seen) {
      seen = now;
      used_then = used();
      looks = 0;
    }
    const double slept = static_cast<double>(looks) * std::chrono::duration<double>(kLook).count();
    if (used() - used_then < patience && slept < 10 * patience) continue;
    thread.detach();
    return false;
  }
  thread.join();
  done.get();
  return true;
}

}  // namespace foretrace::architecture
