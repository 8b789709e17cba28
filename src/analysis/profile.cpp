#include "analysis/profile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/segments.hpp"
#include "analysis/waiting.hpp"

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

struct Moved {
  Bytes sent, received, collective;
};

// What a call moves to and from a window or a file.
Moved moved_by_call(const Event& event, const std::string& name) {
  Moved out;
  const bool window = trace::is_one_sided(event);
  const bool reads = !window && name.find("read") != std::string::npos;
  if (window ? machine::carries_there(event.one_sided) : !reads) out.sent = event.bytes;
  if (window ? machine::brings_back(event.one_sided) : reads) out.received = event.bytes;
  return out;
}

Moved moved_by(const Event& event, const std::string& name) {
  if (event.kind == EventKind::call) return moved_by_call(event, name);
  Moved out;
  const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                     event.kind == EventKind::sendrecv;
  if (sends && event.send.peer.valid()) out.sent = event.send.bytes;
  const bool receives = event.kind == EventKind::recv || event.kind == EventKind::sendrecv;
  if (receives && event.recv.peer.valid()) out.received = event.recv.bytes;
  // A posted receive knows only its buffer; what came stands at its completion.
  for (const trace::Completion& done : event.completions)
    if (!done.cancelled) add(out.received, done.bytes);
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
    out.collective = event.bytes;
  return out;
}

// Adds what `event` moved to its function and to the program's messages.
void count_bytes(const Event& event, const Moved& moved, FunctionProfile& function,
                 Profile& profile) {
  add(function.sent, moved.sent);
  add(function.received, moved.received);
  add(function.collective, moved.collective);
  const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                     event.kind == EventKind::sendrecv;
  if (!sends || !event.send.peer.valid()) return;
  ++profile.messages;
  add(profile.message_bytes, moved.sent);
}

// The one function of a data sheet that the call pays for, if it is one.
machine::Cost cost_of(const Event& event) {
  switch (event.kind) {
    case EventKind::collective:
      return event.collective;
    case EventKind::send:
      return machine::Cost::send;
    case EventKind::recv:
      return machine::Cost::recvmin;
    default:
      return machine::Cost::kCount;
  }
}

