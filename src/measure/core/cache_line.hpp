// CacheLine: how long a cache line takes from one core to another, which is what
// messages within a host are made of.
//
// Virtual and shared machines have states: it depends on where the cores lie that
// they got, and changes by the minute. Two processes or threads that run at once:
// one times(), the other answers().
#pragma once

#include <atomic>
#include <cstdint>

namespace foretrace::measure {

// A time by more than this factor longer than another one is another state of the
// machine. It varies by 1.5 while all messages take as long as before.
inline constexpr double kBounceFactor = 2;

// Zero at first; in memory that both share.
class CacheLine {
 public:
  // Seconds one way, a low quantile of many; 0: nobody answered in 0.2 s. Ends the other's
  // answers.
  double times();
  // Until the other has its times; gives the core away when nothing comes for long.
  void answers();

 private:
  bool bounces_once(std::int64_t value, std::int64_t end);

  alignas(64) std::atomic<std::int64_t> there_{0};
  alignas(64) std::atomic<std::int64_t> back_{0};
};

// Between two cores that the system gives this process; 0: it may use only one.
double time_cache_line();

}  // namespace foretrace::measure
