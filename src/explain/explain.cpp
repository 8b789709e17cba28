#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "explain/domino.hpp"
#include "explain/explanation.hpp"
#include "explain/findings.hpp"
#include "explain/lanes.hpp"
#include "explain/phases.hpp"
#include "explain/places.hpp"
#include "explain/summary.hpp"
#include "explain/times_without.hpp"
#include "explain/wait_groups.hpp"
#include "explain/what_if.hpp"

namespace foretrace::explain {
namespace {

// Where a what-if for each of very many places would take long, those with the most
// time are tried.
constexpr std::size_t kMostTried = 100;
constexpr std::uint64_t kMostTriedCalls = 20'000'000;
// Findings are only told if they bring at least this share of the run.
constexpr double kLeastGain = 1e-6;
constexpr std::size_t kVerified = 10;
// Runs with more calls are not simulated for each point of a curve.
constexpr std::uint64_t kMostSimulatedCalls = 100'000;
constexpr std::size_t kTwice = 3;
static_assert(kSpeedUps[kTwice] == 2);

class Explainer {
 public:
  Explainer(const Run& run, const sim::Source& source, const Simulate& simulate,
            const ExplainOptions& options)
      : run_(run),
        simulate_(simulate),
        options_(options),
        messages_race_(source.messages_race()),
        places_(run, source),
        checks_(run, source),
        waits_(find_waits(run)),
        without_(run) {}

  Explanation explain() {
    result_.time = run_.time;
    result_.ranks = run_.ranks();
    result_.exact = run_.graph.fixed();
    result_.path = summarise_path(run_, places_);
    result_.calls = result_.path.calls;
    if (options_.estimate_waits)
      result_.notes.emplace_back(
          "messages or locks get into each other's way here: the run without any wait and the ten "
          "best "
          "findings are simulated; what else is said of runs without waits is an estimate, with "
          "every message taking as long as it did");
    if (run_.wildcards > 0 && !messages_race_)
      result_.notes.emplace_back(
          "receives from any source (" + std::to_string(run_.wildcards) +
          ") get the messages that they got in the run, whatever is changed; --wildcards arrival "
          "lets the first one come");
    set_bounds();
    find_delays();
    result_.waits = group_waits(run_, waits_, result_.delays, places_);
    find_single_waits();
    find_domino();
    find_regions();
    find_balance_of_more();
    find_waits_to_mend();
    rank_findings();
    shorten();
    find_curves();
    return std::move(result_);
  }

 private:
  struct Found {
    Finding finding;
    CallSet calls;
    PlaceId place = 0;
  };

  Time simulate(const Edits& edits, Ideal ideal) const {
    sim::NullSink nothing;
    return simulate_(edits, ideal, nothing);
  }

  Time with(const Edits& edits) const {
    return run_.graph.fixed() ? time_with(run_, edits) : simulate(edits, Ideal::as_is);
  }

  Edits equal(const CallSet& of) const {
    Edits edits;
    equalise(run_, of, edits);
    return edits;
  }
  // 0: in no time.
  Edits faster(const CallSet& of, double factor) const {
    Edits edits;
    speed_up(run_, of, factor == 0 ? std::numeric_limits<double>::infinity() : factor, edits);
    return edits;
  }

  Time without_waits(const Edits& edits) const {
    return options_.estimate_waits ? time_with(run_, edits) : with(edits);
  }

  // The same by simulation; nothing where what such a run would do is not known.
  std::optional<Time> simulate_without_waits(const Edits& edits) {
    try {
      return simulate(edits, Ideal::as_is);
    } catch (const Error& error) {
      const std::string note =
          std::string("without its waits a run could not be simulated: ") + error.what();
      if (std::ranges::find(result_.notes, note) == result_.notes.end())
        result_.notes.push_back(note);
      return std::nullopt;
    }
  }

  Time without_any_wait() {
    Edits waitless;
    take_waits_away(
        run_, [](const Call&) { return true; }, waitless);
    const Time time = without_waits(waitless);
    return options_.estimate_waits ? simulate_without_waits(waitless).value_or(time) : time;
  }

  CallSet calls_in(PhaseId phase) const {
    return [this, phase](const Call& call) { return run_.phase_of(call) == phase; };
  }

  Edits balanced_phases() const {
    Edits balanced;
    for (PhaseId phase = 0; phase < run_.phases.size(); ++phase)
      equalise(run_, calls_in(phase), balanced);
    return balanced;
  }