void count_cost(const Event& event, const trace::Communicator* comm, const Moved& moved,
                SiteProfile& site) {
  site.cost = cost_of(event);
  add(site.bytes, Bytes(moved.sent.count + moved.received.count + moved.collective.count));
  const bool collective = event.kind == EventKind::collective && comm != nullptr;
  site.members += collective ? comm->members.size() : 2;
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

// What the calls of one function from one place have in common.
struct CallKey {
  trace::NameId name = 0;
  PlaceId place = 0;
  auto operator<=>(const CallKey&) const = default;
};

// The collectives of a function from one place, by who came last.
struct LastToCome {
  CollectiveProfile profile;
  std::unordered_map<WorldRank, std::uint64_t> times;

  void add(const CollectiveInstance& instance) {
    ++profile.count;
    profile.spread += instance.spread;
    profile.wait += instance.wait;
    if (!instance.last.valid()) return;
    const std::uint64_t often = ++times[instance.last];
    const bool first = profile.last_count == often && instance.last < profile.last;
    if (often < profile.last_count || (often == profile.last_count && !first)) return;
    profile.last = instance.last;
    profile.last_count = often;
  }
};

// A profile from events that come one by one, each rank's together. `names` and
// `sites` may grow meanwhile.
class Builder {
 public:
  Builder(const trace::TraceInfo& info, const std::vector<std::string>& names,
          const std::vector<trace::Site>& sites, std::size_t ranks, const trace::TellPlace& tell,
          std::uint64_t most_followed)
      : names_(names),
        places_(sites, tell),
        phases_(names, ranks),
        waiting_(info.clock, most_followed) {
    profile_.info = info;
    profile_.ranks = static_cast<int>(ranks);
    profile_.wait_known = info.clock != trace::Clock::cpu;
  }

  // `comm` is the event's, where it has one.
  void take(const Event& event, const trace::Communicator* comm) {
    Called& function = at(functions_, event.name);
    walk_.take(0, event, [&](const Segment& segment) {
      const Time length = segment.to - segment.from;
      if (segment.compute) {
        rank_.compute += length;
        computation_.compute(length);
        return;
      }
      rank_.mpi += length;
      function.state.time += length;
    });
    phases_.take(event);
    marks_.take(event);
    static const std::string kNoName;
    const std::string& name = event.name < names_.size() ? names_[event.name] : kNoName;
    waiting_.take(event, comm, name);
    if (!is_call(event)) return;
    const bool timed = is_timed_call(event);
    function.is_state = function.is_state || timed;
    add_call(event, timed, function.profile);
    const Moved moved = moved_by(event, name);
    count_bytes(event, moved, function.profile, profile_);
    const PlaceId place = places_.of(event.site);
    computation_.call(event.name, place);
    SiteProfile& called = site({event.name, place});
    add_call(event, timed, called);
    count_cost(event, comm, moved, called);
    if (profile_.info.clock == trace::Clock::virtual_) add_wait(event, place, function.profile);
  }

  void end_rank() {
    rank_.rank = WorldRank(static_cast<std::int32_t>(profile_.per_rank.size()));
    rank_.time = walk_.end();
    phases_.end_rank(rank_.time);
    computation_.end_rank();
    waiting_.end_rank();
    profile_.per_rank.push_back(rank_);
    rank_ = RankProfile();
    walk_ = SegmentWalk();
  }

  Profile finish() {
    add_waits();
    finish_ranks();
    profile_.states.push_back({kComputeState, profile_.serial_time, Time(), true});
    for (std::size_t name = 0; name < functions_.size(); ++name) {
      Called& function = functions_[name];
      function.state.name = function.profile.name = names_[name];
      function.state.wait = function.profile.wait;
      function.state.wait_known = function.profile.wait_known;
      if (function.is_state) profile_.states.push_back(std::move(function.state));
      if (function.profile.calls > 0) profile_.functions.push_back(std::move(function.profile));
    }
    for (std::size_t place = 0; place < sites_.size(); ++place)
      for (std::size_t called = 0; called < sites_[place].size(); ++called) {
        SiteProfile& site = sites_[place][called];
        if (site.calls == 0) continue;
        name({static_cast<trace::NameId>(called), static_cast<PlaceId>(place)}, site);
        (place == 0 ? profile_.placeless : profile_.sites).push_back(std::move(site));
      }
    std::ranges::stable_sort(profile_.sites, std::greater<>(), &SiteProfile::time);
    profile_.computation = computation_.finish(names_, places_);
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
    if (timed) calls.time += event.leave - event.enter;
  }

  SiteProfile& site(const CallKey& key) { return at(at(sites_, key.place), key.name); }

  // What the trace says itself.
  void add_wait(const Event& event, PlaceId place, FunctionProfile& function) {
    rank_.wait += event.wait;
    function.wait += event.wait;
    site({event.name, place}).wait += event.wait;
  }

  void add_waits() {
    const bool measured = profile_.info.clock == trace::Clock::wall;
    std::map<std::tuple<WorldRank, WorldRank, CallKey>, WaitPair> pairs;
    const Waits waits = waiting_.finish([&](const Waited& waited) {
      const CallKey key{waited.name, places_.of(waited.site)};
      if (measured) add_measured(waited, key);
      if (!waited.known) return;
      const auto partner = static_cast<std::size_t>(waited.partner.value);
      if (waited.partner.valid() && partner < profile_.per_rank.size())
        profile_.per_rank[partner].caused += waited.late;
      WaitPair& pair = pairs[{waited.rank, waited.partner, key}];
      ++pair.count;
      pair.wait += waited.wait;
      pair.late += waited.late;
    });
    profile_.clock_violations = waits.clock_violations;
    profile_.partners_known = !waits.given_up;
    if (measured && waits.given_up) forget_waits();
    for (auto& [about, pair] : pairs) {
      std::tie(pair.rank, pair.partner, std::ignore) = about;
      name(std::get<CallKey>(about), pair);
      profile_.waits.push_back(std::move(pair));
    }
    std::ranges::stable_sort(profile_.waits, std::greater<>(), &WaitPair::wait);
    add_collectives(waits.collectives);
  }

  void add_measured(const Waited& waited, const CallKey& key) {
    add_wait(waited, functions_[waited.name].profile);
    add_wait(waited, site(key));
    if (waited.known)
      profile_.per_rank[static_cast<std::size_t>(waited.rank.value)].wait += waited.wait;
    else
      profile_.wait_unknown += waited.length;
  }

  void forget_waits() {
    profile_.wait_known = false;
    for (Called& function : functions_) function.profile.wait_known = false;
    for (auto& calls : sites_)
      for (SiteProfile& site : calls) site.wait_known = false;
  }

  // What is not known is said where nothing else is.
  template <class Calls>
  static void add_wait(const Waited& waited, Calls& calls) {
    calls.wait += waited.wait;
    calls.wait_known = calls.wait > Time() || (calls.wait_known && waited.known);
  }

  template <class Named>
  void name(const CallKey& key, Named& named) const {
    named.function = names_[key.name];
    named.place = places_.text(key.place);
  }

  void add_collectives(const std::vector<CollectiveInstance>& instances) {
    std::map<CallKey, LastToCome> by_call;
    for (const CollectiveInstance& instance : instances)
      by_call[{instance.name, places_.of(instance.site)}].add(instance);
    for (auto& [key, last] : by_call) {
      name(key, last.profile);
      profile_.collectives.push_back(std::move(last.profile));
    }
    std::ranges::stable_sort(profile_.collectives, std::greater<>(), &CollectiveProfile::wait);
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
    if (profile_.serial_time == Time()) return;
    profile_.speedup = ratio(profile_.serial_time, profile_.time);
    profile_.efficiency = *profile_.speedup / profile_.ranks;
    profile_.load_balance = ratio(profile_.serial_time, largest_compute) / profile_.ranks;
    profile_.communication_efficiency = ratio(largest_compute, profile_.time);
  }

  const std::vector<std::string>& names_;
  PlaceIds places_;
  Profile profile_;
  RankProfile rank_;  // the one whose events come
  SegmentWalk walk_;
  PhaseWalk phases_;
  MarkCounter marks_;
  WaitFinder waiting_;
  ComputationWalk computation_;
  std::vector<Called> functions_;                // by name
  std::vector<std::vector<SiteProfile>> sites_;  // by place and name; without texts
};

}  // namespace

