#include "base/thread_usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/ticks.hpp"

namespace foretrace {
namespace {

std::int64_t gave_away() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

std::int64_t queued_ns() {
  // Opening, reading and closing are places where a thread may be cancelled; this is none.
  int cancels = 0;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
  const int error = errno;
  long long queued = -1;
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char text[100] = {};
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    if (length <= 0 || std::sscanf(text, "%*d %lld", &queued) != 1) queued = -1;
  }
  errno = error;
  ::pthread_setcancelstate(cancels, nullptr);
  return queued;
}

ThreadUsage ask_for_usage() {
  return {.queued = queued_ns(),
          .others = now_on(CLOCK_PROCESS_CPUTIME_ID) - now_on(CLOCK_THREAD_CPUTIME_ID),
          .gave_away = gave_away()};
}

std::optional<ThreadsUsage> usage_of_threads() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), ::closedir);
  if (!folder) return std::nullopt;
  ThreadsUsage usage;
  Time queued_of_most;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
    if (!file) continue;  // it has ended meanwhile
    long long computed = 0, queued = 0;
    if (std::fscanf(file.get(), "%lld %lld", &computed, &queued) != 2) return std::nullopt;
    usage.computed += Time::ns(computed);
    usage.queued_beside += Time::ns(queued);
    if (Time::ns(computed) < usage.most) continue;
    usage.most = Time::ns(computed);
    queued_of_most = Time::ns(queued);
  }
  usage.queued_beside -= queued_of_most;
  return usage;
}

Waits waits_between(const ThreadUsage& before, const ThreadUsage& now, Time without) {
  if (now.queued < 0 || before.queued < 0) return {};
  // A core that was taken from it, by a hypervisor even, is no wait.
  if (now.gave_away == before.gave_away) return {};
  const Time waited = without - Time::ns(now.queued - before.queued);
  if (waited < kLeastWait) return {};
  if (Time::ns(now.others - before.others) >= Time::ps(waited.count_ps() / 10))
    return {.for_threads = waited, .for_others = Time()};
  return {.for_threads = Time(), .for_others = waited};
}

}  // namespace foretrace
