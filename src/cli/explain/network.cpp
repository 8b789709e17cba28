#include "cli/explain/network.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "explain/edits.hpp"
#include "explain/sensitivity.hpp"

namespace foretrace::cli {
namespace {

constexpr double kPicosecond = 1e-12;

bool has_parameters(const Simulation& simulation) {
  return simulation.network() != sim::NetworkKind::datasheet;
}

// The axes of one network, with the run as `set` makes it at a value.
class Axes {
 public:
  Axes(const Simulation& simulation, const explain::Run& run) : simulation_(simulation), run_(run) {
    for (const auto& all : run.calls) calls_ += all.size();
  }

  // So many calls are simulated for each parameter, at most.
  int points(std::uint64_t most_calls) const {
    return static_cast<int>(std::clamp<std::uint64_t>(most_calls / calls_, 2, 64));
  }
  // Each message's bytes are rounded to a picosecond once.
  double rounding() const { return kPicosecond * static_cast<double>(calls_); }

  explain::Sensitivity find(const explain::Axis& axis,
                            const std::function<void(Replay&, double)>& set) const {
    return explain::find_sensitivity(axis, [&](double x) {
      const explain::Edits none;
      explain::EditedSource source(simulation_.open_shared(), run_, none);
      sim::NullSink nothing;
      Replay replay;
      replay.settled = true;
      set(replay, x);
      return simulation_.run(source, nothing, replay).time;
    });
  }

