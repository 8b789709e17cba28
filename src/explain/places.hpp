// Places: call sites and phases of a run in words.
#pragma once

#include <string>

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

}  // namespace foretrace::explain
