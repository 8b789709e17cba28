#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "cli/simulate/sweep.hpp"

namespace foretrace::cli {
namespace {

// Threads that take the next point until none is left or one has failed. Points
// are taken in order, so that at the first failure all before it are taken, too,
// and the first in order is known once they are done.
class Runs {
 public:
  Runs(const std::vector<SweepPoint>& points, const SweepRunner& runner)
      : points_(points), runner_(runner), results_(points.size()), failures_(points.size()) {}

  std::vector<PointResult> run() {
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t wanted =
        runner_.jobs > 0 ? static_cast<std::size_t>(runner_.jobs) : processors;
    std::vector<std::jthread> threads;
    try {
      // This thread works, too.
      while (threads.size() + 1 < std::min(wanted, points_.size()))
        threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system has no more; those that there are do it.
    }
    work();
    threads.clear();
    throw_first_failure();
    return std::move(results_);
  }

 private:
  void work() {
    while (!failed_) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= points_.size()) return;
      try {
        results_[index] = runner_.run(points_[index]);
      } catch (...) {
        failures_[index] = std::current_exception();
        failed_ = true;
        return;
      }
      const std::scoped_lock lock(progress_);
      ++done_;
      if (runner_.progress) runner_.progress(done_, points_.size());
    }
  }

  void throw_first_failure() const {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!failures_[i]) continue;
      const std::string where = "with " + describe(points_[i]) + ": ";
      try {
        std::rethrow_exception(failures_[i]);
      } catch (const UsageError& error) {
        throw UsageError(where + error.what());
      } catch (const std::exception& error) {
        throw Error(where + error.what());
      }
    }
  }

  const std::vector<SweepPoint>& points_;
  const SweepRunner& runner_;
  std::vector<PointResult> results_;
  std::vector<std::exception_ptr> failures_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex progress_;
  std::size_t done_ = 0;
};

bool changes_nothing(const SweepPoint& point) {
  return std::ranges::all_of(point.values, [](double value) { return value == 1; }) &&
         std::ranges::count(point.parameters, SweepParameter::threshold) == 0;
}

views::SweepRun shown(const SweepPoint& point, const PointResult& result) {
  return {point.values, result.time, result.serial_time, result.wait, result.ranks};
}

}  // namespace

views::SweepReport run_sweep(const std::vector<Sweep>& sweeps, const SweepRunner& runner) {
  std::vector<SweepPoint> points = grid_of(sweeps);
  const auto unchanged = std::ranges::find_if(points, changes_nothing);
  const bool extra = unchanged == points.end();
  const auto base = static_cast<std::size_t>(extra ? 0 : unchanged - points.begin());
  if (extra) points.insert(points.begin(), SweepPoint());

  const std::vector<PointResult> results = Runs(points, runner).run();
  views::SweepReport report;
  for (const Sweep& sweep : sweeps) {
    const bool size = sweep.parameter == SweepParameter::threshold;
    report.axes.push_back({parameter_name(sweep.parameter), size});
  }
  report.base = shown(points[base], results[base]);
  for (std::size_t i = extra ? 1 : 0; i < points.size(); ++i)
    report.runs.push_back(shown(points[i], results[i]));
  return report;
}

}  // namespace foretrace::cli
