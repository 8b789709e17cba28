#include "explain/path_stretches.hpp"

#include <optional>

namespace foretrace::explain {

std::vector<Stretch> path_stretches(const Run& run, const std::vector<Step>& path) {
  std::vector<Stretch> stretches;
  for (const Step& step : path) {
    const sim::Moment& to = run.graph[step.to];
    // The latest start of a collective belongs to no rank; the path leaves it at once.
    if (!to.rank.valid()) continue;
    std::optional<sim::Moment> from;
    if (step.from != sim::kNoMoment) from = run.graph[step.from];
    const bool passes = from && from->rank.valid() && from->rank != to.rank;
    const Time begin = !from ? Time() : passes ? to.at : from->at;
    if (stretches.empty() || stretches.back().rank != to.rank)
      stretches.push_back({to.rank, begin, to.at});
    stretches.back().to = to.at;
  }
  return stretches;
}

}  // namespace foretrace::explain
