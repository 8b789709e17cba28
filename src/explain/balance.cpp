#include "explain/balance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace foretrace::explain {
namespace {

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
  sim::MomentId enter() const { return calls_->enter(at_); }
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

// visit(number, the chosen calls of the ranks that have any): from one collective in which all
// ranks wait for all to the next.
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
    visit(stretch, std::move(ranks));
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

// All ranks of one part compute equally long altogether, or each part as long as its number of
// ranks says; before each call in proportion. A part that computed nothing does so before all its
// calls alike. The rounded sums are kept exact, so that equal parts come out the same.
using Part = std::vector<ChosenCalls>;
void equalise_sums(const std::vector<Part>& parts) {
  const auto each = [](const Part& part, const auto& what) {
    for (ChosenCalls calls : part)
      for (; !calls.at_end(); calls.advance()) what(calls.compute());
  };
  Time whole;
  std::int64_t ranks = 0;
  for (const Part& part : parts) {
    each(part, [&](Time compute) { whole += compute; });
    ranks += static_cast<std::int64_t>(part.size());
  }
  const __int128 mean = whole.count_ps() / ranks;
  for (const Part& part : parts) {
    Time sum;
    std::int64_t count = 0;
    each(part, [&](Time compute) { sum += compute, ++count; });
    const bool equal = sum == Time();
    const __int128 total = equal ? count : sum.count_ps();
    const __int128 wanted = mean * static_cast<std::int64_t>(part.size());
    __int128 before = 0;
    each(part, [&](Time& compute) {
      const __int128 after = before + (equal ? 1 : compute.count_ps());
      compute =
          Time::ps(static_cast<std::int64_t>(after * wanted / total - before * wanted / total));
      before = after;
    });
  }
}

void equalise_ranks(Part ranks) {
  if (call_alike(ranks)) return equalise_each(std::move(ranks));
  std::vector<Part> alone;
  for (const ChosenCalls& calls : ranks) alone.push_back({calls});
  equalise_sums(alone);
}

std::vector<Part> grouped_parts(const std::vector<ChosenCalls>& ranks, const Groups& groups) {
  std::map<std::int32_t, Part> parts;
  for (const ChosenCalls& calls : ranks)
    parts[groups[static_cast<std::size_t>(calls.rank().value)]].push_back(calls);
  std::vector<Part> list;
  for (auto& [group, part] : parts) list.push_back(std::move(part));
  return list;
}

// By rank, what lies above the mean: those to whom the most is due, until what is left is little.
Unevenness worst_of(const std::vector<Time>& above) {
  constexpr double kMost = 0.9;
  Unevenness result;
  std::vector<WorldRank> order;
  Time all;
  for (std::size_t r = 0; r < above.size(); ++r) {
    if (above[r] == Time()) continue;
    all += above[r];
    order.emplace_back(static_cast<std::int32_t>(r));
  }
  const auto of = [&above](WorldRank rank) { return above[static_cast<std::size_t>(rank.value)]; };
  std::ranges::stable_sort(order, [&](WorldRank a, WorldRank b) { return of(a) > of(b); });
  Time told;
  for (const WorldRank rank : order) {
    // None is left out to whom as much is due, or nearly, as to the first.
    const bool alike = of(rank) + of(rank) >= of(order.front());
    if (told.seconds() >= kMost * all.seconds() && !alike) break;
    told += of(rank);
    result.ranks.push_back(rank);
  }
  if (!order.empty()) result.worst = order.front();
  std::ranges::sort(result.ranks);
  return result;
}

}  // namespace

void equalise(const Run& run, const CallSet& of, Edits& edits) {
  fill_compute(run, edits);
  each_stretch(run, of, &edits, [](std::size_t, Part ranks) { equalise_ranks(std::move(ranks)); });
}

void equalise_within(const Run& run, const CallSet& of, const Groups& groups, Edits& edits) {
  fill_compute(run, edits);
  each_stretch(run, of, &edits, [&groups](std::size_t, const Part& ranks) {
    for (Part& part : grouped_parts(ranks, groups)) equalise_ranks(std::move(part));
  });
}

void equalise_between(const Run& run, const CallSet& of, const Groups& groups, Edits& edits) {
  fill_compute(run, edits);
  each_stretch(run, of, &edits, [&groups](std::size_t, const Part& ranks) {
    if (!ranks.empty()) equalise_sums(grouped_parts(ranks, groups));
  });
}

Unevenness unevenness(const Run& run, const CallSet& of) {
  std::vector<Time> above(run.calls.size());  // by rank
  Time longest;                               // above the mean
  // One computation of each rank.
  const auto compare = [&above, &longest](const std::vector<std::pair<WorldRank, Time>>& all) {
    Time sum;
    for (const auto& one : all) sum += one.second;
    const Time mean = Time::ps(sum.count_ps() / static_cast<std::int64_t>(all.size()));
    Time most;
    for (const auto& one : all) most = std::max(most, one.second - mean);
    for (const auto& one : all) {
      const Time beyond = one.second - mean;
      if (beyond > Time() && beyond + beyond >= most)
        above[static_cast<std::size_t>(one.first.value)] += beyond;
    }
    longest += most;
  };
  std::vector<std::pair<WorldRank, Time>> all;
  each_stretch(run, of, nullptr, [&](std::size_t, std::vector<ChosenCalls> ranks) {
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
  Unevenness result = worst_of(above);
  result.above = longest;
  return result;
}

std::vector<Round> uneven_rounds(const Run& run, std::size_t most, std::size_t& count) {
  std::vector<Round> rounds;
  count = 0;
  const auto worse = [](const Round& a, const Round& b) {
    return a.above() != b.above() ? a.above() > b.above() : a.number < b.number;
  };
  const CallSet everything = [](const Call&) { return true; };
  each_stretch(run, everything, nullptr, [&](std::size_t number, std::vector<ChosenCalls> ranks) {
    ++count;
    Round round;
    round.number = number;
    round.from = Time::max();
    std::vector<double> sums;
    for (ChosenCalls& calls : ranks) {
      round.from = std::min(round.from, run.graph[calls.enter()].at - calls.computed());
      Time sum;
      for (; !calls.at_end(); calls.advance()) sum += calls.computed();
      sums.push_back(sum.seconds());
      if (sum <= round.most) continue;
      round.most = sum;
      round.slowest = calls.rank();
    }
    if (round.most == Time()) return;
    const Spread spread = spread_of(sums);
    round.mean = Time::from_seconds(spread.mean);
    round.deviation = spread.deviation;
    rounds.push_back(round);
    if (rounds.size() < 2 * most + 1) return;
    std::ranges::sort(rounds, worse);
    rounds.resize(most);
  });
  std::ranges::sort(rounds, worse);
  if (rounds.size() > most) rounds.resize(most);
  return rounds;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / count);
  return spread;
}

}  // namespace foretrace::explain
