// Waits: who waited, of which kind, and who was late.
//
// Kinds are named as in the wait states of Scalasca's manual. A wait is split into
// what the other side's lateness made of it and the rest, which the message itself
// took.
#pragma once

#include <string_view>
#include <vector>

#include "explain/run.hpp"

namespace foretrace::explain {

enum class WaitKind : std::uint8_t {
  late_sender,         // a receiver was there before its message was sent
  wrong_order,         // the same, but another message, received later, had been sent before
  late_receiver,       // a sender was there before its receiver (rendezvous)
  wait_at_barrier,     // members of a barrier wait for its last
  barrier_completion,  // all were there, and the first of them has left already
  wait_at_nxn,         // as wait_at_barrier, of other collectives in which all wait for all
  nxn_completion,      // as barrier_completion, of these
  early_reduce,        // the root of a gather or reduce waits for its last member
  late_broadcast,      // members of a broadcast or scatter wait for its root
  early_scan,          // a rank of a scan waits for those before it
  contention,          // nobody was late: the message waited for links or ports that others used
  transfer,            // nobody was late: the message (or collective) itself took so long
  other,               // polls, locks
};
std::string_view name_of(WaitKind kind);

struct Wait {
  sim::MomentId leave = sim::kNoMoment;
  WaitKind kind = WaitKind::other;
  Time lateness;    // how late the other side was, at most the whole wait
  Time transfer;    // the rest
  Time contention;  // of it: on links and ports that others used
  // How much of the whole lies after the first member of the collective has left; only where
  // all wait for all, and the collective is carried out as messages.
  Time completion;
  // Where the other side entered its call; kNoMoment: nobody was late.
  sim::MomentId cause = sim::kNoMoment;
  Time whole() const { return lateness + transfer; }
};

// What Wait::completion is called of the call that waits.
WaitKind completion_kind(const Call& call);

// All of a run, in the order of its graph.
std::vector<Wait> find_waits(const Run& run);

}  // namespace foretrace::explain
