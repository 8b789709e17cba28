#include "analysis/profile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/messages.hpp"
#include "analysis/segments.hpp"

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

void profile_functions(const trace::Trace& trace, Profile& profile) {
  std::vector<FunctionProfile> functions(trace.names.size());
  for (const auto& events : trace.ranks) {
    for (const Event& event : events) {
      if (!is_call(event)) continue;
      FunctionProfile& function = functions.at(event.name);
      function.calls += event.count;
      if (is_timed_call(event)) {
        function.time += event.leave - event.enter;
        function.wait += event.wait;
      }
      count_bytes(event, function, profile);
    }
  }
  for (std::size_t name = 0; name < functions.size(); ++name) {
    if (functions[name].calls == 0) continue;
    functions[name].name = trace.names[name];
    profile.functions.push_back(std::move(functions[name]));
  }
}

// Several return addresses may be one place: a line that was unrolled.
void profile_sites(const trace::Trace& trace, const trace::TellPlace& tell, Profile& profile) {
  std::vector<std::string> places;
  for (const trace::Site& site : trace.sites) places.push_back(tell(site));
  std::map<std::pair<trace::NameId, std::string_view>, SiteProfile> sites;
  for (const auto& events : trace.ranks) {
    for (const Event& event : events) {
      if (event.site == 0 || !is_call(event)) continue;
      const std::string& place = places.at(event.site - std::size_t{1});
      if (place.empty()) continue;
      SiteProfile& site = sites[{event.name, place}];
      site.calls += event.count;
      if (!is_timed_call(event)) continue;
      site.time += event.leave - event.enter;
      site.wait += event.wait;
    }
  }
  for (auto& [key, site] : sites) {
    site.function = trace.names.at(key.first);
    site.place = key.second;
    profile.sites.push_back(std::move(site));
  }
  std::ranges::stable_sort(profile.sites, std::greater<>(), &SiteProfile::time);
}

// Adds one rank's phases to `phases`, which is indexed by name.
void profile_rank_phases(const trace::Trace& trace, std::size_t rank, Time end,
                         std::vector<PhaseProfile>& phases) {
  struct Open {
    trace::NameId name;
    Time since;
  };
  std::vector<Open> open;
  const auto is_open = [&](trace::NameId name) {
    return std::any_of(open.begin(), open.end(), [&](const Open& o) { return o.name == name; });
  };
  const auto close = [&](std::size_t index, Time at) {
    const Open phase = open[index];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
    if (!is_open(phase.name)) phases[phase.name].per_rank[rank] += at - phase.since;
  };

  const auto last_open = [&](auto fits) {
    const auto found = std::find_if(open.rbegin(), open.rend(), fits);
    return static_cast<std::size_t>(open.rend() - found);  // index + 1; 0: none
  };
  const auto unnamed = [&](trace::NameId name) { return trace.names[name].empty(); };

  for (const Event& event : trace.ranks[rank]) {
    if (event.kind == EventKind::phase_begin) {
      if (!unnamed(event.name)) ++phases[event.name].count;
      open.push_back({event.name, event.enter});
    } else if (event.kind == EventKind::phase_end) {
      // Ends the one opened last under this name, or without one; an end
      // without a beginning says nothing that could be timed.
      std::size_t which = last_open([&](const Open& o) { return o.name == event.name; });
      if (which == 0) {
        which = last_open([&](const Open& o) { return unnamed(o.name); });
        if (which == 0) continue;
        ++phases[event.name].count;
        open[which - 1].name = event.name;
      }
      close(which - 1, event.enter);
    }
  }
  // A phase still open lasts to the end of the rank's program.
  while (!open.empty()) close(open.size() - 1, std::max(end, open.back().since));
}

void profile_phases(const trace::Trace& trace, const std::vector<Time>& rank_time,
                    Profile& profile) {
  std::vector<PhaseProfile> phases(trace.names.size());
  for (PhaseProfile& phase : phases) phase.per_rank.resize(trace.ranks.size());
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank)
    profile_rank_phases(trace, rank, rank_time[rank], phases);

  for (std::size_t name = 0; name < phases.size(); ++name) {
    PhaseProfile& phase = phases[name];
    if (phase.count == 0) continue;
    phase.name = trace.names[name];
    const auto slowest = std::max_element(phase.per_rank.begin(), phase.per_rank.end());
    phase.time = *slowest;
    phase.slowest = WorldRank(static_cast<std::int32_t>(slowest - phase.per_rank.begin()));
    Time sum;
    for (Time time : phase.per_rank) sum += time;
    phase.mean = Time::ps(sum.count_ps() / static_cast<std::int64_t>(phase.per_rank.size()));
    profile.phases.push_back(std::move(phase));
  }
}

void profile_ranks(const StateTimes& times, Profile& profile) {
  Time largest_compute;
  for (std::size_t rank = 0; rank < times.time.size(); ++rank) {
    RankProfile r;
    r.rank = WorldRank(static_cast<std::int32_t>(rank));
    r.time = times.rank_time[rank];
    r.compute = times.time[rank][0];
    for (std::size_t state = 1; state < times.states.size(); ++state) {
      r.mpi += times.time[rank][state];
      r.wait += times.wait[rank][state];
    }
    profile.time = std::max(profile.time, r.time);
    profile.serial_time += r.compute;
    profile.wait += r.wait;
    largest_compute = std::max(largest_compute, r.compute);
    profile.per_rank.push_back(r);
  }
  for (RankProfile& r : profile.per_rank) r.utilisation = ratio(r.compute, profile.time);
  profile.speedup = ratio(profile.serial_time, profile.time);
  if (profile.ranks > 0) {
    profile.efficiency = profile.speedup / profile.ranks;
    profile.load_balance = ratio(profile.serial_time, largest_compute) / profile.ranks;
  }
  profile.communication_efficiency = ratio(largest_compute, profile.time);
}

}  // namespace

Profile profile_trace(const trace::Trace& trace, const trace::TellPlace& tell) {
  Profile profile;
  profile.info = trace.info;
  profile.complete = trace.sealed;
  profile.damage = trace.damage;
  profile.ranks = static_cast<int>(trace.ranks.size());

  const StateTimes times = state_times(trace);
  profile_ranks(times, profile);
  for (std::size_t state = 0; state < times.states.size(); ++state) {
    StateProfile total{times.states[state], {}, {}};
    for (std::size_t rank = 0; rank < times.time.size(); ++rank) {
      total.time += times.time[rank][state];
      total.wait += times.wait[rank][state];
    }
    profile.states.push_back(std::move(total));
  }
  profile_functions(trace, profile);
  if (tell) profile_sites(trace, tell, profile);
  profile_phases(trace, times.rank_time, profile);
  profile.marks = profile_marks(trace);
  if (trace.info.clock == trace::Clock::wall)
    profile.clock_violations = count_clock_violations(trace);
  return profile;
}

}  // namespace foretrace::analysis