 private:
  const Simulation& simulation_;
  const explain::Run& run_;
  std::uint64_t calls_ = 1;
};

// The links of the topology have latencies and bandwidths of their own: how many times as long they
// take.
void add_links(const Axes& axes, int most, std::vector<explain::Sensitivity>& all) {
  const auto add = [&](const char* parameter, const char* meaning,
                       const std::function<void(MachineFactors&, double)>& set) {
    const explain::Axis axis{.parameter = parameter,
                             .unit = "times",
                             .value = 1,
                             .end = 10,
                             .step = 1e-3,
                             .rounding = axes.rounding(),
                             .most = most,
                             .meaning = meaning,
                             .farthest = 1e6};
    all.push_back(axes.find(axis, [&](Replay& replay, double x) { set(replay.factors, x); }));
  };
  add("link_latency", "the latency of every link, so many times as long",
      [](MachineFactors& factors, double x) { factors.latency = x; });
  add("link_bandwidth", "every byte on every link, so many times as long",
      [](MachineFactors& factors, double x) {
        factors.bandwidth = 1 / std::max(x, 1 / kVeryFast);
      });
}

// `own_links`: instead of L and G, which the links of the topology have themselves, these.
std::vector<explain::Sensitivity> of_loggps(const Simulation& simulation, const Axes& axes,
                                            bool own_links) {
  const machine::LogGPSTimes as_is = simulation.loggps();
  const int most = axes.points(2'000'000);
  std::vector<explain::Sensitivity> all;
  const auto add = [&](explain::Axis axis,
                       const std::function<void(machine::LogGPSTimes&, double)>& set) {
    axis.most = most;
    axis.end = std::max(10 * axis.value, axis.end);
    all.push_back(axes.find(axis, [&](Replay& replay, double x) {
      replay.loggps = as_is;
      set(*replay.loggps, x);
    }));
  };
  if (!own_links)
    add({.parameter = "L",
         .unit = "s",
         .value = as_is.latency.seconds(),
         .end = 1e-5,
         .step = kPicosecond},
        [](auto& loggps, double x) { loggps.latency = Time::from_seconds(x); });
  const Time difference = as_is.overhead_recv - as_is.overhead_send;
  add({.parameter = "o",
       .unit = "s",
       .value = as_is.overhead_send.seconds(),
       .end = 1e-6,
       .step = kPicosecond},
      [=](auto& loggps, double x) {
        loggps.overhead_send = Time::from_seconds(x);
        loggps.overhead_recv = std::max(loggps.overhead_send + difference, Time());
      });
  add({.parameter = "g",
       .unit = "s",
       .value = as_is.gap.seconds(),
       .end = 1e-6,
       .step = kPicosecond},
      [](auto& loggps, double x) { loggps.gap = Time::from_seconds(x); });
  if (own_links) {
    add_links(axes, most, all);
    return all;
  }
  const double per_byte = as_is.gap_per_byte > 0 ? as_is.gap_per_byte : 1e-10;
  add({.parameter = "G",
       .unit = "s/byte",
       .value = as_is.gap_per_byte,
       .end = 10 * per_byte,
       .step = per_byte * 0.1,
       .rounding = axes.rounding()},
      [](auto& loggps, double x) { loggps.gap_per_byte = x; });
  return all;
}

std::vector<explain::Sensitivity> of_equations(const Axes& axes) {
  const int most = axes.points(8'000'000);
  std::vector<explain::Sensitivity> all;
  const auto add = [&](explain::Axis axis,
                       const std::function<void(machine::Added&, double)>& set) {
    axis.most = most;
    all.push_back(axes.find(axis, [&](Replay& replay, double x) { set(replay.added, x); }));
  };
  add({.parameter = "L",
       .unit = "s",
       .end = 1e-5,
       .step = kPicosecond,
       .meaning = "added to the time of each message, and of each step of a collective"},
      [](auto& added, double x) { added.latency = Time::from_seconds(x); });
  add({.parameter = "o",
       .unit = "s",
       .end = 1e-6,
       .step = kPicosecond,
       .meaning = "added to what each message takes of its sender, and of its receiver"},
      [](auto& added, double x) {
        added.overhead_send = added.overhead_recv = Time::from_seconds(x);
      });
  add({.parameter = "G",
       .unit = "s/byte",
       .end = 1e-9,
       .step = 1e-11,
       .rounding = axes.rounding(),
       .meaning = "added for each byte"},
      [](auto& added, double x) { added.per_byte = x; });
  return all;
}

// Whether no message takes L and G on its links.
bool has_own_links(const Simulation& simulation) {
  return simulation.topology() && simulation.network() != sim::NetworkKind::loggps &&
         (simulation.by_flits() || links_have_speeds(*simulation.topology()));
}

}  // namespace

std::string set_parameters(const Simulation& simulation, const std::string& words, Replay& replay) {
  const machine::Settings set = machine::parse_settings(words, "--set");
  if (has_parameters(simulation)) {
    replay.loggps = simulation.loggps_with(set);
    const bool of_links = set.values.latency || set.values.gap_per_byte || set.added.latency ||
                          set.added.gap_per_byte;
    return of_links && has_own_links(simulation)
               ? "--set " + words +
                     ": L and G do nothing on links, since the topology or architecture says how "
                     "fast they are; change it there"
               : std::string();
  }
  const machine::LogGPS& values = set.values;
  const machine::LogGPS& added = set.added;
  if (values.latency || values.overhead_send || values.overhead_recv || values.gap_per_byte)
    throw UsageError("--set '" + words +
                     "': the equations of a data sheet have no L, o and G of their own; L=+1us "
                     "adds to what they say, --network loggps has these parameters");
  if (values.gap || added.gap || values.sync_threshold)
    throw UsageError("--set '" + words +
                     "': g and S are for --network loggps; L=+1us, o=+1us and G=+0.1ns add to "
                     "what the equations of a data sheet say");
  replay.added.latency = Time::from_seconds(added.latency.value_or(0));
  replay.added.overhead_send = Time::from_seconds(added.overhead_send.value_or(0));
  replay.added.overhead_recv = Time::from_seconds(added.overhead_recv.value_or(0));
  replay.added.per_byte = added.gap_per_byte.value_or(0);
  return {};
}

void add_sensitivities(const Simulation& simulation, const explain::Run& run, bool contended,
                       explain::Explanation& explanation) {
  const Axes axes(simulation, run);
  if (has_parameters(simulation)) {
    explanation.sensitivity = of_loggps(simulation, axes, has_own_links(simulation));
  } else {
    explanation.sensitivity = of_equations(axes);
  }
  for (explain::Sensitivity& one : explanation.sensitivity) one.exact = one.exact && !contended;
}

}  // namespace foretrace::cli
