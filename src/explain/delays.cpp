#include "explain/delays.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "explain/critical_path.hpp"

namespace foretrace::explain {

using sim::LinkKind;
using sim::MomentId;
using sim::MomentKind;

namespace {

// The computation of a phase, or what the calls of a place took.
struct Activity {
  DelayKind kind = DelayKind::call;
  std::uint32_t id = 0;  // PhaseId, or PlaceId
  auto operator<=>(const Activity&) const = default;
};

// Ranks that have not met for so many calls are not compared.
constexpr std::uint32_t kMostCalls = 100'000;

// From which calls of theirs on two ranks went on by themselves.
struct Meeting {
  std::uint32_t here = 0;   // of the one that waits
  std::uint32_t there = 0;  // of the one that is late
};

// When ranks met: by messages or in collectives.
class Meetings {
 public:
  explicit Meetings(const Run& run) : run_(&run), gathered_(run.calls.size()) {}

  // Takes up the moments in their order, up to this one.
  void go_on_to(MomentId id) {
    for (; next_ <= id; ++next_) note(next_);
  }

  // The last before the moment `leave` of `here`'s call, of which `cause` is the other end.
  Meeting last(MomentId leave, MomentId cause) const {
    const sim::Moment& here = run_->graph[leave];
    const sim::Moment& there = run_->graph[cause];
    Meeting met = by_message(here, there);
    const Meeting gathered = by_collective(here, there);
    met.here = std::max(met.here, gathered.here);
    met.there = std::max(met.there, gathered.there);
    return met;
  }

 private:
  struct Gathered {
    MomentId latest;
    std::uint32_t operation;
  };

  static std::uint64_t pair_of(WorldRank a, WorldRank b) {
    const auto low = static_cast<std::uint32_t>(std::min(a.value, b.value));
    const auto high = static_cast<std::uint32_t>(std::max(a.value, b.value));
    return std::uint64_t{low} << 32 | high;
  }

  void note(MomentId id) {
    const sim::Moment& moment = run_->graph[id];
    if (moment.kind == MomentKind::latest) return gather(id);
    // Who need not wait goes on as if the other were not there.
    if (moment.kind != MomentKind::leave || moment.wait() == Time()) return;
    std::optional<sim::Link> link = binding_link(run_->graph, id);
    if (link && link->kind == LinkKind::request) link = binding_link(run_->graph, link->from);
    if (link) meet(moment, run_->graph[link->from]);
  }

  void gather(MomentId id) {
    for (const sim::Link& link : run_->graph.links(id)) {
      const sim::Moment& from = run_->graph[link.from];
      if (!from.rank.valid()) continue;
      const auto rank = static_cast<std::size_t>(from.rank.value);
      if (from.operation >= run_->calls[rank].size()) continue;
      const Call& call = run_->call_of(from);
      if (machine::dependence_of(call.collective) == machine::Dependence::all_for_all)
        gathered_[rank].push_back({id, from.operation});
    }
  }

  void meet(const sim::Moment& a, const sim::Moment& b) {
    if (!a.rank.valid() || !b.rank.valid() || a.rank == b.rank) return;
    const bool lower = a.rank < b.rank;
    messages_[pair_of(a.rank, b.rank)].push_back(
        {(lower ? a : b).operation + 1, (lower ? b : a).operation + 1});
  }

  Meeting by_message(const sim::Moment& here, const sim::Moment& there) const {
    const auto found = messages_.find(pair_of(here.rank, there.rank));
    if (found == messages_.end()) return {};
    for (auto met = found->second.rbegin(); met != found->second.rend(); ++met) {
      const Meeting one = here.rank < there.rank ? *met : Meeting{met->there, met->here};
      if (one.here <= here.operation && one.there <= there.operation) return one;
    }
    return {};
  }

