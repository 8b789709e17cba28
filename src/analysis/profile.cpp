#include "analysis/profile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analysis/messages.hpp"
#include "analysis/segments.hpp"
#include "trace/whole_reader.hpp"

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

double ratio(Time part, Time whole) {
  if (whole == Time()) return 0;
  return static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps());
}

void add(Bytes& sum, Bytes more) {
  sum.count += more.count;
}

bool is_call(const Event& event) {
  return event.kind == EventKind::init || event.kind == EventKind::finalize || is_timed_call(event);
}

// Adds what `event` moved to its function and to the program's messages.
void count_bytes(const Event& event, FunctionProfile& function, Profile& profile) {
  const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                     event.kind == EventKind::sendrecv;
  if (sends && event.send.peer.valid()) {
    add(function.sent, event.send.bytes);
    add(profile.message_bytes, event.send.bytes);
    ++profile.messages;
  }
  const bool receives = event.kind == EventKind::recv || event.kind == EventKind::sendrecv;
  if (receives && event.recv.peer.valid()) add(function.received, event.recv.bytes);
  // A posted receive knows only its buffer; what came stands at its completion.
  for (const trace::Completion& done : event.completions)
    if (!done.cancelled) add(function.received, done.bytes);
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
    add(function.collective, event.bytes);
}

// What belongs to a number; as many as are met.
template <class Value>
Value& at(std::vector<Value>& values, std::size_t number) {
  if (values.size() <= number) values.resize(number + 1);
  return values[number];
}

// The phases of one rank after the other, by name.
class PhaseWalk {
 public:
  PhaseWalk(const std::vector<std::string>& names, std::size_t ranks)
      : names_(names), ranks_(ranks) {}

  void take(const Event& event) {
    if (event.kind == EventKind::phase_begin) {
      if (!unnamed(event.name)) ++phase(event.name).count;
      open_.push_back({event.name, event.enter});
    } else if (event.kind == EventKind::phase_end) {
      // Ends the one opened last under this name, or without one; an end
      // without a beginning says nothing that could be timed.
      std::size_t which = last_open([&](const Open& o) { return o.name == event.name; });
      if (which == 0) {
        which = last_open([&](const Open& o) { return unnamed(o.name); });
        if (which == 0) return;
        ++phase(event.name).count;
        open_[which - 1].name = event.name;
      }
      close(which - 1, event.enter);
    }
  }

  // A phase still open lasts to the end of the rank's program.
  void end_rank(Time end) {
    while (!open_.empty()) close(open_.size() - 1, std::max(end, open_.back().since));
    ++rank_;
  }

  std::vector<PhaseProfile> finish() {
    std::vector<PhaseProfile> phases;
    for (std::size_t name = 0; name < by_name_.size(); ++name) {
      PhaseProfile& phase = by_name_[name];
      if (phase.count == 0) continue;
      phase.name = names_[name];
      const auto slowest = std::max_element(phase.per_rank.begin(), phase.per_rank.end());
      phase.time = *slowest;
      phase.slowest = WorldRank(static_cast<std::int32_t>(slowest - phase.per_rank.begin()));
      Time sum;
      for (Time time : phase.per_rank) sum += time;
      phase.mean = Time::ps(sum.count_ps() / static_cast<std::int64_t>(phase.per_rank.size()));
      phases.push_back(std::move(phase));
    }
    return phases;
  }

 private:
  struct Open {
    trace::NameId name;
    Time since;
  };

  bool unnamed(trace::NameId name) const { return names_[name].empty(); }
  PhaseProfile& phase(trace::NameId name) {
    PhaseProfile& found = at(by_name_, name);
    found.per_rank.resize(ranks_);
    return found;
  }
  template <class Fits>
  std::size_t last_open(Fits fits) const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), fits);
    return static_cast<std::size_t>(open_.rend() - found);  // index + 1; 0: none
  }
  void close(std::size_t index, Time end) {
    const Open ended = open_[index];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
    if (last_open([&](const Open& o) { return o.name == ended.name; }) == 0)
      phase(ended.name).per_rank[rank_] += end - ended.since;
  }

  const std::vector<std::string>& names_;
  std::size_t ranks_;
  std::size_t rank_ = 0;
  std::vector<Open> open_;
  std::vector<PhaseProfile> by_name_;
};

// A profile from events that come one by one, each rank's together. `names` and
// `sites` may grow meanwhile.
class Builder {
 public:
  Builder(const std::vector<std::string>& names, const std::vector<trace::Site>& sites,
          std::size_t ranks)
      : names_(names), sites_(sites), phases_(names, ranks) {
    profile_.ranks = static_cast<int>(ranks);
  }

  void take(const Event& event) {
    Called& function = at(functions_, event.name);
    walk_.take(0, event, [&](const Segment& segment) {
      const Time length = segment.to - segment.from;
      if (segment.compute) {
        rank_.compute += length;
        return;
      }
      rank_.mpi += length;
      rank_.wait += segment.wait;
      function.state.time += length;
      function.state.wait += segment.wait;
    });
    phases_.take(event);
    marks_.take(event);
    if (!is_call(event)) return;
    const bool timed = is_timed_call(event);
    function.is_state = function.is_state || timed;
    add_call(event, timed, function.profile);
    count_bytes(event, function.profile, profile_);
    if (event.site != 0) add_call(event, timed, at(at(calls_, event.site), event.name));
  }

