// What `foretrace explain` is asked for by hand: edits of a run by the names of places
// and phases.
#pragma once

#include <string>
#include <vector>

#include "explain/edits.hpp"
#include "explain/rewrites.hpp"
#include "explain/run.hpp"
#include "sim/source.hpp"

namespace foretrace::cli {

struct WhatIf {
  std::vector<std::string> zero_wait;    // SITE
  std::vector<std::string> balance;      // PHASE or SITE
  std::vector<std::string> speed;        // PHASE=FACTOR or SITE=FACTOR
  std::vector<std::string> collective;   // SITE=ALGORITHM
  std::vector<std::string> merge;        // SITE
  std::vector<std::string> nonblocking;  // SITE
  bool remove_barriers = false;
  std::string set;          // as --loggps
  std::string faster_link;  // A,B=FACTOR

  // Other calls than the run has made.
  bool rewrites() const {
    return !collective.empty() || !merge.empty() || !nonblocking.empty() || remove_barriers;
  }
  bool any() const {
    return !zero_wait.empty() || !balance.empty() || !speed.empty() || !set.empty() ||
           !faster_link.empty() || rewrites();
  }
};

// What stands behind the last = of `text`, which was given to `option`. Throws UsageError for what
// is no number above 0; `example` is one that is right.
double factor_of(const std::string& option, const std::string& text, const std::string& example);

// The places that a name means: a call site (halo.c:37), a function or a phase. Throws
// UsageError for one that the run does not have, and tells those that it has; `option` is
// what the name was given to. `run` must live as long.
explain::PlaceSet places_of(const std::string& option, const std::string& name,
                            const explain::Run& run, const sim::Source& source);

// A SITE is a place (halo.c:37) or a function (MPI_Recv), a PHASE what the program calls
// it. Throws UsageError for a name that the run does not have, and tells those that it has.
explain::Edits edits_of(const WhatIf& what_if, const explain::Run& run, const sim::Source& source);

}  // namespace foretrace::cli
