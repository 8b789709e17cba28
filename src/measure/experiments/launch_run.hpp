// LaunchRun: one launch's way through its plan, within its time.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "measure/core/options.hpp"
#include "measure/core/samples.hpp"
#include "measure/experiments/common_clock.hpp"
#include "measure/experiments/fingerprint.hpp"
#include "measure/experiments/plan.hpp"
#include "measure/experiments/runner.hpp"
#include "measure/experiments/scratch_file.hpp"
#include "measure/experiments/thresholds.hpp"

namespace foretrace::measure {

class LaunchRun {
 public:
  LaunchRun(const Group& world, const Hosts& hosts, const ProgramOptions& options,
            CommonClock& clock, const RunnerSettings& settings, LineWatch& watch)
      : world_(world),
        hosts_(hosts),
        options_(options),
        clock_(clock),
        settings_(settings),
        watch_(watch) {}

  struct Result {
    std::vector<Sample> samples;  // on rank 0
    Jumps jumps;                  // what was found, if they were searched
    bool all_functions = true;    // false: the secondary ones were cut short
    bool complete = true;         // false: the time was up before the first pass was done
  };

  // Collective. `known`: the last sizes before the probed thresholds.
  Result run(const std::set<std::uint64_t>& known);

 private:
  bool run_pass(const std::vector<PlanPoint>& points, bool may_stop);
  void measure_point(const PlanPoint& point);
  void search_jumps(const PlanSizes& sizes, const std::set<std::uint64_t>& suspected,
                    Result& result);
  void time_kernels_by_ranks();
  void time_computation();
  double cache_line();
  ScratchFile find_scratch_file() const;
  Facilities find_facilities(const ScratchFile& scratch) const;
  std::vector<PlanPoint> take_others();
  void show_progress(double share);
  double left() const;

  const Group& world_;
  const Hosts& hosts_;
  const ProgramOptions& options_;
  CommonClock& clock_;
  const RunnerSettings& settings_;
  LineWatch& watch_;
  std::int64_t began_ = now_ns();
  std::int64_t shown_ = 0;
  std::int64_t clock_measured_ = 0;
  double visits_left_ = 0;  // points times passes
  double visits_ = 0;
  Plan plan_;
  Buffers* buffers_ = nullptr;
  std::vector<Sample> samples_;
  std::mt19937_64 random_;  // each rank's own
};

}  // namespace foretrace::measure
