#include "explain/domino.hpp"

#include <algorithm>
#include <unordered_map>

namespace foretrace::explain {

using sim::MomentId;

namespace {

struct Best {
  std::uint32_t operation = 0;
  MomentId leave = sim::kNoMoment;
  Time time;
};

}  // namespace

DominoPath find_domino_path(const Run& run, const std::vector<Wait>& waits,
                            const TimesWithout& times) {
  // By rank, for its calls up to each of its waits: the one that is best to take away;
  // of equal ones the last, which is nearest to where the path comes from.
  std::vector<std::vector<Best>> best(run.calls.size());
  std::unordered_map<MomentId, MomentId> causes;
  for (const Wait& wait : waits) {
    const sim::Moment& moment = run.graph[wait.leave];
    auto& list = best[static_cast<std::size_t>(moment.rank.value)];
    Best here{moment.operation, wait.leave, times[wait.leave]};
    if (!list.empty() && list.back().time < here.time)
      here = {moment.operation, list.back().leave, list.back().time};
    list.push_back(here);
    causes[wait.leave] = wait.cause;
  }
  const auto best_up_to = [&](WorldRank rank, std::uint32_t operation) -> const Best* {
    const auto& list = best[static_cast<std::size_t>(rank.value)];
    const auto after = std::ranges::upper_bound(list, operation, {}, &Best::operation);
    return after == list.begin() ? nullptr : &*std::prev(after);
  };
  DominoPath shortest;
  shortest.time = run.time;
  for (std::size_t r = 0; r < run.calls.size(); ++r) {
    DominoPath path;
    path.time = run.time;
    WorldRank rank(static_cast<std::int32_t>(r));
    std::uint32_t operation = UINT32_MAX;
    while (const Best* found = best_up_to(rank, operation)) {
      if (found->time > path.time || found->time == run.time ||
          std::ranges::find(path.moments, found->leave) != path.moments.end())
        break;
      path.time = found->time;
      path.moments.push_back(found->leave);
      const MomentId cause = causes.at(found->leave);
      if (cause == sim::kNoMoment) break;
      path.moments.push_back(cause);
      rank = run.graph[cause].rank;
      operation = run.graph[cause].operation;
    }
    if (path.time < shortest.time) shortest = path;
  }
  return shortest;
}

}  // namespace foretrace::explain