  void set_bounds() {
    const CallSet everything = [](const Call&) { return true; };
    Bounds& bounds = result_.bounds;
    const Edits none;
    PhaseSink phases(run_);
    bounds.ideal_network = simulate_(none, Ideal::ideal, phases);
    const std::optional<Finding> files = find_files(run_, places_);
    PhaseSink without_files(run_);
    if (files) {
      bounds.no_files = simulate(none, Ideal::no_files);
      bounds.ideal_no_files = simulate_(none, Ideal::ideal_no_files, without_files);
      add_files(*files, *bounds.no_files);
    }
    const Time no_files = bounds.ideal_no_files.value_or(bounds.ideal_network);
    result_.efficiency = efficiency_of(run_, {run_.time, bounds.ideal_network, no_files});
    result_.phases = phase_efficiencies(run_, phases.elapsed(),
                                        files ? without_files.elapsed() : phases.elapsed());
    bounds.zero_latency = simulate(none, Ideal::no_latency);
    bounds.infinite_bandwidth = simulate(none, Ideal::infinite_bandwidth);
    if (options_.moves_in_calls) bounds.moving_always = simulate(none, Ideal::moving_always);
    bounds.no_waits = without_any_wait();
    bounds.half_compute = simulate(faster(everything, 2), Ideal::as_is);
    bounds.double_compute = simulate(faster(everything, 0.5), Ideal::as_is);
    const Edits balanced = balanced_phases();
    bounds.balanced = simulate(balanced, Ideal::as_is);
    bounds.balanced_ideal = simulate(balanced, Ideal::ideal);
  }

  void add_files(Finding finding, Time without) {
    finding.predicted = without;
    finding.verified = true;
    found_.push_back({std::move(finding), {}, 0});
  }

  void find_delays() {
    result_.delays = find_delay_costs(run_, waits_);
    if (result_.delays.costs.size() > options_.most_places)
      result_.delays.costs.resize(options_.most_places);
    for (const DelayCost& cost : result_.delays.costs)
      result_.delay_places.push_back(places_.describe(cost.place));
  }

  // Of the regions that bring the most.
  void find_curves() {
    constexpr std::size_t kMostCurves = 10;
    std::vector<Region*> order;
    for (Region& region : result_.regions) order.push_back(&region);
    std::ranges::stable_sort(order, {}, &Region::twice_as_fast);
    for (std::size_t i = kMostCurves; i < order.size(); ++i) order[i]->curve.clear();
    order.resize(std::min(order.size(), kMostCurves));
    for (Region* region : order) {
      const CallSet& of = region_calls_[region->number];
      if (run_.graph.fixed()) continue;
      region->curve_estimated = result_.calls > kMostSimulatedCalls;
      if (region->curve_estimated) {
        region->curve = times_faster(run_, of, kSpeedUps);
        continue;
      }
      for (const double factor : kSpeedUps)
        region->curve.push_back(simulate(faster(of, factor), Ideal::as_is));
    }
  }

  SingleWait single(const Wait& wait) const {
    const sim::Moment& moment = run_.graph[wait.leave];
    SingleWait one;
    one.rank = moment.rank;
    one.operation = moment.operation;
    one.kind = wait.kind;
    one.place = places_.describe(run_.call_of(moment).place);
    one.at = run_.graph[moment.enter].at;
    one.wait = wait.whole();
    one.time_without = without_[wait.leave];
    return one;
  }

  // A single wait's run time by simulation, where the graph is not all.
  void settle(SingleWait& one) const {
    if (run_.graph.fixed() && !has_steps(one)) return;
    Edits edits;
    take_waits_away(
        run_, [](const Call&) { return false; }, edits);
    edits.waitless[static_cast<std::size_t>(one.rank.value)][one.operation] = true;
    one.time_without = without_waits(edits);
  }
  // A collective that is carried out as messages waits in several places.
  bool has_steps(const SingleWait& one) const {
    const Call& call = run_.calls[static_cast<std::size_t>(one.rank.value)][one.operation];
    return run_.graph[call.leave].enter != call.enter;
  }

