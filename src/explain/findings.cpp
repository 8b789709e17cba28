#include "explain/findings.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "explain/lanes.hpp"
#include "explain/places.hpp"

namespace foretrace::explain {

std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::machine:
      return "machine";
    case Effort::setting:
      return "setting";
    case Effort::calls:
      return "calls";
    case Effort::work:
      break;
  }
  return "work";
}

Effort effort_of(WaitKind kind) {
  switch (kind) {
    case WaitKind::wait_at_nxn:
    case WaitKind::nxn_completion:
    case WaitKind::early_reduce:
    case WaitKind::late_broadcast:
    case WaitKind::early_scan:
      return Effort::work;
    default:
      return Effort::calls;
  }
}

std::optional<Finding> find_files(const Run& run, const Places& places) {
  Finding finding;
  finding.kind = "files";
  finding.effort = Effort::calls;
  std::map<PlaceId, Time> spent;
  for (std::size_t r = 0; r < run.calls.size(); ++r) {
    Time of_rank;
    for (const Call& call : run.calls[r]) {
      if (!run.in_files[call.place]) continue;
      const sim::Moment left = run.graph[call.leave];
      const Time takes = left.at - run.graph[call.enter].at - left.wait();
      spent[call.place] += takes;
      of_rank += takes;
    }
    if (of_rank == Time()) continue;
    finding.ranks.emplace_back(static_cast<std::int32_t>(r));
    finding.spent += of_rank;
  }
  if (finding.spent == Time()) return std::nullopt;
  const auto most = std::ranges::max_element(
      spent, [](const auto& a, const auto& b) { return a.second < b.second; });
  finding.place = places.describe(most->first);
  finding.elsewhere = most->second < finding.spent;
  return finding;
}

namespace {

using Shares = std::array<double, kMostLanes>;

// What shares of a finding's change bring.
class Range {
 public:
  Range(const Run& run, const Edits& edits)
      : run_(run), edits_(edits), longest_(longest_wait(run, edits)) {
    first_ = times(shares_from(0, kFirstStep));
  }

  void find_holds(Finding& finding) const {
    finding.holds.reset();
    constexpr int kMostRounds = 5;
    // Looks at the first shares closer and closer, until several of them are in proportion; then
    // once at what follows the last that is.
    double from = 0;
    double step = kFirstStep;
    double per_share = 0;  // seconds
    for (int round = 0; round < kMostRounds; ++round) {
      const Shares shares = shares_from(from, step);
      const std::vector<Time> found = round == 0 ? first_ : times(shares);
      if (from == 0) per_share = gained(found[0]) / shares[0];
      if (per_share <= 0) return;
      std::size_t good = 0;
      for (; good < kMostLanes; ++good) {
        // Shares of many computations are rounded to a picosecond each.
        if (gained(found[good]) < per_share * shares[good] * (1 - 1e-6)) break;
      }
      const bool looks_closer = from == 0 && good == 1 && round + 1 < kMostRounds;
      if (!looks_closer && good > 0) {
        finding.holds = shares[good - 1];
        finding.gain_there = run_.time - found[good - 1];
      }
      if (good == kMostLanes || from > 0) return;
      if (!looks_closer) from = *finding.holds;
      step /= kMostLanes;
    }
  }

  void find_enough(Finding& finding) const {
    constexpr double kNearlyAll = 0.99;
    const double wanted = kNearlyAll * gained(first_.back());
    finding.enough = 1;
    double from = 0;
    for (double step = kFirstStep; step > 1e-3; step /= kMostLanes) {
      const Shares shares = shares_from(from, step);
      const std::vector<Time> found = step == kFirstStep ? first_ : times(shares);
      const auto enough =
          std::ranges::find_if(found, [&](Time time) { return gained(time) >= wanted; });
      if (enough == found.end()) return;
      const auto at = static_cast<std::size_t>(enough - found.begin());
      finding.enough = shares[at];
      from = at == 0 ? from : shares[at - 1];
    }
  }

 private:
  static constexpr double kFirstStep = 1.0 / kMostLanes;

  static Shares shares_from(double from, double step) {
    Shares shares;
    for (std::size_t i = 0; i < kMostLanes; ++i)
      shares[i] = std::min(1.0, from + step * static_cast<double>(i + 1));
    return shares;
  }
  std::vector<Time> times(const Shares& shares) const {
    return times_with_shares(run_, edits_, longest_, shares);
  }
  double gained(Time time) const { return (run_.time - time).seconds(); }

  const Run& run_;
  const Edits& edits_;
  Time longest_;
  std::vector<Time> first_;  // of the first shares
};

}  // namespace

void find_how_far(const Run& run, const Edits& edits, Finding& finding) {
  const Range range(run, edits);
  range.find_holds(finding);
  range.find_enough(finding);
}

Checks::Checks(const Run& run, const sim::Source& source) : run_(&run) {
  const Places places(run, source);
  for (PlaceId id = 0; id < run.places.size(); ++id) places_.push_back(places.describe(id));
}

std::string Checks::option(const std::string& what, PlaceId place, bool whole_phase) const {
  const Place& wanted = places_[place];
  const auto fits = [&](const std::string& name) {
    if (name.empty() || name.find(' ') != std::string::npos) return false;
    for (PlaceId id = 0; id < places_.size(); ++id) {
      const bool named = is_named(*run_, places_[id], name);
      const bool meant =
          whole_phase ? run_->places[id].phase == run_->places[place].phase : id == place;
      if (named != meant) return false;
    }
    return true;
  };
  for (const std::string& name : {wanted.site, wanted.function, phase_option(wanted)})
    if (fits(name)) return what + " " + name;
  return {};
}

}  // namespace foretrace::explain
