#include "explain/edits.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::explain {
void fill_compute(const Run& run, Edits& edits) {
  if (!edits.compute.empty()) return;
  for (const auto& calls : run.calls) {
    edits.compute.emplace_back().reserve(calls.size());
    for (const Call& call : calls) edits.compute.back().push_back(call.compute);
  }
}

void speed_up(const Run& run, const CallSet& of, double factor, Edits& edits) {
  fill_compute(run, edits);
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (std::size_t i = 0; i < run.calls[r].size(); ++i) {
      if (!of(run.calls[r][i])) continue;
      Time& compute = edits.compute[r][i];
      compute = Time::ps(std::llround(static_cast<double>(compute.count_ps()) / factor));
    }
}

void take_waits_away(const Run& run, const CallSet& of, Edits& edits) {
  if (edits.waitless.empty())
    for (const auto& calls : run.calls) edits.waitless.emplace_back(calls.size());
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (std::size_t i = 0; i < run.calls[r].size(); ++i)
      if (of(run.calls[r][i])) edits.waitless[r][i] = true;
}

EditedSource::EditedSource(std::unique_ptr<sim::Source> source, const Run& run, const Edits& edits)
    : source_(std::move(source)),
      run_(&run),
      edits_(&edits),
      next_(static_cast<std::size_t>(source_->ranks())) {
  if (edits.waitless.empty()) return;
  alone_.resize(next_.size());
  requests_.resize(next_.size());
  for (sim::MomentId id = 0; id < run.graph.size(); ++id) {
    const sim::Moment& moment = run.graph[id];
    if (moment.kind != sim::MomentKind::leave || !edits.is_waitless(moment.rank, moment.operation))
      continue;
    Alone& alone = alone_[static_cast<std::size_t>(moment.rank.value)];
    if (alone.first.empty() || alone.first.back().first != moment.operation)
      alone.first.emplace_back(moment.operation, static_cast<std::uint32_t>(alone.times.size()));
    // A rendezvous may be over before an eager message's would.
    const Time leaves = std::min(moment.at, moment.alone);
    alone.times.push_back(leaves - run.graph[moment.enter].at);
  }
}

void EditedSource::renumber(WorldRank rank, sim::Operation& operation) {
  using trace::EventKind;
  // A probe's request is that of its message, and is taken but once.
  if (operation.kind == EventKind::probe) return;
  Requests& requests = requests_[static_cast<std::size_t>(rank.value)];
  if (operation.request != 0)
    operation.request = requests.open[operation.request] = ++requests.last;
  const auto number_of = [&](std::uint64_t request) {
    const auto found = requests.open.find(request);
    return found == requests.open.end() ? request : found->second;
  };
  if (operation.kind == EventKind::call && operation.cancel != 0)
    operation.cancel = number_of(operation.cancel);
  if (operation.kind != EventKind::complete) return;
  requests.completions.assign(operation.completions.begin(), operation.completions.end());
  for (trace::Completion& completion : requests.completions) {
    const std::uint64_t request = completion.request;
    completion.request = number_of(request);
    if (operation.completing == sim::Completing::all) requests.open.erase(request);
  }
  operation.completions = requests.completions;
}

const Time* EditedSource::alone_of(WorldRank rank, std::size_t call) const {
  const Alone& alone = alone_[static_cast<std::size_t>(rank.value)];
  const auto found = std::ranges::lower_bound(alone.first, call, {},
                                              [](const auto& entry) { return entry.first; });
  return alone.times.data() + found->second;
}

}  // namespace foretrace::explain