  // The latest that both have come to; those at hand do not count.
  Meeting by_collective(const sim::Moment& here, const sim::Moment& there) const {
    const auto& mine = gathered_[static_cast<std::size_t>(here.rank.value)];
    const auto& others = gathered_[static_cast<std::size_t>(there.rank.value)];
    auto a = mine.rbegin();
    auto b = others.rbegin();
    while (a != mine.rend() && b != others.rend()) {
      if (a->operation >= here.operation || a->latest > b->latest)
        ++a;
      else if (b->operation >= there.operation || b->latest > a->latest)
        ++b;
      else
        return {a->operation + 1, b->operation + 1};
    }
    return {};
  }

  const Run* run_;
  MomentId next_ = 0;
  // By two ranks, in order; Meeting::here is of the lower one.
  std::unordered_map<std::uint64_t, std::vector<Meeting>> messages_;
  std::vector<std::vector<Gathered>> gathered_;  // by rank, in order
};

class DelayFinder {
 public:
  DelayFinder(const Run& run, const std::vector<Wait>& waits) : run_(run), waits_(waits) {
    by_rank_.resize(run.calls.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const sim::Moment& moment = run.graph[waits[i].leave];
      by_rank_[static_cast<std::size_t>(moment.rank.value)].push_back(i);
    }
    find_meetings();
    find_groups();
    passed_on_.resize(waits.size());
  }

  DelayCosts find() {
    // Costs are passed on to waits that began to end before: by the moments that ended them.
    std::vector<std::size_t> order;
    for (std::size_t i = waits_.size(); i-- > 0;)
      if (waits_[i].cause != sim::kNoMoment && waits_[i].lateness > Time()) order.push_back(i);
    std::ranges::stable_sort(
        order, [this](std::size_t a, std::size_t b) { return waits_[a].cause > waits_[b].cause; });
    for (const std::size_t i : order) settle(i);
    for (auto& [key, entry] : entries_) {
      DelayCost cost = entry.cost;
      double most = -1;
      for (const auto& [rank, seconds] : entry.ranks) {
        cost.ranks.emplace_back(rank);
        if (seconds <= most) continue;
        most = seconds;
        cost.most = WorldRank(rank);
      }
      result_.costs.push_back(std::move(cost));
    }
    std::ranges::stable_sort(
        result_.costs, [](const DelayCost& a, const DelayCost& b) { return a.sum() > b.sum(); });
    for (const auto& [key, seconds] : due_) {
      const auto& [group, place, kind, rank] = key;
      DelayCause& cause = result_.causes[groups_[group]];
      if (seconds > cause.seconds) cause = {place, kind, WorldRank(rank), seconds};
    }
    return std::move(result_);
  }

 private:
  struct Entry {
    DelayCost cost;
    std::map<std::int32_t, double> ranks;
  };
  // What a rank did between two of its calls, without its waits for others.
  struct Doing {
    std::map<Activity, double> times;                        // seconds
    std::map<std::pair<PlaceId, DelayKind>, double> places;  // the same
    std::map<PlaceId, double> computed_late;                 // of it, after the other began to wait
  };
  // Seconds of waits, by their group.
  using Cost = std::vector<std::pair<std::uint32_t, double>>;

  static void add(Cost& to, std::uint32_t group, double seconds) {
    const auto found = std::ranges::find(to, group, &Cost::value_type::first);
    if (found == to.end())
      to.emplace_back(group, seconds);
    else
      found->second += seconds;
  }

  void find_groups() {
    std::map<std::pair<PlaceId, WaitKind>, std::uint32_t> known;
    for (const Wait& wait : waits_) {
      const PlaceId place = run_.call_of(run_.graph[wait.leave]).place;
      const auto [entry, added] = known.try_emplace({place, wait.kind}, groups_.size());
      if (added) groups_.push_back(entry->first);
      group_.push_back(entry->second);
    }
  }

  void find_meetings() {
    Meetings meetings(run_);
    met_.resize(waits_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const Wait& wait = waits_[i];
      if (wait.cause == sim::kNoMoment) continue;
      // What the wait itself brings about does not count.
      meetings.go_on_to(wait.cause);
      met_[i] = meetings.last(wait.leave, wait.cause);
    }
  }

