#include "explain/edits.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::explain {
namespace {

void fill(const Run& run, Edits& edits) {
  if (!edits.compute.empty()) return;
  for (const auto& calls : run.calls) {
    edits.compute.emplace_back().reserve(calls.size());
    for (const Call& call : calls) edits.compute.back().push_back(call.compute);
  }
}

// Those calls of a rank that are meant, from one to before another, one after the other.
class ChosenCalls {
 public:
  // All must live as long. `compute`: what comes before the calls, to be edited; nullptr: as it
  // was.
  ChosenCalls(WorldRank rank, const Calls& calls, const CallSet& of, std::vector<Time>* compute,
              std::size_t from, std::size_t to)
      : rank_(rank), calls_(&calls), of_(&of), compute_(compute), at_(from), end_(to) {
    skip();
  }
  bool at_end() const { return at_ == end_; }
  WorldRank rank() const { return rank_; }
  PlaceId place() const { return (*calls_)[at_].place; }
  Time computed() const { return calls_->compute(at_); }
  Time& compute() const { return (*compute_)[at_]; }
  void advance() {
    ++at_;
    skip();
  }

 private:
  void skip() {
    while (!at_end() && !(*of_)((*calls_)[at_])) ++at_;
  }

  WorldRank rank_;
  const Calls* calls_;
  const CallSet* of_;
  std::vector<Time>* compute_;
  std::size_t at_;
  std::size_t end_;
};

// visit(the chosen calls of the ranks that have any): from one collective in which all ranks wait
// for all to the next.
template <class Visit>
void each_stretch(const Run& run, const CallSet& chosen, Edits* edits, const Visit& visit) {
  // A rank's clock starts after MPI_Init.
  const CallSet of = [&chosen](const Call& call) {
    return call.kind != trace::EventKind::init && chosen(call);
  };
  std::size_t meetings = SIZE_MAX;
  for (const auto& mine : run.meetings) meetings = std::min(meetings, mine.size());
  for (std::size_t stretch = 0; stretch <= meetings; ++stretch) {
    std::vector<ChosenCalls> ranks;
    for (std::size_t r = 0; r < run.calls.size(); ++r) {
      const auto& mine = run.meetings[r];
      const std::size_t from = stretch == 0 ? 0 : mine[stretch - 1] + std::size_t{1};
      const std::size_t to =
          stretch == meetings ? run.calls[r].size() : mine[stretch] + std::size_t{1};
      const ChosenCalls calls(WorldRank(static_cast<std::int32_t>(r)), run.calls[r], of,
                              edits ? &edits->compute[r] : nullptr, from, to);
      if (!calls.at_end()) ranks.push_back(calls);
    }
    visit(std::move(ranks));
  }
}

// Whether all make the same calls in the same order.
bool call_alike(std::vector<ChosenCalls> ranks) {
  while (!ranks.empty() && !ranks.front().at_end()) {
    const PlaceId place = ranks.front().place();
    for (ChosenCalls& calls : ranks) {
      if (calls.at_end() || calls.place() != place) return false;
      calls.advance();
    }
  }
  return std::ranges::all_of(ranks, &ChosenCalls::at_end);
}

// Before the n-th call all compute equally long.
void equalise_each(std::vector<ChosenCalls> ranks) {
  while (!ranks.empty() && !ranks.front().at_end()) {
    Time sum;
    for (const ChosenCalls& calls : ranks) sum += calls.compute();
    const Time mean = Time::ps(sum.count_ps() / static_cast<std::int64_t>(ranks.size()));
    for (ChosenCalls& calls : ranks) {
      calls.compute() = mean;
      calls.advance();
    }
  }
}

// All compute equally long altogether, before each call in proportion; a rank that computed
// nothing does so before all its calls alike. The rounded sums are kept exact, so that all
// ranks come out the same.
void equalise_sums(const std::vector<ChosenCalls>& ranks) {
  const auto each = [](ChosenCalls calls, const auto& what) {
    for (; !calls.at_end(); calls.advance()) what(calls.compute());
  };
  Time whole;
  for (const ChosenCalls& rank : ranks) each(rank, [&](Time compute) { whole += compute; });
  const std::int64_t mean = whole.count_ps() / static_cast<std::int64_t>(ranks.size());
  for (const ChosenCalls& rank : ranks) {
    Time sum;
    std::int64_t count = 0;
    each(rank, [&](Time compute) { sum += compute, ++count; });
    const bool equal = sum == Time();
    const __int128 total = equal ? count : sum.count_ps();
    __int128 before = 0;
    each(rank, [&](Time& compute) {
      const __int128 after = before + (equal ? 1 : compute.count_ps());
      compute = Time::ps(static_cast<std::int64_t>(after * mean / total - before * mean / total));
      before = after;
    });
  }
}

// Those that are above the mean the most, until what is left is little.
Unevenness worst_of(const std::vector<Time>& above) {
  constexpr double kMost = 0.9;
  Unevenness result;
  std::vector<WorldRank> order;
  for (std::size_t r = 0; r < above.size(); ++r) {
    if (above[r] == Time()) continue;
    result.above += above[r];
    order.emplace_back(static_cast<std::int32_t>(r));
  }
  const auto of = [&above](WorldRank rank) { return above[static_cast<std::size_t>(rank.value)]; };
  std::ranges::stable_sort(order, [&](WorldRank a, WorldRank b) { return of(a) > of(b); });
  Time told;
  for (const WorldRank rank : order) {
    if (told.seconds() >= kMost * result.above.seconds()) break;
    told += of(rank);
    result.ranks.push_back(rank);
  }
  if (!order.empty()) result.worst = order.front();
  std::ranges::sort(result.ranks);
  return result;
}

}  // namespace

