// Where a run calls, by the time that it spends there: what findings on other calls begin with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "explain/explanation.hpp"
#include "explain/places.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

struct PlaceTime {
  explain::PlaceId place = 0;
  machine::Cost collective = machine::Cost::kCount;  // of its calls, if they are collective
  Time time;                                         // in all of them
  std::set<std::int32_t> ranks;
};

// The most time first. `chosen` says of each call whether it counts.
template <class Chosen>
std::vector<PlaceTime> places_by_time(const explain::Run& run, Chosen chosen) {
  std::map<explain::PlaceId, PlaceTime> by_place;
  for (std::size_t r = 0; r < run.calls.size(); ++r)
    for (const explain::Call& call : run.calls[r]) {
      if (!chosen(call)) continue;
      PlaceTime& one = by_place[call.place];
      one.place = call.place;
      one.collective = call.collective;
      one.time += run.graph[call.leave].at - run.graph[call.enter].at;
      one.ranks.insert(static_cast<std::int32_t>(r));
    }
  std::vector<PlaceTime> list;
  for (auto& [place, one] : by_place) list.push_back(std::move(one));
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.time > b.time; });
  return list;
}

// A finding there that has been simulated: what is changed, and what it brings, is to be added.
inline explain::Finding finding_at(const PlaceTime& at, const explain::Places& places) {
  explain::Finding finding;
  finding.place = places.describe(at.place);
  for (const std::int32_t rank : at.ranks) finding.ranks.emplace_back(rank);
  finding.spent = at.time;
  finding.verified = true;
  return finding;
}

}  // namespace foretrace::cli
