#include "analysis/compare_groups.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "stats/summary.hpp"

namespace foretrace::analysis {
namespace {

std::vector<double> picoseconds(const std::vector<Time>& times) {
  std::vector<double> values;
  for (const Time time : times) values.push_back(static_cast<double>(time.count_ps()));
  return values;
}

// Runs in virtual time are the same each time, so one of them says it all.
bool is_exact(const RunGroup& runs) {
  return runs.size() == 1 && runs.front().times.info.clock == trace::Clock::virtual_;
}

void check_alike(const RunGroup& runs) {
  const trace::TraceInfo& first = runs.front().times.info;
  for (const GroupRun& run : runs) {
    const trace::TraceInfo& info = run.times.info;
    if (info.ranks != first.ranks)
      throw Error(run.path + ": expected a run of " + std::to_string(first.ranks) + " ranks as " +
                  runs.front().path + ", found " + std::to_string(info.ranks) +
                  "; runs of one side must be repetitions of each other");
    if (info.clock != first.clock)
      throw Error(run.path + ": expected times by the same clock as " + runs.front().path +
                  "; set predictions and measurements against each other, not on one side");
  }
}

// Names in order of first use: A's, then B's own.
template <class NamesOf>
std::vector<std::string> all_names(const GroupComparison& both, NamesOf names_of) {
  std::vector<std::string> names;
  for (const RunGroup* side : {&both.a, &both.b})
    for (const GroupRun& run : *side)
      for (const std::string& name : names_of(run))
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

// `value` of each run; where that is none of one of them, the side is not known.
template <class Value>
GroupSide side_of(const RunGroup& runs, Value value) {
  GroupSide side;
  for (const GroupRun& run : runs) {
    const std::optional<Time> time = value(run);
    if (!time) return {};
    side.runs.push_back(*time);
  }
  const std::vector<double> values = picoseconds(side.runs);
  side.mean = stats::mean(values);
  side.deviation = stats::standard_deviation(values);
  return side;
}

template <class Value>
GroupLine line_of(const GroupComparison& both, std::string name, WorldRank rank, Value value) {
  GroupLine line{std::move(name), rank, side_of(both.a, value), side_of(both.b, value), {}};
  if (line.known())
    line.intervals = stats::compare_means(picoseconds(line.a.runs), is_exact(both.a),
                                          picoseconds(line.b.runs), is_exact(both.b));
  return line;
}

std::optional<Time> time_in(const RunTimes& run, const std::string& state, std::size_t rank) {
  if (state != kComputeState && run.info.clock == trace::Clock::cpu) return std::nullopt;
  const std::size_t index = run.states.find(state);
  if (rank >= run.states.time.size() || index >= run.states.states.size()) return Time();
  return run.states.time[rank][index];
}

std::optional<Time> time_in(const RunTimes& run, const std::string& state) {
  std::optional<Time> sum = Time();
  for (std::size_t rank = 0; sum && rank < run.states.time.size(); ++rank) {
    const std::optional<Time> time = time_in(run, state, rank);
    if (!time) return std::nullopt;
    *sum += *time;
  }
  return sum;
}

Time time_in_phase(const GroupRun& run, const std::string& name) {
  const auto found = std::ranges::find(run.phases, name, &PhaseProfile::name);
  return found == run.phases.end() ? Time() : found->time;
}

void compare_states(GroupComparison& both, CompareLevel level) {
  const auto states = all_names(
      both, [](const GroupRun& run) -> const auto& { return run.times.states.states; });
  for (const std::string& state : states)
    both.by_state.push_back(line_of(
        both, state, WorldRank(), [&](const GroupRun& run) { return time_in(run.times, state); }));
  if (level != CompareLevel::ranks) return;
  const std::int32_t ranks =
      std::max(both.a.front().times.info.ranks, both.b.front().times.info.ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (const std::string& state : states) {
      GroupLine line = line_of(both, state, WorldRank(rank), [&](const GroupRun& run) {
        return time_in(run.times, state, static_cast<std::size_t>(rank));
      });
      if (line.shows()) both.by_rank.push_back(std::move(line));
    }
}

}  // namespace

bool GroupLine::shows() const {
  const auto takes = [](Time time) { return time != Time(); };
  return std::ranges::any_of(a.runs, takes) || std::ranges::any_of(b.runs, takes);
}

double GroupLine::ratio() const {
  if (a.mean == b.mean) return 1;
  return a.mean == 0 ? std::numeric_limits<double>::infinity() : b.mean / a.mean;
}

const std::vector<GroupLine>& GroupComparison::at(CompareLevel level) const {
  return level == CompareLevel::ranks    ? by_rank
         : level == CompareLevel::phases ? by_phase
                                         : by_state;
}

GroupRun group_run(const std::string& path, RunEvents run) {
  std::vector<PhaseProfile> phases = phase_profiles(run);
  return {path, run_times(std::move(run)), std::move(phases)};
}

GroupComparison compare_groups(RunGroup a, RunGroup b, CompareLevel level) {
  check_alike(a);
  check_alike(b);
  GroupComparison both;
  both.a = std::move(a);
  both.b = std::move(b);
  both.time = line_of(both, "time", WorldRank(), [](const GroupRun& run) -> std::optional<Time> {
    const auto& times = run.times.states.rank_time;
    return times.empty() ? Time() : *std::ranges::max_element(times);
  });
  both.wait =
      line_of(both, "wait time", WorldRank(), [](const GroupRun& run) { return run.times.wait; });
  compare_states(both, level);
  both.serial_time = both.by_state.front();
  both.serial_time.name = "serial time";
  const auto phase_names = all_names(both, [](const GroupRun& run) {
    std::vector<std::string> names;
    for (const PhaseProfile& phase : run.phases) names.push_back(phase.name);
    return names;
  });
  for (const std::string& name : phase_names)
    both.by_phase.push_back(line_of(
        both, name, WorldRank(),
        [&](const GroupRun& run) -> std::optional<Time> { return time_in_phase(run, name); }));
  return both;
}

}  // namespace foretrace::analysis