  Time length(const Call& call) const {
    return call.leave == sim::kNoMoment ? Time()
                                        : run_.graph[call.leave].at - run_.graph[call.enter].at;
  }

  Activity activity(DelayKind kind, PlaceId place) const {
    return {kind, kind == DelayKind::computation ? run_.places[place].phase : place};
  }

  // From before its call `first` up to the beginning of call `last`. `waiting`: since when another
  // waits for it.
  Doing doing(WorldRank rank, std::uint32_t first, std::uint32_t last, Time waiting) const {
    Doing what;
    const auto& calls = run_.calls[static_cast<std::size_t>(rank.value)];
    const auto& waits = by_rank_[static_cast<std::size_t>(rank.value)];
    auto wait = first_wait(waits, first);
    const auto add = [this, &what](const Call& call, DelayKind kind, Time time) {
      if (time <= Time()) return;
      what.times[activity(kind, call.place)] += time.seconds();
      what.places[{call.place, kind}] += time.seconds();
    };
    for (std::uint32_t at = first; at <= last && at < calls.size(); ++at) {
      const Call call = calls[at];
      add(call, DelayKind::computation, call.compute);
      const Time late = std::min(run_.graph[call.enter].at - waiting, call.compute);
      if (late > Time()) what.computed_late[call.place] += late.seconds();
      Time rest = length(call);
      Time transfer;
      for (; wait != waits.end() && operation_of(*wait) == at; ++wait) {
        rest -= waits_[*wait].whole();
        transfer += waits_[*wait].transfer;
      }
      if (at == last) break;
      add(call, DelayKind::call, rest);
      add(call, DelayKind::transfer, transfer);
    }
    return what;
  }

  std::uint32_t operation_of(std::size_t wait) const {
    return run_.graph[waits_[wait].leave].operation;
  }
  std::vector<std::size_t>::const_iterator first_wait(const std::vector<std::size_t>& waits,
                                                      std::uint32_t operation) const {
    return std::ranges::lower_bound(waits, operation, {},
                                    [this](std::size_t wait) { return operation_of(wait); });
  }

  // Passes the costs of a wait on to what made the late rank late: what it did more than
  // the one that waited, and its own waits.
  void settle(std::size_t index) {
    const Wait& wait = waits_[index];
    const sim::Moment& here = run_.graph[wait.leave];
    const sim::Moment& there = run_.graph[wait.cause];
    const double direct = wait.lateness.seconds();
    double indirect = 0;
    for (const auto& [group, seconds] : passed_on_[index]) indirect += seconds;
    Cost cost = std::move(passed_on_[index]);
    add(cost, group_[index], direct);
    result_.waits += direct;
    const Meeting met = met_[index];
    if (here.operation - met.here > kMostCalls || there.operation - met.there > kMostCalls ||
        there.operation >= run_.calls[static_cast<std::size_t>(there.rank.value)].size()) {
      result_.unexplained += direct + indirect;
      return;
    }
    const Time waiting = run_.graph[here.enter].at;
    const Doing mine = doing(here.rank, met.here, here.operation, waiting);
    const Doing late = doing(there.rank, met.there, there.operation, waiting);
    std::map<Activity, double> share;  // of each activity of the late rank: how much is too much
    double excess = 0;
    for (const auto& [activity, seconds] : late.times) {
      const auto found = mine.times.find(activity);
      const double more = seconds - (found == mine.times.end() ? 0 : found->second);
      if (more <= 0) continue;
      excess += more;
      share[activity] = more / seconds;
    }
    const std::vector<std::pair<std::size_t, double>> its_waits =
        waits_before(wait.cause, met.there);
    for (const auto& [one, seconds] : its_waits) excess += seconds;
    if (excess <= 0) {
      result_.unexplained += direct + indirect;
      return;
    }
    const auto parts = parts_of(late, share);
    for (const auto& [key, seconds] : parts) {
      const auto& [place, kind] = key;
      const double part = seconds / excess;
      blame(place, kind, there.rank, part * direct, part * indirect);
      for (const auto& [group, of_group] : cost)
        due_[{group, place, kind, there.rank.value}] += part * of_group;
    }
    for (const auto& [one, seconds] : its_waits)
      for (const auto& [group, of_group] : cost)
        add(passed_on_[one], group, seconds / excess * of_group);
  }

