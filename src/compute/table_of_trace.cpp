#include "compute/table_of_trace.hpp"

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "compute/regions.hpp"

namespace foretrace::compute {

using trace::EventKind;

namespace {

constexpr std::size_t kMostIntervals = 1024;

struct Phase {
  std::uint64_t visits = 0;
  double steps = 0;
  Time total;
  std::vector<Time> intervals;  // sums over the visits
};

struct Open {
  std::string name;
  Phase* phase = nullptr;
  std::size_t interval = 0;
  Time pending;  // of the interval, before calls that do not end it
};

class Collector {
 public:
  void add(const trace::Event& event, const std::string& name) {
    if (open_.empty())
      elsewhere += event.compute;
    else
      charge(open_.back(), event, name);
    if (event.kind == EventKind::phase_begin) {
      Phase& phase = phases[name];
      ++phase.visits;
      open_.push_back({name, &phase, 0, Time()});
    } else if (event.kind == EventKind::phase_end) {
      close(name);
    }
  }
  void end_of_rank() { open_.clear(); }

  std::map<std::string, Phase> phases;
  Time elsewhere;

 private:
  static void charge(Open& open, const trace::Event& event, const std::string& name) {
    Phase& phase = *open.phase;
    open.pending += event.compute;
    phase.total += event.compute;
    phase.steps += event.steps;
    if (!ends_interval(event.kind, name, event.count == 0)) return;
    if (open.interval >= kMostIntervals)
      throw Error("phase '" + open.name + "' has visits of more than " +
                  std::to_string(kMostIntervals) +
                  " calls, too many for a table; mark its parts as phases of their own, or use "
                  "--per step");
    const std::size_t next = open.interval + event.count;
    if (phase.intervals.size() < next) phase.intervals.resize(next);
    phase.intervals[open.interval] += open.pending;
    open.interval = next;
    open.pending = Time();
  }

  void close(const std::string& name) {
    for (std::size_t i = open_.size(); i-- > 0;)
      if (open_[i].name == name) {
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }

  std::vector<Open> open_;
};

machine::ComputeRegion region_of(const std::string& name, const Phase& phase, Per per) {
  machine::ComputeRegion region;
  region.phase = name;
  if (per == Per::step && phase.steps > 0) {
    region.time = machine::RegionTime::step;
    region.seconds = {phase.total.seconds() / phase.steps};
    return region;
  }
  region.time = machine::RegionTime::visit;
  for (const Time sum : phase.intervals)
    region.seconds.push_back(sum.seconds() / static_cast<double>(phase.visits));
  while (region.seconds.size() > 1 && region.seconds.back() == 0) region.seconds.pop_back();
  if (region.seconds.empty()) region.seconds = {0};
  return region;
}

}  // namespace

TraceTable table_of_trace(trace::TraceReader& trace, Per per) {
  Collector collector;
  trace::Event event;
  for (int r = 0; r < trace.ranks(); ++r) {
    const WorldRank rank(r);
    while (trace.next(rank, event)) collector.add(event, trace.name(rank, event.name));
    collector.end_of_rank();
  }
  collector.phases.erase("");
  if (collector.phases.empty())
    throw Error(trace.path() +
                ": has no phases; mark them in the program (FORETRACE_PHASE_BEGIN, _END)");
  TraceTable result;
  const trace::TraceInfo& info = trace.info();
  result.table.source = info.program + ", " + std::to_string(info.ranks) +
                        (info.ranks == 1 ? " rank, " : " ranks, ") + info.origin;
  for (const auto& [name, phase] : collector.phases) {
    result.table.regions.push_back(region_of(name, phase, per));
    result.in_regions += phase.total;
  }
  result.elsewhere = collector.elsewhere;
  return result;
}

}  // namespace foretrace::compute
