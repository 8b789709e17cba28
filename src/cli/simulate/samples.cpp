#include "cli/simulate/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "cli/simulate/simulation.hpp"
#include "machine/draw.hpp"
#include "sim/sink.hpp"
#include "views/draw/json_text.hpp"

namespace foretrace::cli {
namespace {

// Between the two nearest of the sorted times.
Time quantile(const std::vector<Time>& times, double share) {
  const double at = share * static_cast<double>(times.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const Time low = times[below];
  if (below + 1 == times.size()) return low;
  return low + (times[below + 1] - low).scaled(at - std::floor(at));
}

// How a further run of the program differs from those that were recorded: their logarithms are
// taken for draws from one normal distribution, of which no more is known than they tell.
class RunScatter {
 public:
  explicit RunScatter(std::span<Simulation* const> recordings) {
    if (recordings.size() < 2) return;
    for (Simulation* recording : recordings) {
      sim::NullSink nothing;
      const std::unique_ptr<sim::Source> source = recording->open_shared();
      const double seconds = recording->run(*source, nothing).time.seconds();
      logs_.push_back(std::log(std::max(seconds, 1e-12)));
    }
    const auto count = static_cast<double>(logs_.size());
    mean_ = std::accumulate(logs_.begin(), logs_.end(), 0.0) / count;
    double squares = 0;
    for (const double log : logs_) squares += (log - mean_) * (log - mean_);
    width_ = std::sqrt(squares / (count - 1) * (1 + 1 / count));
  }

  // What a draw of that recording is to be multiplied by.
  double factor(std::size_t recording, std::uint64_t seed, std::uint64_t number) const {
    if (width_ == 0) return 1;
    constexpr double kMost = 6.9;  // a thousand times as long, or as short
    const int degrees = static_cast<int>(logs_.size()) - 1;
    const double further =
        mean_ - logs_[recording] + width_ * machine::draw_student(degrees, seed, number, "run");
    return std::exp(std::clamp(further, -kMost, kMost));
  }

 private:
  std::vector<double> logs_;  // of seconds
  double mean_ = 0;
  double width_ = 0;
};

}  // namespace

Samples draw_samples(std::span<Simulation* const> recordings, int count, std::uint64_t seed,
                     const CountDone& progress) {
  for (Simulation* recording : recordings) recording->prepare_sharing();
  const RunScatter scatter(recordings);
  Simulation& first = *recordings.front();
  const std::vector<double> errors = first.pattern_errors();
  const std::vector<machine::LaunchFactors>& launches = first.model().launches;
  std::vector<Time> times;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const std::size_t recording = number % recordings.size();
    const Simulation& simulation = *recordings[recording];
    const machine::MachineModel model = machine::draw_model(first.model(), seed, number);
    machine::LaunchFactors launch;
    if (!launches.empty())
      launch = launches[machine::draw_one_of(launches.size(), seed, number, "launch")];
    if (!errors.empty())
      launch.calls *=
          std::exp(errors[machine::draw_one_of(errors.size(), seed, number, "pattern")]);
    Replay replay;
    replay.model = &model;
    // All rules are linear in time: where calls are slower by a factor, so is the whole of a run
    // whose computation is faster by it.
    replay.factors.compute = launch.computation / launch.calls;
    sim::NullSink nothing;
    const std::unique_ptr<sim::Source> source = simulation.open_shared();
    times.push_back(simulation.run(*source, nothing, replay)
                        .time.scaled(launch.calls * scatter.factor(recording, seed, number)));
    if (progress) progress(times.size(), static_cast<std::size_t>(count));
  }
  std::ranges::sort(times);
  return {count,
          static_cast<int>(recordings.size()),
          seed,
          quantile(times, 0.05),
          quantile(times, 0.5),
          quantile(times, 0.95)};
}

std::string text_of(const Samples& samples) {
  std::string of;
  if (samples.recordings > 1) of = " of " + std::to_string(samples.recordings) + " recordings";
  char line[200];
  if (samples.low == samples.high)
    std::snprintf(line, sizeof line,
                  "%d draws%s all take %.6g s: the model states no spread that would change it\n",
                  samples.count, of.c_str(), samples.median.seconds());
  else
    std::snprintf(
        line, sizeof line,
        "%d draws%s within the model's errors: median %.6g s, 90 %% from %.6g s to %.6g s\n",
        samples.count, of.c_str(), samples.median.seconds(), samples.low.seconds(),
        samples.high.seconds());
  return line;
}

std::string with_samples(const std::string& report, const Samples& samples) {
  auto object = nlohmann::ordered_json::parse(report);
  object["samples"] = {{"count", samples.count},
                       {"recordings", samples.recordings},
                       {"seed", samples.seed},
                       {"low", samples.low.seconds()},
                       {"median", samples.median.seconds()},
                       {"high", samples.high.seconds()}};
  return views::json_text(object);
}

}  // namespace foretrace::cli
