#include "measure/experiments/clock.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "stats/summary.hpp"

namespace foretrace::measure {

long context_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

TimerFacts examine_timer() {
  constexpr int kReadings = 20'000;
  std::vector<double> steps;
  steps.reserve(kReadings);
  double smallest = 1;
  std::int64_t before = now_ns();
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t after = now_ns();
    const double step = static_cast<double>(after - before) * 1e-9;
    if (step > 0) smallest = std::min(smallest, step);
    steps.push_back(step);
    before = after;
  }
  // Readings take longer than the clock's own step: of three in a row the
  // differences differ by as little as that step.
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double change =
        steps[i] > steps[i - 1] ? steps[i] - steps[i - 1] : steps[i - 1] - steps[i];
    if (change > 0.5e-9) smallest = std::min(smallest, change);
  }
  return {smallest, stats::median(steps)};
}

}  // namespace foretrace::measure
