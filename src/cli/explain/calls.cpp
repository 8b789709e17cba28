#include "cli/explain/calls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/explain/rewrites.hpp"
#include "explain/findings.hpp"
#include "explain/places.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;
using explain::PlaceId;
using trace::EventKind;

constexpr std::size_t kMostPlaces = 3;                // of each kind
constexpr std::uint64_t kMostTriedCalls = 2'000'000;  // are simulated in all
constexpr double kLeastCallsGain = 1e-3;              // of the run time

// Where calls are made that could be others.
struct Candidate {
  PlaceId place = 0;
  Time time;               // in them
  bool elsewhere = false;  // in other places, too
  std::set<std::int32_t> ranks;
};

// By the time there, the most first.
template <class Chosen>
std::vector<Candidate> candidates(const explain::Run& run, Chosen chosen) {
  std::map<PlaceId, Candidate> by_place;
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (const Call& call : run.calls[r]) {
      if (!chosen(call)) continue;
      Candidate& one = by_place[call.place];
      one.place = call.place;
      one.time += run.graph[call.leave].at - run.graph[call.enter].at;
      one.ranks.insert(static_cast<std::int32_t>(r));
    }
  std::vector<Candidate> list;
  for (auto& [place, one] : by_place) list.push_back(std::move(one));
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.time > b.time; });
  return list;
}

// In one, which stands where the first does.
Candidate all_of(const std::vector<Candidate>& list) {
  Candidate all = list.front();
  for (std::size_t i = 1; i < list.size(); ++i) {
    all.time += list[i].time;
    all.ranks.insert(list[i].ranks.begin(), list[i].ranks.end());
  }
  all.elsewhere = list.size() > 1;
  return all;
}

class Tries {
 public:
  Tries(Simulation& simulation, const explain::Run& run, const sim::Source& names,
        explain::Explanation& explanation)
      : simulation_(simulation),
        run_(run),
        names_(names),
        explanation_(explanation),
        places_(run, names),
        left_(kMostTriedCalls / std::max<std::uint64_t>(explanation.calls, 1)) {}

  // `check`: the options that simulate it alone.
  void add(const char* kind, const Candidate& candidate, const WhatIf& what_if,
           const std::string& check) {
    if (left_ == 0) {
      is_cut_ = true;
      return;
    }
    --left_;
    explain::Finding finding;
    try {
      finding.predicted = time_with(what_if);
    } catch (const Error&) {
      // That run does not end, or uses what the machine does not know.
      return;
    }
    finding.gain = run_.time - finding.predicted;
    if (finding.gain.seconds() <= kLeastCallsGain * run_.time.seconds()) return;
    finding.kind = kind;
    finding.place = places_.describe(candidate.place);
    finding.elsewhere = candidate.elsewhere;
    for (const std::int32_t rank : candidate.ranks) finding.ranks.emplace_back(rank);
    finding.spent = candidate.time;
    finding.verified = true;
    finding.effort = explain::Effort::calls;
    finding.check = check;
    explanation_.findings.push_back(std::move(finding));
  }
  bool is_cut() const { return is_cut_; }

 private:
  Time time_with(const WhatIf& what_if) {
    const explain::Edits none;
    // Operations that are kept have no call sites.
    const RewrittenRun rewritten(simulation_.open(), names_, run_, none, what_if);
    sim::NullSink nothing;
    Replay replay;
    replay.settled = true;
    return simulation_.run(*rewritten.open(), nothing, replay).time;
  }

  Simulation& simulation_;
  const explain::Run& run_;
  const sim::Source& names_;
  explain::Explanation& explanation_;
  explain::Places places_;
  std::uint64_t left_;  // simulations
  bool is_cut_ = false;
};

}  // namespace

void find_better_calls(Simulation& simulation, const explain::Run& run, const sim::Source& names,
                       explain::Explanation& explanation) {
  if (names.messages_race()) return;
  const explain::Checks checks(run, names);
  Tries tries(simulation, run, names, explanation);
  const auto barriers = candidates(run, [](const Call& call) {
    return call.kind == EventKind::collective && call.collective == machine::Cost::barrier;
  });
  if (!barriers.empty()) {
    WhatIf what_if;
    what_if.remove_barriers = true;
    tries.add("no barriers", all_of(barriers), what_if, "--remove-barriers");
  }
  // Of those that a name means, in an option of explain, and no others.
  const auto try_most = [&](const char* kind, const char* option, const std::vector<Candidate>& all,
                            std::vector<std::string> WhatIf::*names_of) {
    std::size_t tried = 0;
    for (const Candidate& at : all) {
      const std::string check = checks.option(option, at.place, false);
      if (check.empty()) continue;
      if (tried++ == kMostPlaces) break;
      WhatIf what_if;
      (what_if.*names_of).push_back(check.substr(check.find(' ') + 1));
      tries.add(kind, at, what_if, check);
    }
  };
  const auto sends = candidates(run, [](const Call& call) {
    return call.kind == EventKind::send || call.kind == EventKind::isend;
  });
  try_most("merged messages", "--merge-messages", sends, &WhatIf::merge);
  const auto blocking = candidates(run, [](const Call& call) {
    return call.kind == EventKind::send || call.kind == EventKind::recv ||
           call.kind == EventKind::sendrecv;
  });
  try_most("posted messages", "--nonblocking", blocking, &WhatIf::nonblocking);
  if (tries.is_cut())
    explanation.notes.push_back(
        "the run is too large to try all other calls; --remove-barriers, --merge-messages and "
        "--nonblocking try one");
  std::ranges::stable_sort(explanation.findings,
                           [](const auto& a, const auto& b) { return a.gain > b.gain; });
}

}  // namespace foretrace::cli
