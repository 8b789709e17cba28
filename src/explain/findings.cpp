#include "explain/findings.hpp"

#include <algorithm>
#include <array>

#include "explain/lanes.hpp"
#include "explain/places.hpp"

namespace foretrace::explain {

std::string_view name_of(Effort effort) {
  switch (effort) {
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

void find_range(const Run& run, const Edits& edits, Finding& finding) {
  finding.holds.reset();
  constexpr int kMostRounds = 5;
  // Looks at the first shares closer and closer, until several of them are in proportion; then
  // once at what follows the last that is.
  double from = 0;
  double step = 1.0 / kMostLanes;
  double per_share = 0;  // seconds
  for (int round = 0; round < kMostRounds; ++round) {
    std::array<double, kMostLanes> shares;
    for (std::size_t i = 0; i < kMostLanes; ++i)
      shares[i] = std::min(1.0, from + step * static_cast<double>(i + 1));
    const std::vector<Time> times = times_with_shares(run, edits, shares);
    if (from == 0) per_share = (run.time - times[0]).seconds() / shares[0];
    if (per_share <= 0) return;
    std::size_t good = 0;
    for (; good < kMostLanes; ++good) {
      // Shares of many computations are rounded to a picosecond each.
      const double gained = (run.time - times[good]).seconds();
      if (gained < per_share * shares[good] * (1 - 1e-6)) break;
    }
    const bool looks_closer = from == 0 && good == 1 && round + 1 < kMostRounds;
    if (!looks_closer && good > 0) {
      finding.holds = shares[good - 1];
      finding.gain_there = run.time - times[good - 1];
    }
    if (good == kMostLanes || from > 0) return;
    if (!looks_closer) from = *finding.holds;
    step /= kMostLanes;
  }
}

void find_enough(const Run& run, const Edits& edits, Finding& finding) {
  constexpr double kNearlyAll = 0.99;
  finding.enough = 1;
  double from = 0;
  double wanted = 0;  // seconds
  for (double step = 1.0 / kMostLanes; step > 1e-3; step /= kMostLanes) {
    std::array<double, kMostLanes> shares;
    for (std::size_t i = 0; i < kMostLanes; ++i)
      shares[i] = from + step * static_cast<double>(i + 1);
    const std::vector<Time> times = times_with_shares(run, edits, shares);
    if (from == 0 && wanted == 0) wanted = kNearlyAll * (run.time - times.back()).seconds();
    const auto first = std::ranges::find_if(
        times, [&](Time time) { return (run.time - time).seconds() >= wanted; });
    if (first == times.end()) return;
    const auto at = static_cast<std::size_t>(first - times.begin());
    finding.enough = shares[at];
    from = at == 0 ? from : shares[at - 1];
  }
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
      const Place& one = places_[id];
      const bool named = one.site == name || one.function == name || one.phase == name;
      const bool meant =
          whole_phase ? run_->places[id].phase == run_->places[place].phase : id == place;
      if (named != meant) return false;
    }
    return true;
  };
  for (const std::string* name : {&wanted.site, &wanted.function, &wanted.phase})
    if (fits(*name)) return what + " " + *name;
  return {};
}

}  // namespace foretrace::explain
