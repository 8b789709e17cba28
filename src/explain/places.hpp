// Places: call sites and phases of a run in words.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "explain/explanation.hpp"

namespace foretrace::explain {

class Places {
 public:
  Places(const Run& run, const sim::Source& source) : run_(&run), source_(&source) {}

  Place describe(PlaceId place) const {
    const PlaceKey& key = run_->places[place];
    return {std::string(source_->name(key.name)),
            key.site == 0 ? std::string() : source_->describe_site(key.site),
            run_->phases[key.phase]};
  }

 private:
  const Run* run_;
  const sim::Source* source_;
};

// What options call the phase of a place.
inline std::string phase_option(const Place& place) {
  return place.phase.empty() ? "no-phase" : place.phase;
}

// Whether an option means the calls of the place by that name: its call site, function or phase.
// What begins and ends a phase has the phase's name for a function; what is computed before that is
// of the phase around it.
inline bool is_named(const Run& run, const Place& place, std::string_view name) {
  if (place.site == name || phase_option(place) == name) return true;
  return place.function == name && std::ranges::find(run.phases, name) == run.phases.end();
}

}  // namespace foretrace::explain
