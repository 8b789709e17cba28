#include "analysis/validation.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/segments.hpp"
#include "analysis/waiting.hpp"
#include "base/error.hpp"

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

// Sizes of one power of two are one group.
struct Key {
  TimePart part = TimePart::transfer;
  std::string function;
  std::string place;
  std::string phase;
  int size = 0;

  bool operator<(const Key& other) const {
    return std::tie(part, function, place, phase, size) <
           std::tie(other.part, other.function, other.place, other.phase, other.size);
  }
};

struct Sum {
  Time time;
  std::uint64_t calls = 0;
  Time first_time;  // of first_calls of them
  std::uint64_t first_calls = 0;
  EventKind kind = EventKind::call;
  Bytes least{UINT64_MAX};
  Bytes most{0};
  int ranks = 2;
};

struct RunSums {
  Time time;
  std::uint64_t calls = 0;       // all ranks'
  std::uint64_t most_calls = 0;  // of one rank
  Time parts[3];
  Time switched_out;
  std::map<Key, Sum> groups;
};

// Walks one rank after another.
class Summing {
 public:
  // `by_cpu`: between calls the clock may have gone on without the rank.
  Summing(const trace::Trace& trace, const trace::TellPlace& tell, bool by_cpu)
      : trace_(trace), by_cpu_(by_cpu) {
    for (const trace::Site& site : trace.sites) places_.push_back(tell ? tell(site) : "");
  }

  RunSums run() {
    for (const std::vector<Event>& events : trace_.ranks) {
      phases_.clear();
      posted_.clear();
      met_.clear();
      last_ = Time();
      std::uint64_t calls = 0;
      for (const Event& event : events) {
        if (event.kind != EventKind::init) computation(event);
        if (is_timed_call(event)) {
          call(event);
          calls += event.count;
        }
        note(event);
        last_ = event.leave;
        if (event.kind == EventKind::finalize) break;
      }
      sums_.calls += calls;
      sums_.most_calls = std::max(sums_.most_calls, calls);
    }
    sums_.time = program_time(trace_);
    return std::move(sums_);
  }

 private:
  void computation(const Event& event) {
    Time taken = std::max(event.enter - last_, Time());
    if (by_cpu_) {
      sums_.switched_out += std::max(taken - event.compute, Time());
      taken = std::min(taken, event.compute);
    }
    if (taken > Time()) add(TimePart::computation, event, taken, Bytes(0), false);
  }

  void call(const Event& event) {
    const auto [bytes, sized] = size_of(event);
    const bool first = is_first(event);
    const auto note_part = [&](TimePart part, Time time) {
      Sum& sum = add(part, event, time, bytes, sized);
      if (!first) return;
      sum.first_time += time;
      ++sum.first_calls;
    };
    note_part(TimePart::transfer, event.leave - event.enter - event.wait);
    note_part(TimePart::waiting, event.wait);
  }

  // Whether the rank has made no such call before to this partner, or on this communicator.
  bool is_first(const Event& event) {
    std::int64_t partner = 0;
    switch (event.kind) {
      case EventKind::send:
      case EventKind::isend:
      case EventKind::sendrecv:
        partner = event.send.peer.value;
        break;
      case EventKind::recv:
      case EventKind::irecv:
        partner = event.recv.peer.value;
        break;
      case EventKind::collective:
      case EventKind::icollective:
        partner = static_cast<std::int64_t>(event.comm);
        break;
      default:
        break;
    }
    return event.count == 1 && met_.emplace(event.name, partner).second;
  }

  Sum& add(TimePart part, const Event& event, Time time, Bytes bytes, bool sized) {
    const bool named = is_timed_call(event);
    Key key;
    key.part = part;
    // The program's own marks are no calls.
    if (named || event.kind == EventKind::finalize) key.function = trace_.names[event.name];
    key.place = event.site != 0 ? places_[event.site - 1] : "";
    key.phase = phases_.empty() ? "" : trace_.names[phases_.back()];
    key.size = sized ? std::bit_width(bytes.count) : -1;
    Sum& sum = sums_.groups[key];
    sum.time += time;
    sum.calls += event.count;
    sum.kind = event.kind;
    sums_.parts[static_cast<int>(part)] += time;
    if (!sized) return sum;
    sum.least = std::min(sum.least, bytes);
    sum.most = std::max(sum.most, bytes);
    if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
      sum.ranks = std::max(sum.ranks, static_cast<int>(trace_.comms[event.comm].members.size()));
    return sum;
  }