  void find_single_waits() {
    std::vector<const Wait*> order;
    for (const Wait& wait : waits_) order.push_back(&wait);
    const std::size_t most = std::min(options_.most_places, order.size());
    const auto best = order.begin() + static_cast<std::ptrdiff_t>(most);
    const auto take = [&](auto before, std::vector<SingleWait>& into) {
      std::partial_sort(order.begin(), best, order.end(), before);
      for (auto wait = order.begin(); wait != best; ++wait) {
        into.push_back(single(**wait));
        settle(into.back());
      }
    };
    take(
        [](const Wait* a, const Wait* b) {
          return a->whole() != b->whole() ? a->whole() > b->whole() : a->leave < b->leave;
        },
        result_.longest);
    take(
        [this](const Wait* a, const Wait* b) {
          return without_[a->leave] != without_[b->leave] ? without_[a->leave] < without_[b->leave]
                                                          : a->leave < b->leave;
        },
        result_.best);
    std::erase_if(result_.best,
                  [this](const SingleWait& one) { return one.time_without >= run_.time; });
    std::ranges::stable_sort(result_.best, {}, &SingleWait::time_without);
  }

  void find_domino() {
    for (const sim::MomentId id : find_domino_path(run_, waits_, without_).moments) {
      const sim::Moment& moment = run_.graph[id];
      Domino step;
      step.rank = moment.rank;
      step.place = places_.describe(run_.call_of(moment).place);
      step.waits = moment.kind == sim::MomentKind::leave;
      step.at = step.waits ? run_.graph[moment.enter].at : moment.at;
      step.wait = step.waits ? moment.wait() : Time();
      step.time_without = without_[id];
      result_.domino.push_back(step);
    }
  }

  Region measure(const CallSet& of) const {
    Region region;
    std::vector<double> sums;
    for (std::size_t r = 0; r < run_.calls.size(); ++r) {
      Time sum;
      bool any = false;
      for (const Call& call : run_.calls[r]) {
        if (!of(call)) continue;
        any = true;
        sum += call.compute;
      }
      if (!any) continue;
      sums.push_back(sum.seconds());
      if (sum <= region.most) continue;
      region.most = sum;
      region.slowest = WorldRank(static_cast<std::int32_t>(r));
    }
    const Spread spread = spread_of(sums);
    region.mean = Time::from_seconds(spread.mean);
    region.deviation = spread.deviation;
    return region;
  }

  // A phase: with any of its places.
  void add_region(const CallSet& of, PlaceId id, bool phase) {
    const Place place =
        phase ? Place{"", "", run_.phases[run_.places[id].phase]} : places_.describe(id);
    Region region = measure(of);
    if (region.most == Time()) return;
    const Unevenness uneven = unevenness(run_, of);
    region.above = uneven.above;
    region.place = place;
    region.phase = phase;
    region.number = region_calls_.size();
    region_calls_.push_back(of);
    region.balanced = with(equal(of));
    if (run_.graph.fixed()) {
      region.curve = times_faster(run_, of, kSpeedUps);
      region.twice_as_fast = region.curve[kTwice];
    } else {
      region.twice_as_fast = with(faster(of, 2));
    }
    result_.regions.push_back(region);
    Finding finding;
    finding.kind = "imbalance";
    finding.whole_phase = phase;
    if (phase) id = most_computing(of, uneven.worst.valid() ? uneven.worst : region.slowest);
    finding.place = places_.describe(id);
    finding.ranks = uneven.ranks;
    finding.spent = uneven.above;
    finding.predicted = region.balanced;
    finding.check = checks_.option("--balance", id, phase);
    found_.push_back({finding, of, id});
  }