void set_baseline(Profile& profile, Time serial_run) {
  profile.baseline = serial_run;
  const double speedup = ratio(serial_run, profile.time);
  profile.speedup = speedup;
  profile.efficiency = profile.ranks > 0 ? speedup / profile.ranks : 0;
}

Profile profile_trace(RunEvents run, const trace::TellPlace& tell, std::uint64_t most_followed) {
  Builder builder(run.info(), run.names(), run.sites(), static_cast<std::size_t>(run.ranks()), tell,
                  most_followed);
  for (int r = 0; r < run.ranks(); ++r) {
    run.begin(WorldRank(r));
    while (const Event* event = run.next()) builder.take(*event, run.comm(*event));
    builder.end_rank();
  }
  Profile profile = builder.finish();
  profile.complete = run.sealed();
  profile.damage = run.damage();
  return profile;
}

Profile profile_file(const std::string& path, const trace::TellPlace& tell) {
  return profile_trace(RunEvents(path), tell);
}

std::vector<PhaseProfile> phase_profiles(RunEvents& run) {
  PhaseWalk phases(run.names(), static_cast<std::size_t>(run.ranks()));
  for (int r = 0; r < run.ranks(); ++r) {
    SegmentWalk walk;
    run.begin(WorldRank(r));
    for (std::size_t i = 0; const Event* event = run.next(); ++i) {
      walk.take(i, *event, [](const Segment&) {});
      phases.take(*event);
    }
    phases.end_rank(walk.end());
  }
  return phases.finish();
}

}  // namespace foretrace::analysis