  void note(const Event& event) {
    if (event.kind == EventKind::phase_begin) phases_.push_back(event.name);
    if (event.kind == EventKind::phase_end && !phases_.empty()) phases_.pop_back();
    if (event.kind == EventKind::isend) posted_[event.request] = event.send.bytes;
    if (event.kind == EventKind::irecv) posted_[event.request] = event.recv.bytes;
    if (event.kind == EventKind::complete)
      for (const trace::Completion& done : event.completions) posted_.erase(done.request);
  }

  std::pair<Bytes, bool> size_of(const Event& event) const {
    switch (event.kind) {
      case EventKind::send:
      case EventKind::isend:
        return {event.send.bytes, event.send.peer.valid()};
      case EventKind::recv:
      case EventKind::irecv:
        return {event.recv.bytes, true};
      case EventKind::sendrecv:
        return {std::max(event.send.bytes, event.recv.bytes), true};
      case EventKind::collective:
      case EventKind::icollective:
        return {event.bytes, true};
      case EventKind::complete: {
        Bytes most{0};
        bool any = false;
        for (const trace::Completion& done : event.completions) {
          const auto posted = posted_.find(done.request);
          if (posted == posted_.end()) continue;
          // The buffer of a receive may be larger than what came.
          const Bytes bytes = done.source.valid() ? done.bytes : posted->second;
          most = std::max(most, bytes);
          any = true;
        }
        return {most, any};
      }
      default:
        return {event.bytes, event.bytes.count > 0};
    }
  }

  const trace::Trace& trace_;
  const bool by_cpu_;
  std::vector<std::string> places_;
  std::vector<trace::NameId> phases_;
  std::unordered_map<std::uint64_t, Bytes> posted_;
  std::set<std::pair<trace::NameId, std::int64_t>> met_;
  Time last_;
  RunSums sums_;
};

// With waits told as in a real run, whatever the trace says of them.
RunSums sums_of(const trace::Trace& trace, const trace::TellPlace& tell) {
  if (trace.info.clock == trace::Clock::cpu)
    throw Error(
        "a run was recorded without a clock, so nobody knows how long its calls took; "
        "record it with --clock wall");
  trace::Trace told = trace;
  told.info.clock = trace::Clock::wall;
  for (std::vector<Event>& events : told.ranks)
    for (Event& event : events) event.wait = Time();
  fill_waits(told);
  return Summing(told, tell, trace.info.clock == trace::Clock::wall).run();
}

template <class Of>
RunSpread spread(const std::vector<RunSums>& runs, Of of) {
  std::vector<Time> times;
  for (const RunSums& run : runs) times.push_back(of(run));
  return spread_of(std::move(times));
}

Time group_time(const RunSums& run, const Key& key, Time Sum::*time) {
  const auto found = run.groups.find(key);
  return found == run.groups.end() ? Time() : found->second.*time;
}

// Takes `more`, what logging the calls cost all ranks, out of a run: of the time between calls
// that was no computation, where most of it is; then of all calls alike, with their waiting, since
// ranks wait for each other's.
void take_off_tracing(RunSums& run, Time more) {
  const Time between = std::min(more, run.switched_out);
  run.switched_out -= between;
  more -= between;
  Time calls;
  for (const TimePart part : {TimePart::waiting, TimePart::transfer})
    calls += run.parts[static_cast<int>(part)];
  if (calls == Time()) return;
  const double kept = std::max(0.0, 1 - more.seconds() / calls.seconds());
  for (const TimePart part : {TimePart::waiting, TimePart::transfer}) {
    Time& all = run.parts[static_cast<int>(part)];
    all = all.scaled(kept);
  }
  for (auto& [key, sum] : run.groups) {
    if (key.part == TimePart::computation) continue;
    sum.time = sum.time.scaled(kept);
    sum.first_time = sum.first_time.scaled(kept);
  }
}

}  // namespace