  // Where the rank computes the longest.
  PlaceId most_computing(const CallSet& of, WorldRank rank) const {
    std::map<PlaceId, Time> sums;
    for (const Call& call : run_.calls[static_cast<std::size_t>(rank.value)])
      if (of(call)) sums[call.place] += call.compute;
    const auto most = std::ranges::max_element(
        sums, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most->first;
  }

  void find_regions() {
    std::set<PhaseId> phases;
    for (PlaceId place = 0; place < run_.places.size(); ++place)
      if (const PhaseId phase = run_.places[place].phase; phases.insert(phase).second)
        add_region(calls_in(phase), place, true);
    std::map<PlaceId, Time> computing;
    for (const auto& calls : run_.calls)
      for (const Call& call : calls) computing[call.place] += call.compute;
    for (const PlaceId place : most_tried(computing))
      add_region([place](const Call& call) { return call.place == place; }, place, false);
  }

  void find_balance_of_more() {
    constexpr std::size_t kMostTogether = 5;
    constexpr std::size_t kMostRounds = 10;
    BalanceOfMore& more = result_.balance;
    more.uneven_rounds = uneven_rounds(run_, kMostRounds, more.rounds);
    if (!options_.nodes.empty()) more.nodes = balance_of_nodes();
    std::vector<const Region*> order;
    for (const Region& region : result_.regions)
      if (!region.phase && region.balanced < run_.time) order.push_back(&region);
    std::ranges::stable_sort(order, {}, &Region::balanced);
    if (order.size() > kMostTogether) order.resize(kMostTogether);
    Edits edits;
    BalanceOfMore::Together together;
    for (const Region* region : order) {
      equalise(run_, region_calls_[region->number], edits);
      together.places.push_back(region->place);
      if (together.places.size() < 2) continue;
      together.time = with(edits);
      more.together.push_back(together);
    }
  }

  std::optional<BalanceOfMore::Nodes> balance_of_nodes() const {
    struct Node {
      Time sum;
      std::size_t ranks = 0;
    };
    std::map<std::int32_t, Node> sums;
    for (std::size_t r = 0; r < run_.calls.size(); ++r) {
      Node& node = sums[options_.nodes[r]];
      ++node.ranks;
      for (const Call& call : run_.calls[r]) node.sum += call.compute;
    }
    if (sums.size() < 2 || sums.size() == run_.calls.size()) return std::nullopt;
    BalanceOfMore::Nodes nodes;
    nodes.count = sums.size();
    std::vector<double> means;
    for (const auto& [number, node] : sums) {
      means.push_back(node.sum.seconds() / static_cast<double>(node.ranks));
      const Time mean = Time::from_seconds(means.back());
      if (mean <= nodes.most) continue;
      nodes.most = mean;
      nodes.slowest = number;
    }
    const Spread spread = spread_of(means);
    nodes.mean = Time::from_seconds(spread.mean);
    nodes.deviation = spread.deviation;
    const CallSet everything = [](const Call&) { return true; };
    Edits within;
    equalise_within(run_, everything, options_.nodes, within);
    nodes.within = with(within);
    Edits between;
    equalise_between(run_, everything, options_.nodes, between);
    nodes.between = with(between);
    return nodes;
  }

  // Those with the most time; all, unless there are very many.
  std::vector<PlaceId> most_tried(const std::map<PlaceId, Time>& times) {
    std::vector<std::pair<Time, PlaceId>> order;
    for (const auto& [place, time] : times)
      if (time > Time()) order.emplace_back(time, place);
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
    // Each is a simulation or two where the graph is not all.
    const std::size_t most =
        run_.graph.fixed()
            ? kMostTried
            : std::clamp<std::size_t>(kMostTriedCalls / std::max<std::uint64_t>(result_.calls, 1),
                                      kMostTried / 10, kMostTried);
    if (order.size() > most) {
      result_.notes.push_back("the " + std::to_string(most) + " call sites with the most " +
                              "time were tried, of " + std::to_string(order.size()));
      order.resize(most);
    }
    std::vector<PlaceId> places;
    for (const auto& [time, place] : order) places.push_back(place);
    return places;
  }

  void find_waits_to_mend() {
    // What a place's waits bring one by one says more of what they bring together
    // than how long they are.
    std::map<PlaceId, Time> worth;
    std::map<PlaceId, Time> spent;
    std::map<PlaceId, std::set<std::int32_t>> ranks;
    for (const Wait& wait : waits_) {
      const sim::Moment& moment = run_.graph[wait.leave];
      const PlaceId place = run_.call_of(moment).place;
      spent[place] += wait.whole();
      worth[place] += wait.whole() + (run_.time - without_[wait.leave]);
      ranks[place].insert(moment.rank.value);
    }
    for (const PlaceId place : most_tried(worth)) {
      const CallSet of = [place](const Call& call) { return call.place == place; };
      Edits edits;
      take_waits_away(run_, of, edits);
      Finding finding;
      finding.kind = "wait";
      finding.place = places_.describe(place);
      finding.spent = spent[place];
      finding.predicted = without_waits(edits);
      finding.estimated = options_.estimate_waits;
      for (const std::int32_t rank : ranks[place]) finding.ranks.emplace_back(rank);
      for (const WaitGroup& group : result_.waits) {
        if (group.place != finding.place) continue;
        finding.wait_kind = group.kind;
        finding.cause = group.blamed ? group.blamed : group.late;
        finding.cause_rank = group.blamed ? group.blamed_rank : group.late_rank;
        break;
      }
      finding.effort = effort_of(finding.wait_kind);
      finding.check = checks_.option("--zero-wait", place, false);
      found_.push_back({std::move(finding), of, place});
    }
  }

  // An imbalance of a phase is that of its places, too. It is told once: of the phase, if that
  // brings more than any place alone.
  void tell_imbalances_once() {
    constexpr double kMore = 1.01;
    std::map<PhaseId, double> of_phase;
    std::map<PhaseId, double> of_places;
    const auto phase_of = [this](const Found& one) { return run_.places[one.place].phase; };
    for (const Found& one : found_) {
      if (one.finding.kind != "imbalance") continue;
      double& best = (one.finding.whole_phase ? of_phase : of_places)[phase_of(one)];
      best = std::max(best, one.finding.gain.seconds());
    }
    std::erase_if(found_, [&](const Found& one) {
      if (one.finding.kind != "imbalance") return false;
      const PhaseId phase = phase_of(one);
      const bool tell_phase = of_phase[phase] > kMore * of_places[phase];
      return one.finding.whole_phase != tell_phase;
    });
  }

  void rank_findings() {
    for (Found& one : found_) {
      one.finding.gain = std::max(run_.time - one.finding.predicted, Time());
      if (one.finding.kind != "files")
        one.finding.verified = !run_.graph.fixed() && !one.finding.estimated;
    }
    std::erase_if(found_, [this](const Found& one) {
      return one.finding.gain.seconds() <= kLeastGain * run_.time.seconds();
    });
    tell_imbalances_once();
    std::ranges::stable_sort(
        found_, [](const Found& a, const Found& b) { return a.finding.gain > b.finding.gain; });
    if (found_.size() > options_.most_findings) found_.resize(options_.most_findings);
    settle_estimates();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (options_.verify && i < kVerified) verify(found_[i]);
      if (i < kVerified) find_how_far(found_[i]);
      result_.findings.push_back(found_[i].finding);
    }
  }

