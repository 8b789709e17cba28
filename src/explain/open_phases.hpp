// OpenPhases: which phases of a program a rank is in.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace foretrace::explain {

// `Id` tells phases apart.
template <class Id>
class OpenPhases {
 public:
  void begin(Id phase) { open_.push_back(phase); }
  // An end without a name ends the phase that was opened last; one without a
  // beginning ends nothing.
  void end(Id phase, bool named) {
    const auto found = std::find(open_.rbegin(), open_.rend(), phase);
    if (found != open_.rend())
      open_.erase(std::next(found).base());
    else if (!open_.empty() && !named)
      open_.pop_back();
  }
  Id innermost(Id none) const { return open_.empty() ? none : open_.back(); }
  void clear() { open_.clear(); }

 private:
  std::vector<Id> open_;  // innermost last
};

}  // namespace foretrace::explain