const char* name_of(TimePart part) {
  constexpr const char* kNames[] = {"computation", "transfer", "waiting"};
  return kNames[static_cast<int>(part)];
}

RunSpread spread_of(std::vector<Time> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const std::size_t last = times.size() - 1;
  const std::size_t middle = last / 2;
  const Time median = times.size() % 2 == 1
                          ? times[middle]
                          : Time::ps((times[middle].count_ps() + times[middle + 1].count_ps()) / 2);
  return {times[last / 4], median, times[last - last / 4]};
}

Time program_time(const trace::Trace& trace) {
  Time last;
  for (const std::vector<Event>& events : trace.ranks)
    for (const Event& event : events) {
      const bool over = event.kind == EventKind::finalize;
      last = std::max(last, over ? event.enter : event.leave);
      if (over) break;
    }
  return last;
}

double Validation::error() const {
  if (measured.median == Time()) return 0;
  return (predicted.median - measured.median).seconds() / measured.median.seconds();
}

Validation validate(const std::vector<trace::Trace>& measured,
                    const std::vector<trace::Trace>& predicted, const trace::TellPlace& tell,
                    const std::vector<Time>& untraced) {
  if (measured.empty() || predicted.empty()) throw Error("validation needs a run of either kind");
  for (const auto* traces : {&measured, &predicted})
    for (const trace::Trace& trace : *traces)
      if (trace.ranks.size() != measured.front().ranks.size())
        throw Error("expected runs of " + std::to_string(measured.front().ranks.size()) +
                    " ranks, found one of " + std::to_string(trace.ranks.size()));
  std::vector<RunSums> sums[2];
  for (const trace::Trace& trace : measured) sums[0].push_back(sums_of(trace, tell));
  for (const trace::Trace& trace : predicted) sums[1].push_back(sums_of(trace, tell));

  Validation result;
  const auto time_of = [](const RunSums& run) { return run.time; };
  result.measured = spread(sums[0], time_of);
  if (!untraced.empty()) {
    result.traced = std::exchange(result.measured, spread_of(untraced));
    const Time more = std::max(result.traced.median - result.measured.median, Time());
    if (const std::uint64_t calls = sums[0].front().most_calls; calls > 0) {
      result.traced_call = Time::ps(more.count_ps() / static_cast<std::int64_t>(calls));
      for (RunSums& run : sums[0])
        take_off_tracing(
            run, Time::ps(result.traced_call.count_ps() * static_cast<std::int64_t>(run.calls)));
    }
  }
  result.predicted = spread(sums[1], time_of);
  for (int part = 0; part < 3; ++part)
    for (int side = 0; side < 2; ++side)
      result.parts[part][side] =
          spread(sums[side], [&](const RunSums& run) { return run.parts[part]; });
  result.switched_out = spread(sums[0], [](const RunSums& run) { return run.switched_out; });
  result.difference =
      compare_traces(measured.front(), predicted.front(), CompareLevel::states).difference;

  std::map<Key, Sum> all;
  for (const std::vector<RunSums>& side : sums)
    for (const RunSums& run : side) all.insert(run.groups.begin(), run.groups.end());
  for (const auto& [key, sum] : all) {
    ValidatedGroup group;
    group.part = key.part;
    group.function = key.function;
    group.kind = sum.kind;
    group.place = key.place;
    group.phase = key.phase;
    group.least = sum.least;
    group.most = sum.most;
    group.ranks = sum.ranks;
    group.calls = sum.calls;
    group.first_calls = sum.first_calls;
    const auto of = [&key = key](Time Sum::*time) {
      return [&key, time](const RunSums& run) { return group_time(run, key, time); };
    };
    group.measured = spread(sums[0], of(&Sum::time));
    group.predicted = spread(sums[1], of(&Sum::time));
    group.measured_first = spread(sums[0], of(&Sum::first_time));
    if (group.measured.median != Time() || group.predicted.median != Time())
      result.groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(result.groups, std::greater<>(), &ValidatedGroup::distance);
  return result;
}

}  // namespace foretrace::analysis
