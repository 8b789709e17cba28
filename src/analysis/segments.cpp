#include "analysis/segments.hpp"

#include <algorithm>
#include <utility>

#include "analysis/waiting.hpp"

namespace foretrace::analysis {

std::size_t StateTimes::find(const std::string& state) const {
  return static_cast<std::size_t>(std::find(states.begin(), states.end(), state) - states.begin());
}

StateTimes state_times(RunEvents& run) {
  StateTimes times;
  times.states.emplace_back(kComputeState);
  std::vector<std::size_t> state_of;  // by name; 0: it has been no call's
  const auto state = [&](trace::NameId name) {
    if (state_of.size() <= name) state_of.resize(name + std::size_t{1});
    if (state_of[name] == 0) {
      state_of[name] = times.states.size();
      times.states.push_back(run.names().at(name));
    }
    return state_of[name];
  };
  const auto add = [](std::vector<Time>& sums, std::size_t state, Time time) {
    if (sums.size() <= state) sums.resize(state + 1);
    sums[state] += time;
  };
  const bool measured = run.info().clock == trace::Clock::wall;
  WaitFinder waits(run.info().clock);
  for (int r = 0; r < run.ranks(); ++r) {
    std::vector<Time> time;
    std::vector<Time> wait;
    times.rank_time.push_back(read_rank(
        run, r,
        [&](const trace::Event& event) {
          if (measured) waits.take(event, run.comm(event), run.names().at(event.name));
        },
        [&](const trace::Event& event, const Segment& segment) {
          const std::size_t in = segment.compute ? 0 : state(event.name);
          add(time, in, segment.to - segment.from);
          if (!measured) add(wait, in, segment.wait);
        }));
    waits.end_rank();
    times.time.push_back(std::move(time));
    times.wait.push_back(std::move(wait));
  }
  if (measured)
    waits.finish([&](const Waited& waited) {
      add(times.wait[static_cast<std::size_t>(waited.rank.value)], state(waited.name), waited.wait);
    });
  for (auto* sums : {&times.time, &times.wait})
    for (std::vector<Time>& of_rank : *sums) of_rank.resize(times.states.size());
  return times;
}

}  // namespace foretrace::analysis
