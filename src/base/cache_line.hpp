// CacheLine: how long a cache line takes from one core to another, which is what
// messages within a host are made of.
//
// Virtual and shared machines have states: it depends on where the cores lie that
// they got, and changes by the minute. Two processes or threads that run at once:
// one times(), the other answers().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace foretrace {

// A time by more than this factor longer than another one is another state of the
// machine. It varies by 1.5 while all messages take as long as before.
inline constexpr double kBounceFactor = 2;

// Whether times of a cache line, in seconds, are of one state; one that is not known (0) is of any.
inline bool is_same_state(double a, double b) {
  return a <= 0 || b <= 0 || std::max(a, b) <= kBounceFactor * std::min(a, b);
}

// Zero at first; in memory that both share. May be timed again at once.
class CacheLine {
 public:
  // Seconds one way, a low quantile of many; 0: nobody answered in 0.2 s. Ends the other's
  // answers. Waits at first until the other has seen the end of an earlier timing.
  double times();
  // The same from so few that it takes some ten microseconds: tells states apart, no more.
  double times_shortly();
  // Until the other has its times; gives the core away when nothing comes for long.
  void answers();

 private:
  double times(int batches, int round_trips);
  bool bounces_once(std::int64_t value, std::int64_t end);

  alignas(64) std::atomic<std::int64_t> there_{0};  // counts up; negative: the end
  alignas(64) std::atomic<std::int64_t> back_{0};   // what the other has seen of it
};

// Between two cores that the system gives this process; 0: it may use only one.
double time_cache_line();

// What it took between two ranks of a run, in seconds; 0: not known. Zero at first, in a file that
// both map.
struct LinesOfRun {
  CacheLine line;
  std::int64_t token = 0;  // of the one who times: the other sees the same file
  double at_start = 0;
  double at_end = 0;
};
struct UnmapLines {
  void operator()(LinesOfRun* lines) const;
};
using MappedLines = std::unique_ptr<LinesOfRun, UnmapLines>;
// nullptr: the file is not there, or not whole.
MappedLines map_lines(const std::string& file);

}  // namespace foretrace
