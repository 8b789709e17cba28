#include "cli/explain/calls.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/explain/places_by_time.hpp"
#include "cli/explain/rewrites.hpp"
#include "cli/explain/tries.hpp"
#include "explain/findings.hpp"
#include "explain/places.hpp"
#include "explain/rewrites.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;
using trace::EventKind;

constexpr std::size_t kMostPlaces = 3;  // of each kind

// In one, which stands where the first does.
PlaceTime all_of(const std::vector<PlaceTime>& list) {
  PlaceTime all = list.front();
  for (std::size_t i = 1; i < list.size(); ++i) {
    all.time += list[i].time;
    all.ranks.insert(list[i].ranks.begin(), list[i].ranks.end());
  }
  return all;
}

class Tries {
 public:
  Tries(Simulation& simulation, const explain::Run& run, const sim::Source& names,
        const std::vector<std::string>& known_notes, explain::Explanation& explanation)
      : simulation_(simulation),
        run_(run),
        names_(names),
        known_notes_(known_notes),
        explanation_(explanation),
        places_(run, names),
        left_(tries_of(explanation)) {}

  // `check`: the options that simulate it alone. `elsewhere`: it is about other places, too.
  void add(const char* kind, const PlaceTime& at, const WhatIf& what_if, const std::string& check,
           bool elsewhere = false) {
    if (left_ == 0) {
      is_cut_ = true;
      return;
    }
    --left_;
    explain::Finding finding = finding_at(at, places_);
    std::vector<std::string> notes;
    try {
      sim::SimulateResult result = run_with(what_if);
      finding.predicted = result.time;
      notes = new_notes(std::move(result.notes), known_notes_);
    } catch (const Error&) {
      // That run does not end, or uses what the machine does not know.
      return;
    }
    finding.gain = run_.time - finding.predicted;
    if (finding.gain.seconds() <= kLeastTriedGain * run_.time.seconds()) return;
    finding.kind = kind;
    finding.elsewhere = elsewhere;
    finding.effort = explain::Effort::calls;
    finding.check = check;
    finding.notes = std::move(notes);
    explanation_.findings.push_back(std::move(finding));
  }
  bool is_cut() const { return is_cut_; }

 private:
  sim::SimulateResult run_with(const WhatIf& what_if) {
    const explain::Edits none;
    // Operations that are kept have no call sites.
    const RewrittenRun rewritten(simulation_.open(), names_, run_, none, what_if);
    sim::NullSink nothing;
    Replay replay;
    replay.settled = true;
    return simulation_.run(*rewritten.open(), nothing, replay);
  }

  Simulation& simulation_;
  const explain::Run& run_;
  const sim::Source& names_;
  const std::vector<std::string>& known_notes_;
  explain::Explanation& explanation_;
  explain::Places places_;
  std::uint64_t left_;  // simulations
  bool is_cut_ = false;
};

}  // namespace

void find_better_calls(Simulation& simulation, const explain::Run& run, const sim::Source& names,
                       const std::vector<std::string>& known_notes,
                       explain::Explanation& explanation) {
  if (names.messages_race()) return;
  const explain::Checks checks(run, names);
  Tries tries(simulation, run, names, known_notes, explanation);
  const auto barriers = places_by_time(run, [&](const Call& call) {
    return explain::is_barrier(call.kind, call.collective, names.name(run.places[call.place].name));
  });
  if (!barriers.empty()) {
    WhatIf what_if;
    what_if.remove_barriers = true;
    tries.add("no barriers", all_of(barriers), what_if, "--remove-barriers", barriers.size() > 1);
  }
  // Of those that a name means, in an option of explain, and no others.
  const auto try_most = [&](const char* kind, const char* option, const std::vector<PlaceTime>& all,
                            std::vector<std::string> WhatIf::*names_of) {
    std::size_t tried = 0;
    for (const PlaceTime& at : all) {
      const std::string check = checks.option(option, at.place, false);
      if (check.empty()) continue;
      if (tried++ == kMostPlaces) break;
      WhatIf what_if;
      (what_if.*names_of).push_back(check.substr(check.find(' ') + 1));
      tries.add(kind, at, what_if, check);
    }
  };
  const auto sends = places_by_time(run, [](const Call& call) {
    return call.kind == EventKind::send || call.kind == EventKind::isend;
  });
  try_most("merged messages", "--merge-messages", sends, &WhatIf::merge);
  const auto blocking = places_by_time(run, [](const Call& call) {
    return call.kind == EventKind::send || call.kind == EventKind::recv ||
           call.kind == EventKind::sendrecv;
  });
  try_most("posted messages", "--nonblocking", blocking, &WhatIf::nonblocking);
  if (tries.is_cut())
    explanation.notes.push_back(
        "the run is too large to try all other calls; --remove-barriers, --merge-messages and "
        "--nonblocking try one");
}

}  // namespace foretrace::cli
