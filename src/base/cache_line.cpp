#include "base/cache_line.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace foretrace {
namespace {

std::int64_t clock_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

void CacheLine::answers() {
  std::int64_t seen = back_.load(std::memory_order_relaxed);
  for (std::int64_t since = clock_ns();;) {
    const std::int64_t value = there_.load(std::memory_order_acquire);
    if (value == seen) {
      if (clock_ns() - since > 50'000) sched_yield();
      continue;
    }
    seen = value;
    back_.store(value, std::memory_order_release);
    if (value < 0) return;
    since = clock_ns();
  }
}

// One round trip; false: the other did not run until `end`. Those that share a core must give it
// to each other.
bool CacheLine::bounces_once(std::int64_t value, std::int64_t end) {
  there_.store(value, std::memory_order_release);
  for (int spins = 0; back_.load(std::memory_order_acquire) != value; ++spins) {
    if (spins < 10'000) continue;
    if (clock_ns() > end) return false;
    sched_yield();
  }
  return true;
}

double CacheLine::times() {
  return times(60, 100);
}

double CacheLine::times_shortly() {
  return times(4, 25);
}

double CacheLine::times(int batches, int round_trips) {
  constexpr std::int64_t kLongest = 200'000'000;
  // Who has not seen yet that the last timing is over would answer for this one in its place, and
  // wait for ever in the next.
  while (back_.load(std::memory_order_acquire) != there_.load(std::memory_order_relaxed))
    sched_yield();
  const std::int64_t end = clock_ns() + kLongest;
  std::vector<double> seconds;
  std::int64_t next = 1 - there_.load(std::memory_order_relaxed);
  for (bool in_time = true; in_time && std::ssize(seconds) < batches;) {
    const std::int64_t begin = clock_ns();
    for (int i = 0; in_time && i < round_trips; ++i) in_time = bounces_once(next++, end);
    if (in_time)
      seconds.push_back(1e-9 * static_cast<double>(clock_ns() - begin) / (2 * round_trips));
  }
  there_.store(-next, std::memory_order_release);
  if (seconds.empty()) return 0;
  // Low, because one that is switched out only makes it longer.
  const auto low = seconds.begin() + std::ssize(seconds) / 10;
  std::ranges::nth_element(seconds, low);
  return *low;
}

double time_cache_line() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) return 0;
  // On a busy machine the other thread may have no core for longer than one try takes.
  constexpr int kTries = 5;
  double seconds = 0;
  for (int tries = 0; seconds == 0 && tries < kTries; ++tries) {
    CacheLine line;
    std::jthread other([&line] { line.answers(); });
    seconds = line.times();
  }
  return seconds;
}

void UnmapLines::operator()(LinesOfRun* lines) const {
  ::munmap(lines, sizeof *lines);
}

MappedLines map_lines(const std::string& file) {
  const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return nullptr;
  struct stat facts {};
  void* memory = MAP_FAILED;
  if (::fstat(opened, &facts) == 0 && facts.st_size >= static_cast<off_t>(sizeof(LinesOfRun)))
    memory = ::mmap(nullptr, sizeof(LinesOfRun), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  ::close(opened);
  return MappedLines(memory == MAP_FAILED ? nullptr : static_cast<LinesOfRun*>(memory));
}

}  // namespace foretrace
