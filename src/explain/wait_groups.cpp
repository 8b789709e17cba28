#include "explain/wait_groups.hpp"

#include <algorithm>
#include <set>

namespace foretrace::explain {
namespace {

// Time by whom it is due to.
using Due = std::map<std::tuple<PlaceId, std::int32_t, bool>, Time>;

const Due::value_type* most_of(const Due& due) {
  const auto most = std::ranges::max_element(
      due, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == due.end() ? nullptr : &*most;
}

struct WaitSum {
  WaitGroup what;
  std::set<std::int32_t> ranks;
  Due late;
  Due blamed;
};

}  // namespace

std::vector<WaitGroup> group_waits(const Run& run, const std::vector<Wait>& waits,
                                   const Places& places) {
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
    group.late[{run.call_of(cause).place, cause.rank.value, false}] += wait.lateness;
    for (const Blame& part : blame(run, wait.cause, run.graph[moment.enter].at)) {
      const auto& calls = run.calls[static_cast<std::size_t>(part.rank.value)];
      group.blamed[{calls[part.operation].place, part.rank.value, part.computing}] += part.time;
    }
  }
  std::vector<WaitGroup> list;
  for (auto& [key, group] : groups) {
    WaitGroup& what = group.what;
    for (const std::int32_t rank : group.ranks) what.ranks.emplace_back(rank);
    if (const auto* late = most_of(group.late)) {
      what.late = places.describe(std::get<0>(late->first));
      what.late_rank = WorldRank(std::get<1>(late->first));
      what.late_time = late->second;
    }
    if (const auto* blamed = most_of(group.blamed)) {
      what.blamed = places.describe(std::get<0>(blamed->first));
      what.blamed_rank = WorldRank(std::get<1>(blamed->first));
      what.blamed_computes = std::get<2>(blamed->first);
      what.blamed_time = blamed->second;
    }
    list.push_back(std::move(what));
  }
  std::ranges::stable_sort(list,
                           [](const WaitGroup& a, const WaitGroup& b) { return a.time > b.time; });
  return list;
}

}  // namespace foretrace::explain
