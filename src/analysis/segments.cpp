#include "analysis/segments.hpp"

#include <algorithm>

namespace foretrace::analysis {

std::size_t StateTimes::find(const std::string& state) const {
  return static_cast<std::size_t>(std::find(states.begin(), states.end(), state) - states.begin());
}

StateTimes state_times(const trace::Trace& trace) {
  // The names that occur as calls, numbered in the order of the trace's table;
  // the table also holds the phases' names.
  std::vector<bool> called(trace.names.size(), false);
  for (const auto& events : trace.ranks)
    for (const trace::Event& event : events)
      if (is_timed_call(event)) called.at(event.name) = true;

  StateTimes times;
  times.states.push_back(kComputeState);
  std::vector<std::size_t> state_of(trace.names.size(), 0);
  for (std::size_t name = 0; name < trace.names.size(); ++name) {
    if (!called[name]) continue;
    state_of[name] = times.states.size();
    times.states.push_back(trace.names[name]);
  }

  for (const auto& events : trace.ranks) {
    std::vector<Time> time(times.states.size());
    std::vector<Time> wait(times.states.size());
    const Time end = visit_segments(events, [&](const Segment& segment) {
      const std::size_t state = segment.compute ? 0 : state_of[events[segment.event].name];
      time[state] += segment.to - segment.from;
      wait[state] += segment.wait;
    });
    times.rank_time.push_back(end);
    times.time.push_back(std::move(time));
    times.wait.push_back(std::move(wait));
  }
  return times;
}

}  // namespace foretrace::analysis