void equalise(const Run& run, const CallSet& of, Edits& edits) {
  fill(run, edits);
  each_stretch(run, of, &edits, [](std::vector<ChosenCalls> ranks) {
    if (call_alike(ranks))
      equalise_each(std::move(ranks));
    else
      equalise_sums(ranks);
  });
}

Unevenness unevenness(const Run& run, const CallSet& of) {
  std::vector<Time> above(run.calls.size());  // by rank
  // One computation of each rank.
  const auto compare = [&above](const std::vector<std::pair<WorldRank, Time>>& all) {
    Time sum;
    std::pair<WorldRank, Time> most;
    for (const auto& one : all) {
      sum += one.second;
      if (one.second > most.second) most = one;
    }
    if (most.second == Time()) return;
    above[static_cast<std::size_t>(most.first.value)] +=
        most.second - Time::ps(sum.count_ps() / static_cast<std::int64_t>(all.size()));
  };
  std::vector<std::pair<WorldRank, Time>> all;
  each_stretch(run, of, nullptr, [&](std::vector<ChosenCalls> ranks) {
    const bool alike = call_alike(ranks);
    while (!ranks.empty() && !ranks.front().at_end()) {
      all.clear();
      for (ChosenCalls& calls : ranks) {
        all.emplace_back(calls.rank(), Time());
        do {
          all.back().second += calls.computed();
          calls.advance();
        } while (!alike && !calls.at_end());
      }
      compare(all);
    }
  });
  return worst_of(above);
}

void speed_up(const Run& run, const CallSet& of, double factor, Edits& edits) {
  fill(run, edits);
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (std::size_t i = 0; i < run.calls[r].size(); ++i) {
      if (!of(run.calls[r][i])) continue;
      Time& compute = edits.compute[r][i];
      compute = Time::ps(std::llround(static_cast<double>(compute.count_ps()) / factor));
    }
}

void take_waits_away(const Run& run, const CallSet& of, Edits& edits) {
  if (edits.waitless.empty())
    for (const auto& calls : run.calls) edits.waitless.emplace_back(calls.size());
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (std::size_t i = 0; i < run.calls[r].size(); ++i)
      if (of(run.calls[r][i])) edits.waitless[r][i] = true;
}

EditedSource::EditedSource(std::unique_ptr<sim::Source> source, const Run& run, const Edits& edits)
    : source_(std::move(source)),
      run_(&run),
      edits_(&edits),
      next_(static_cast<std::size_t>(source_->ranks())) {
  if (edits.waitless.empty()) return;
  alone_.resize(next_.size());
  requests_.resize(next_.size());
  for (sim::MomentId id = 0; id < run.graph.size(); ++id) {
    const sim::Moment& moment = run.graph[id];
    if (moment.kind != sim::MomentKind::leave || !edits.is_waitless(moment.rank, moment.operation))
      continue;
    Alone& alone = alone_[static_cast<std::size_t>(moment.rank.value)];
    if (alone.first.empty() || alone.first.back().first != moment.operation)
      alone.first.emplace_back(moment.operation, static_cast<std::uint32_t>(alone.times.size()));
    // A rendezvous may be over before an eager message's would.
    const Time leaves = std::min(moment.at, moment.alone);
    alone.times.push_back(leaves - run.graph[moment.enter].at);
  }
}

void EditedSource::renumber(WorldRank rank, sim::Operation& operation) {
  using trace::EventKind;
  // A probe's request is that of its message, and is taken but once.
  if (operation.kind == EventKind::probe) return;
  Requests& requests = requests_[static_cast<std::size_t>(rank.value)];
  if (operation.request != 0)
    operation.request = requests.open[operation.request] = ++requests.last;
  const auto number_of = [&](std::uint64_t request) {
    const auto found = requests.open.find(request);
    return found == requests.open.end() ? request : found->second;
  };
  if (operation.kind == EventKind::call && operation.cancel != 0)
    operation.cancel = number_of(operation.cancel);
  if (operation.kind != EventKind::complete) return;
  requests.completions.assign(operation.completions.begin(), operation.completions.end());
  for (trace::Completion& completion : requests.completions) {
    const std::uint64_t request = completion.request;
    completion.request = number_of(request);
    if (operation.completing == sim::Completing::all) requests.open.erase(request);
  }
  operation.completions = requests.completions;
}

const Time* EditedSource::alone_of(WorldRank rank, std::size_t call) const {
  const Alone& alone = alone_[static_cast<std::size_t>(rank.value)];
  const auto found = std::ranges::lower_bound(alone.first, call, {},
                                              [](const auto& entry) { return entry.first; });
  return alone.times.data() + found->second;
}

}  // namespace foretrace::explain
