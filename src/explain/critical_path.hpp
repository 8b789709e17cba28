// The critical path: the links that led to the end of the run, from its end back.
//
// Every picosecond of the run lies in exactly one step of it.
#pragma once

#include <optional>
#include <vector>

#include "explain/run.hpp"

namespace foretrace::explain {

// What a stretch of time went into; the sum is the stretch.
struct Parts {
  Time compute;
  Time overhead;         // the processor's work for messages
  Time latency;          // of messages
  Time bytes;            // of messages and collectives: what their sizes add
  Time synchronisation;  // collectives without their bytes
  Time files;            // calls on files, what they all wait for aside
  Time queue;            // waiting for links and ports that others used

  Time sum() const {
    return compute + overhead + latency + bytes + synchronisation + files + queue;
  }
  Parts& operator+=(const Parts& other);
};
Parts parts_of(const sim::Link& link);

// A link of the path, between two moments; the first one has only its end.
struct Step {
  sim::MomentId from = sim::kNoMoment;
  sim::MomentId to = sim::kNoMoment;
  // In whose call it lies: `to`; what a request takes lies in the call that waits for it.
  sim::MomentId call = sim::kNoMoment;
  sim::LinkKind kind = sim::LinkKind::compute;
  Parts parts;
};

// The link that made a moment as late as it is; where several did, one of the same
// rank. Nothing: it has none.
std::optional<sim::Link> binding_link(const sim::Dependences& graph, sim::MomentId id);

// From the start of the run to its end; the lengths add up to the run's time.
std::vector<Step> critical_path(const Run& run);

}  // namespace foretrace::explain