  void end_rank() {
    rank_.rank = WorldRank(static_cast<std::int32_t>(profile_.per_rank.size()));
    rank_.time = walk_.end();
    phases_.end_rank(rank_.time);
    profile_.per_rank.push_back(rank_);
    rank_ = RankProfile();
    walk_ = SegmentWalk();
  }

  Profile finish(const trace::TellPlace& tell) {
    finish_ranks();
    profile_.states.push_back({kComputeState, profile_.serial_time, Time()});
    for (std::size_t name = 0; name < functions_.size(); ++name) {
      Called& function = functions_[name];
      function.state.name = function.profile.name = names_[name];
      if (function.is_state) profile_.states.push_back(std::move(function.state));
      if (function.profile.calls > 0) profile_.functions.push_back(std::move(function.profile));
    }
    if (tell) finish_sites(tell);
    profile_.phases = phases_.finish();
    profile_.marks = marks_.finish(names_);
    return std::move(profile_);
  }

 private:
  struct Called {
    bool is_state = false;
    StateProfile state;
    FunctionProfile profile;
  };

  template <class Calls>
  static void add_call(const Event& event, bool timed, Calls& calls) {
    calls.calls += event.count;
    if (!timed) return;
    calls.time += event.leave - event.enter;
    calls.wait += event.wait;
  }

  // Several return addresses may be one place: a line that was unrolled.
  void finish_sites(const trace::TellPlace& tell) {
    std::map<std::pair<trace::NameId, std::string>, SiteProfile> places;
    for (std::size_t site = 1; site < calls_.size(); ++site) {
      const std::string place = tell(sites_.at(site - 1));
      if (place.empty()) continue;
      for (std::size_t name = 0; name < calls_[site].size(); ++name) {
        const SiteProfile& calls = calls_[site][name];
        if (calls.calls == 0) continue;
        SiteProfile& sum = places[{static_cast<trace::NameId>(name), place}];
        sum.calls += calls.calls;
        sum.time += calls.time;
        sum.wait += calls.wait;
      }
    }
    for (auto& [key, site] : places) {
      site.function = names_[key.first];
      site.place = key.second;
      profile_.sites.push_back(std::move(site));
    }
    std::ranges::stable_sort(profile_.sites, std::greater<>(), &SiteProfile::time);
  }

  void finish_ranks() {
    Time largest_compute;
    for (const RankProfile& rank : profile_.per_rank) {
      profile_.time = std::max(profile_.time, rank.time);
      profile_.serial_time += rank.compute;
      profile_.wait += rank.wait;
      largest_compute = std::max(largest_compute, rank.compute);
    }
    for (RankProfile& rank : profile_.per_rank)
      rank.utilisation = ratio(rank.compute, profile_.time);
    profile_.speedup = ratio(profile_.serial_time, profile_.time);
    if (profile_.ranks > 0) {
      profile_.efficiency = profile_.speedup / profile_.ranks;
      profile_.load_balance = ratio(profile_.serial_time, largest_compute) / profile_.ranks;
    }
    profile_.communication_efficiency = ratio(largest_compute, profile_.time);
  }

  const std::vector<std::string>& names_;
  const std::vector<trace::Site>& sites_;
  Profile profile_;
  RankProfile rank_;  // the one whose events come
  SegmentWalk walk_;
  PhaseWalk phases_;
  MarkCounter marks_;
  std::vector<Called> functions_;                // by name
  std::vector<std::vector<SiteProfile>> calls_;  // by site and name; without texts
};

}  // namespace

Profile profile_trace(const trace::Trace& trace, const trace::TellPlace& tell) {
  Builder builder(trace.names, trace.sites, trace.ranks.size());
  for (const auto& events : trace.ranks) {
    for (const Event& event : events) builder.take(event);
    builder.end_rank();
  }
  Profile profile = builder.finish(tell);
  profile.info = trace.info;
  profile.complete = trace.sealed;
  profile.damage = trace.damage;
  if (trace.info.clock == trace::Clock::wall)
    profile.clock_violations = count_clock_violations(trace);
  return profile;
}

Profile profile_file(const std::string& path, const trace::TellPlace& tell) {
  trace::WholeReader reader(path);
  const trace::TraceReader& file = reader.file();
  // Which send met which receive can only be told with all of them at hand.
  if (file.info().clock == trace::Clock::wall) return profile_trace(trace::read_trace(path), tell);
  Builder builder(reader.names(), reader.sites(), static_cast<std::size_t>(file.ranks()));
  Event event;
  for (int rank = 0; rank < file.ranks(); ++rank) {
    while (reader.next(WorldRank(rank), event)) builder.take(event);
    builder.end_rank();
  }
  Profile profile = builder.finish(tell);
  profile.info = file.info();
  profile.complete = file.sealed();
  profile.damage = file.damage();
  return profile;
}

}  // namespace foretrace::analysis
