#include "explain/lanes.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace foretrace::explain {

using sim::Link;
using sim::LinkKind;
using sim::Moment;
using sim::MomentId;
using sim::MomentKind;

namespace {

// As many latencies as are asked for as a rule.
constexpr std::size_t kManyLanes = 20;

// One pass with `Lanes` lanes. `changes(moment, lane times)` gives what is added to a
// computation; `takes(link, out)` how long a link takes in each lane; `shorten(moment, enter,
// times)` what becomes of a leave.
template <std::size_t Lanes, class Changes, class Takes, class Shorten>
std::vector<Time> pass(const Run& run, std::size_t wanted, const Changes& changes,
                       const Takes& takes, const Shorten& shorten) {
  using Times = std::array<std::int64_t, Lanes>;
  const sim::Dependences& graph = run.graph;
  std::vector<Times> at(run.slots.count());
  const auto slot = [&run](MomentId id) { return run.slots.of(id); };
  for (MomentId id = 0; id < graph.size(); ++id) {
    const Moment moment = graph[id];
    const auto links = graph.links(id);
    Times when;
    when.fill(links.empty() ? moment.at.count_ps() : 0);
    for (const Link& link : links) {
      Times more;
      takes(link, more);
      const Times& from = at[slot(link.from)];
      for (std::size_t lane = 0; lane < Lanes; ++lane)
        when[lane] = std::max(when[lane], from[lane] + more[lane]);
    }
    if (moment.kind == MomentKind::enter) changes(id, moment, when);
    if (moment.kind == MomentKind::leave) shorten(moment, at[slot(moment.enter)], when);
    at[slot(id)] = when;
  }
  std::vector<Time> times(wanted);
  for (const MomentId end : run.ends)
    for (std::size_t lane = 0; end != sim::kNoMoment && lane < wanted; ++lane)
      times[lane] = std::max(times[lane], Time::ps(at[slot(end)][lane]));
  return times;
}

// As many lanes as are wanted, or some more.
template <class Changes, class Takes, class Shorten>
std::vector<Time> passes(const Run& run, std::size_t wanted, const Changes& changes,
                         const Takes& takes, const Shorten& shorten) {
  if (wanted > kManyLanes) throw Error("explain: too many lanes");
  if (wanted <= 2) return pass<2>(run, wanted, changes, takes, shorten);
  if (wanted <= 4) return pass<4>(run, wanted, changes, takes, shorten);
  if (wanted <= 8) return pass<8>(run, wanted, changes, takes, shorten);
  if (wanted <= kMostLanes) return pass<kMostLanes>(run, wanted, changes, takes, shorten);
  return pass<kManyLanes>(run, wanted, changes, takes, shorten);
}

constexpr auto as_long = [](const Link& link, auto& out) { out.fill(link.takes.count_ps()); };
constexpr auto as_late = [](const Moment&, const auto&, auto&) {};
constexpr auto as_much = [](MomentId, const Moment&, auto&) {};

}  // namespace

std::vector<Time> times_faster(const Run& run, const CallSet& of, std::span<const double> factors) {
  const auto changes = [&](MomentId id, const Moment& moment, auto& when) {
    const auto call = run.call_begun(id, moment);
    if (!call || call->compute == Time() || !of(*call)) return;
    const std::int64_t compute = call->compute.count_ps();
    for (std::size_t lane = 0; lane < std::min(factors.size(), when.size()); ++lane) {
      const double factor = factors[lane];
      const std::int64_t left =
          factor == 0 ? 0 : std::llround(static_cast<double>(compute) / factor);
      when[lane] += left - compute;
    }
  };
  return passes(run, factors.size(), changes, as_long, as_late);
}

Time longest_wait(const Run& run, const Edits& edits) {
  Time longest;
  for (MomentId id = 0; !edits.waitless.empty() && id < run.graph.size(); ++id) {
    const Moment moment = run.graph[id];
    if (moment.kind == MomentKind::leave && edits.is_waitless(moment.rank, moment.operation))
      longest = std::max(longest, moment.wait());
  }
  return longest;
}

std::vector<Time> times_with_shares(const Run& run, const Edits& edits, Time longest,
                                    std::span<const double> shares) {
  const auto changes = [&](MomentId id, const Moment& moment, auto& when) {
    if (edits.compute.empty()) return;
    const auto call = run.call_begun(id, moment);
    if (!call) return;
    const Time change = edits.compute_before(run, moment.rank, moment.operation) - call->compute;
    if (change == Time()) return;
    const auto whole = static_cast<double>(change.count_ps());
    for (std::size_t lane = 0; lane < std::min(shares.size(), when.size()); ++lane)
      when[lane] += std::llround(shares[lane] * whole);
  };
  const auto shorten = [&](const Moment& moment, const auto& enter, auto& when) {
    if (!edits.is_waitless(moment.rank, moment.operation)) return;
    const std::int64_t alone = (moment.alone - run.graph[moment.enter].at).count_ps();
    for (std::size_t lane = 0; lane < std::min(shares.size(), when.size()); ++lane) {
      const std::int64_t wait = when[lane] - (enter[lane] + alone);
      const std::int64_t most =
          std::llround(shares[lane] * static_cast<double>(longest.count_ps()));
      if (wait > 0) when[lane] -= std::min(wait, most);
    }
  };
  return passes(run, shares.size(), changes, as_long, shorten);
}

std::vector<Time> times_at_latencies(const Run& run, Time as_is, std::span<const Time> latencies) {
  if (as_is <= Time()) throw Error("explain: no latency to start from");
  const std::int64_t before = as_is.count_ps();
  std::vector<Time> times;
  for (std::size_t first = 0; first < latencies.size(); first += kManyLanes) {
    const auto some = latencies.subspan(first, std::min(kManyLanes, latencies.size() - first));
    const auto takes = [&](const Link& link, auto& out) {
      out.fill(link.takes.count_ps());
      // A message's latency is L once, or for the requests and answers of a rendezvous
      // several times.
      const std::int64_t passages =
          link.kind == LinkKind::collective ? 0 : link.latency.count_ps() / before;
      if (passages == 0) return;
      for (std::size_t lane = 0; lane < std::min(some.size(), out.size()); ++lane)
        out[lane] += passages * (some[lane].count_ps() - before);
    };
    for (const Time time : passes(run, some.size(), as_much, takes, as_late)) times.push_back(time);
  }
  return times;
}

}  // namespace foretrace::explain
