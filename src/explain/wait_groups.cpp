#include "explain/wait_groups.hpp"

#include <algorithm>
#include <set>

namespace foretrace::explain {
namespace {

struct WaitSum {
  WaitGroup what;
  std::set<std::int32_t> ranks;
  std::map<std::pair<PlaceId, std::int32_t>, Time> late;  // who was, and where it called
};

}  // namespace

std::vector<WaitGroup> group_waits(const Run& run, const std::vector<Wait>& waits,
                                   const DelayCosts& delays, const Places& places) {
  std::map<std::pair<PlaceId, WaitKind>, WaitSum> groups;
  const auto add = [&](const sim::Moment& moment, WaitKind kind, Time time) -> WaitSum& {
    const PlaceId place = run.call_of(moment).place;
    WaitSum& group = groups[{place, kind}];
    group.what.kind = kind;
    if (group.what.count == 0) group.what.place = places.describe(place);
    ++group.what.count;
    group.what.time += time;
    group.what.longest = std::max(group.what.longest, time);
    group.ranks.insert(moment.rank.value);
    return group;
  };
  for (const Wait& wait : waits) {
    const sim::Moment& moment = run.graph[wait.leave];
    if (wait.completion > Time()) {
      add(moment, completion_kind(run.call_of(moment)), wait.completion);
      if (wait.completion == wait.whole()) continue;
    }
    const Time rest = wait.whole() - wait.completion;
    const Time contention = std::min(wait.contention, rest);
    if (contention > Time()) {
      add(moment, WaitKind::contention, contention);
      if (contention == rest) continue;
    }
    WaitSum& group = add(moment, wait.kind, rest - contention);
    if (wait.cause == sim::kNoMoment) continue;
    const sim::Moment& cause = run.graph[wait.cause];
    group.late[{run.call_of(cause).place, cause.rank.value}] += wait.lateness;
  }
  std::vector<WaitGroup> list;
  for (auto& [key, group] : groups) {
    WaitGroup& what = group.what;
    for (const std::int32_t rank : group.ranks) what.ranks.emplace_back(rank);
    const auto late = std::ranges::max_element(
        group.late, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (late != group.late.end()) {
      what.late = places.describe(late->first.first);
      what.late_rank = WorldRank(late->first.second);
      what.late_time = late->second;
    }
    if (const auto found = delays.causes.find(key); found != delays.causes.end()) {
      const DelayCause& cause = found->second;
      what.blamed = places.describe(cause.place);
      what.blamed_rank = cause.rank;
      what.blamed_kind = cause.kind;
      what.blamed_time = Time::from_seconds(cause.seconds);
    }
    list.push_back(std::move(what));
  }
  std::ranges::stable_sort(list,
                           [](const WaitGroup& a, const WaitGroup& b) { return a.time > b.time; });
  return list;
}

}  // namespace foretrace::explain
