// What findings say of a change beside its gain: what it takes, how far the gain goes, how to
// see it alone.
#pragma once

#include <optional>
#include <string>

#include "explain/edits.hpp"
#include "explain/explanation.hpp"
#include "explain/places.hpp"
#include "explain/run.hpp"

namespace foretrace::explain {

// Of a wait, by its kind.
Effort effort_of(WaitKind kind);

// What calls on files take themselves, at the place where it is the most; nothing: none takes
// any time. Without what it brings.
std::optional<Finding> find_files(const Run& run, const Places& places);

// Sets Finding::holds, gain_there and enough: `edits` are all that the finding changes.
void find_how_far(const Run& run, const Edits& edits, Finding& finding);

// The options that simulate findings: by a name that means the finding's calls and no others.
class Checks {
 public:
  Checks(const Run& run, const sim::Source& source);
  // `place` alone, or all of its phase.
  std::string option(const std::string& what, PlaceId place, bool whole_phase) const;

 private:
  const Run* run_;
  std::vector<Place> places_;
};

}  // namespace foretrace::explain