  // What is too much of what a late rank did, in seconds, by place. `share`: of its activities. Of
  // a phase's computation it is that which others waited for, as far as there is any.
  std::map<std::pair<PlaceId, DelayKind>, double> parts_of(
      const Doing& late, const std::map<Activity, double>& share) const {
    std::map<Activity, double> computed_late;
    for (const auto& [place, seconds] : late.computed_late)
      computed_late[activity(DelayKind::computation, place)] += seconds;
    std::map<std::pair<PlaceId, DelayKind>, double> parts;
    for (const auto& [key, seconds] : late.places) {
      const auto& [place, kind] = key;
      const Activity of = activity(kind, place);
      const auto found = share.find(of);
      if (found == share.end()) continue;
      const auto all_late = computed_late.find(of);
      if (all_late == computed_late.end()) {
        parts[key] = seconds * found->second;
        continue;
      }
      const auto here = late.computed_late.find(place);
      if (here == late.computed_late.end()) continue;
      parts[key] = late.times.at(of) * found->second * here->second / all_late->second;
    }
    return parts;
  }

  // Waits of the rank that is late by the moment `cause`, from its call `first` on, and for how
  // long each: also in the call at hand, where that is a collective carried out as messages and the
  // moment one of these.
  std::vector<std::pair<std::size_t, double>> waits_before(MomentId cause,
                                                           std::uint32_t first) const {
    const sim::Moment& there = run_.graph[cause];
    const auto rank = static_cast<std::size_t>(there.rank.value);
    std::vector<std::pair<std::size_t, double>> found;
    const auto& all = by_rank_[rank];
    for (auto one = first_wait(all, first); one != all.end(); ++one) {
      const Wait& wait = waits_[*one];
      if (operation_of(*one) > there.operation) break;
      if (wait.cause == sim::kNoMoment) continue;
      if (wait.leave >= cause) break;
      if (wait.lateness > Time()) found.emplace_back(*one, wait.lateness.seconds());
    }
    return found;
  }

  void blame(PlaceId place, DelayKind kind, WorldRank rank, double direct, double indirect) {
    Entry& entry = entries_[{place, kind}];
    entry.cost.place = place;
    entry.cost.kind = kind;
    entry.cost.direct += direct;
    entry.cost.indirect += indirect;
    entry.ranks[rank.value] += direct + indirect;
  }

  const Run& run_;
  const std::vector<Wait>& waits_;
  std::vector<std::vector<std::size_t>> by_rank_;  // waits, in the order of calls
  std::vector<Meeting> met_;                       // by wait
  std::vector<Cost> passed_on_;                    // by wait: what others waited because of it
  std::vector<std::uint32_t> group_;               // by wait
  std::vector<std::pair<PlaceId, WaitKind>> groups_;
  std::map<std::pair<PlaceId, DelayKind>, Entry> entries_;
  // Seconds by group of waits, and who did what.
  std::map<std::tuple<std::uint32_t, PlaceId, DelayKind, std::int32_t>, double> due_;
  DelayCosts result_;
};

}  // namespace

std::string_view name_of(DelayKind kind) {
  switch (kind) {
    case DelayKind::computation:
      return "computation before";
    case DelayKind::transfer:
      return "transfer";
    case DelayKind::call:
      break;
  }
  return "call";
}

DelayCosts find_delay_costs(const Run& run, const std::vector<Wait>& waits) {
  return DelayFinder(run, waits).find();
}

}  // namespace foretrace::explain
