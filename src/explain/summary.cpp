#include "explain/summary.hpp"

#include <algorithm>

#include "explain/what_if.hpp"

namespace foretrace::explain {
namespace {

template <class Key, class One>
std::vector<One> sorted(const std::map<Key, One>& shares) {
  std::vector<One> list;
  for (const auto& [key, share] : shares) list.push_back(share);
  std::ranges::stable_sort(
      list, [](const One& a, const One& b) { return a.parts.sum() > b.parts.sum(); });
  return list;
}

}  // namespace

PathSummary summarise_path(const Run& run, const Places& places) {
  PathSummary path;
  std::map<PlaceId, Share> by_place;
  std::map<std::int32_t, Share> by_rank;
  std::map<PhaseId, Share> by_phase;
  std::map<std::string, Time> by_state;
  std::map<std::pair<PlaceId, PlaceId>, Passage> passages;
  for (const Step& step : critical_path(run)) {
    path.parts += step.parts;
    const sim::Moment& to = run.graph[step.call];
    const bool passes = step.kind == sim::LinkKind::message || step.kind == sim::LinkKind::answer;
    if (passes) ++path.messages;
    if (!to.rank.valid()) continue;
    const Call& call = run.call_of(to);
    Share& here = by_place[call.place];
    if (here.place.function.empty()) here.place = places.describe(call.place);
    here.parts += step.parts;
    if (passes) {
      const PlaceId from = run.call_of(run.graph[step.from]).place;
      Passage& passage = passages[{from, call.place}];
      if (passage.count++ == 0) passage.from = places.describe(from), passage.to = here.place;
      passage.parts += step.parts;
    }
    Share& rank = by_rank[to.rank.value];
    rank.rank = to.rank;
    rank.parts += step.parts;
    Share& phase = by_phase[run.phase_of(call)];
    phase.place.phase = run.phases[run.phase_of(call)];
    phase.parts += step.parts;
    const bool computes = step.kind == sim::LinkKind::compute;
    by_state[computes ? "COMPUTE" : here.place.function] += step.parts.sum();
  }
  path.by_place = sorted(by_place);
  path.by_rank = sorted(by_rank);
  path.by_phase = sorted(by_phase);
  path.passages = sorted(passages);
  path.by_state.assign(by_state.begin(), by_state.end());
  std::ranges::stable_sort(path.by_state,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const double share : {0.0, 0.01, 0.05, 0.1}) path.near.push_back({share, 0});
  for (const auto& calls : run.calls) path.calls += calls.size();
  each_tail(run, [&](sim::MomentId id, Time tail) {
    if (!run.call_begun(id, run.graph[id])) return;
    const double seconds = slack(run, id, tail).seconds();
    for (auto& near : path.near)
      if (seconds <= near.share * run.time.seconds()) ++near.calls;
  });
  return path;
}

Efficiency efficiency_from(double mean, Time most, const RunTimes& times) {
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 1; };
  Efficiency efficiency;
  const double time = times.as_is.seconds();
  efficiency.parallel = ratio(mean, time);
  efficiency.load_balance = ratio(mean, most.seconds());
  efficiency.communication = ratio(most.seconds(), time);
  efficiency.serialisation = ratio(most.seconds(), times.no_files.seconds());
  efficiency.files = ratio(times.no_files.seconds(), times.ideal.seconds());
  efficiency.transfer = ratio(times.ideal.seconds(), time);
  return efficiency;
}

Efficiency efficiency_of(const Run& run, const RunTimes& times) {
  Time most;
  double sum = 0;
  for (const auto& calls : run.calls) {
    Time compute;
    for (const Call& call : calls) compute += call.compute;
    most = std::max(most, compute);
    sum += compute.seconds();
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(run.calls.size(), 1));
  return efficiency_from(mean, most, times);
}

Headline headline_of(const Explanation& explanation) {
  const Bounds& bounds = explanation.bounds;
  const Time time = explanation.time;
  Headline best;
  best.communication = std::min(time, bounds.ideal_network);
  if (bounds.no_files) best.files = std::min(time, *bounds.no_files);
  best.balance = std::min(time, bounds.balanced);
  for (const Finding& finding : explanation.findings)
    if (finding.kind == "imbalance") best.balance = std::min(best.balance, finding.predicted);
  best.both = std::min({best.communication, best.balance, bounds.balanced_ideal});
  best.waits = std::min(time, bounds.no_waits);
  return best;
}

}  // namespace foretrace::explain
