#include "explain/phases.hpp"

#include <algorithm>

#include "explain/summary.hpp"

namespace foretrace::explain {
namespace {

std::vector<std::vector<Time>> no_times(const Run& run) {
  return std::vector(run.phases.size(), std::vector<Time>(run.calls.size()));
}

}  // namespace

PhaseTimes phase_times(const Run& run) {
  PhaseTimes times{no_times(run), no_times(run)};
  for (std::size_t r = 0; r < run.calls.size(); ++r) {
    for (const Call& call : run.calls[r]) {
      // A rank's clock starts after MPI_Init, and stops before MPI_Finalize.
      const bool counts =
          call.kind != trace::EventKind::init && call.kind != trace::EventKind::finalize;
      Time& elapsed = times.elapsed[run.phase_of(call)][r];
      elapsed += call.compute;
      times.compute[run.phase_of(call)][r] += call.compute;
      if (counts) elapsed += run.graph[call.leave].at - run.graph[call.enter].at;
    }
  }
  return times;
}

PhaseSink::PhaseSink(const Run& run)
    : run_(&run), next_(run.calls.size()), elapsed_(no_times(run)) {}

void PhaseSink::finished(WorldRank rank, const sim::Operation& operation,
                         const sim::Interval& interval) {
  const auto r = static_cast<std::size_t>(rank.value);
  const std::size_t call = next_[r]++;
  if (call >= run_->calls[r].size()) return;
  Time& elapsed = elapsed_[run_->phase_of(run_->calls[r][call])][r];
  elapsed += interval.compute;
  if (operation.kind != trace::EventKind::init && operation.kind != trace::EventKind::finalize)
    elapsed += interval.leave - interval.enter;
}

std::vector<PhaseEfficiency> phase_efficiencies(const Run& run,
                                                const std::vector<std::vector<Time>>& ideal,
                                                const std::vector<std::vector<Time>>& no_files) {
  const PhaseTimes times = phase_times(run);
  std::vector<PhaseEfficiency> all;
  for (PhaseId phase = 0; phase < run.phases.size(); ++phase) {
    PhaseEfficiency one;
    one.phase = run.phases[phase];
    Time most;
    double sum = 0;
    for (std::size_t r = 0; r < run.calls.size(); ++r) {
      const Time elapsed = times.elapsed[phase][r];
      if (elapsed == Time()) continue;
      ++one.ranks;
      one.time = std::max(one.time, elapsed);
      one.ideal = std::max(one.ideal, ideal[phase][r]);
      one.no_files = std::max(one.no_files, no_files[phase][r]);
      most = std::max(most, times.compute[phase][r]);
      sum += times.compute[phase][r].seconds();
    }
    if (one.ranks == 0) continue;
    one.compute = Time::from_seconds(sum / one.ranks);
    one.efficiency = efficiency_from(sum / one.ranks, most, {one.time, one.ideal, one.no_files});
    all.push_back(one);
  }
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.time > b.time; });
  return all;
}

}  // namespace foretrace::explain
