// Delays: who made the others wait, and what it cost them, along chains of waits back to
// the computation or call at fault.
//
// The delay costs of Scalasca (D. Böhme, M. Geimer, F. Wolf, L. Arnold: Identifying the
// root causes of wait states in large-scale parallel applications, ICPP 2010; the same,
// ACM Trans. Parallel Comput. 3(2), 2016). docs/explain.md has the formulas.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/run.hpp"
#include "explain/waits.hpp"

namespace foretrace::explain {

// What a late rank did too long: the computation before a place's calls, these calls themselves, or
// waiting in them for what was on its way already.
enum class DelayKind : std::uint8_t { computation, call, transfer };
std::string_view name_of(DelayKind kind);

// What all delays of one kind at one place cost.
struct DelayCost {
  PlaceId place = 0;
  DelayKind kind = DelayKind::call;
  double direct = 0;             // seconds: waits for the late rank itself
  double indirect = 0;           // seconds: waits for ranks that waited for it
  std::vector<WorldRank> ranks;  // that were late, ascending
  WorldRank most;                // the one of them that cost the most

  double sum() const { return direct + indirect; }
};

// What made ranks wait, the most, along the same chains.
struct DelayCause {
  PlaceId place = 0;
  DelayKind kind = DelayKind::call;
  WorldRank rank;      // that did it
  double seconds = 0;  // of the waits
};

struct DelayCosts {
  std::vector<DelayCost> costs;  // the largest sum first
  double waits = 0;              // seconds: all waits for late ranks
  // Of these: what no delay explains, as the late rank did no more than who waited, or the
  // two had not met for too many calls.
  double unexplained = 0;
  // By place and kind of waits; none where no delay explains any of them.
  std::map<std::pair<PlaceId, WaitKind>, DelayCause> causes;
};

// `waits`: all of the run, as find_waits() gives them.
DelayCosts find_delay_costs(const Run& run, const std::vector<Wait>& waits);

}  // namespace foretrace::explain
