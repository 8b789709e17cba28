#include "explain/scaling.hpp"

#include <algorithm>

namespace foretrace::explain {

void compare_runs(std::vector<ScaledRun>& runs, Scaling scaling) {
  std::ranges::stable_sort(runs, {}, &ScaledRun::ranks);
  if (runs.empty()) return;
  const ScaledRun reference = runs.front();
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 1; };
  for (ScaledRun& run : runs) {
    // Weak: so many times the work of the reference.
    const double work =
        scaling == Scaling::weak ? ratio(run.ranks, std::max(reference.ranks, 1)) : 1;
    run.computation = ratio(work * reference.compute, run.compute);
    run.global = run.efficiency.parallel * run.computation;
    run.speedup = work * ratio(reference.time.seconds(), run.time.seconds());
  }
}

}  // namespace foretrace::explain