  // Of the best findings those that are estimates are simulated.
  void settle_estimates() {
    for (std::size_t i = 0; i < std::min(kVerified, found_.size()); ++i) {
      Finding& finding = found_[i].finding;
      if (!finding.estimated) continue;
      Edits edits;
      take_waits_away(run_, found_[i].calls, edits);
      const std::optional<Time> time = simulate_without_waits(edits);
      if (!time) continue;
      finding.predicted = *time;
      finding.gain = std::max(run_.time - *time, Time());
      finding.estimated = false;
      finding.verified = true;
    }
    std::erase_if(found_, [](const Found& one) { return one.finding.gain == Time(); });
    std::ranges::stable_sort(
        found_, [](const Found& a, const Found& b) { return a.finding.gain > b.finding.gain; });
  }

  void find_how_far(Found& one) const {
    if (one.finding.kind == "files") return;
    const Edits edits = edits_of(one);
    explain::find_how_far(run_, edits, one.finding);
  }

  Edits edits_of(const Found& one) const {
    if (one.finding.kind != "wait") return equal(one.calls);
    Edits edits;
    take_waits_away(run_, one.calls, edits);
    return edits;
  }

  // Simulates what the finding says.
  void verify(Found& one) const {
    if (one.finding.verified || one.finding.estimated) return;
    const Time time = simulate(edits_of(one), Ideal::as_is);
    if (time != one.finding.predicted)
      throw Error(
          "explain: a finding differs from its simulation; please report this with the trace");
    one.finding.verified = true;
  }

  void shorten() {
    const auto cut = [](auto& list, std::size_t most) {
      if (list.size() > most) list.resize(most);
    };

    cut(result_.path.by_place, options_.most_places);
    cut(result_.path.passages, options_.most_places);
    std::ranges::stable_sort(result_.regions, {}, &Region::balanced);
    cut(result_.regions, options_.most_places);
  }

  const Run& run_;
  const Simulate& simulate_;
  const ExplainOptions& options_;
  const bool messages_race_;
  const Places places_;
  const Checks checks_;
  const std::vector<Wait> waits_;
  const TimesWithout without_;
  std::vector<Found> found_;
  std::vector<CallSet> region_calls_;  // by Region::number
  Explanation result_;
};

}  // namespace

Explanation explain(const Run& run, const sim::Source& source, const Simulate& simulate,
                    const ExplainOptions& options) {
  return Explainer(run, source, simulate, options).explain();
}

}  // namespace foretrace::explain
