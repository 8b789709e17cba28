// Waiting: which calls waited, how long, and for whom.
//
// A virtual trace says how long each call waited. A measured one (clock wall)
// does not: there a call waits from its entry until the last rank that it needs
// has made its own call, but not longer than it lasts. Who is needed: for a
// message its sender; for a send that was still under way when its receive was
// posted, the receiver (one that was left before went by itself); for a
// collective those that docs/theory.md lists; for the lock of a window (in a
// virtual trace) who had it before. What a message's way took is no
// waiting then. A recorded trace without a clock (cpu) knows nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

// A call that waited.
struct Waited {
  WorldRank rank;
  std::size_t event = 0;  // its number on that rank
  trace::NameId name = 0;
  trace::SiteId site = 0;
  Time length;  // of the call
  Time wait;
  Time late;          // the part of `wait` in which `partner` had not made its call yet
  WorldRank partner;  // the last of those that it needed; invalid: nobody came later than itself
  bool known = true;  // false: whether it waited cannot be told; `wait` is zero
};

// One collective of all members of a communicator.
struct CollectiveInstance {
  trace::NameId name = 0;  // as the last to come called it
  trace::SiteId site = 0;  // where it did
  machine::Cost cost = machine::Cost::kCount;
  WorldRank last;  // invalid: all came at the same time
  Time spread;     // from the first to come to the last
  Time wait;       // of all members together
};

struct Waits {
  std::vector<Waited> calls;  // by rank, for each in order
  std::vector<CollectiveInstance> collectives;
  // Messages that were there before their send was entered: the clocks of the
  // ranks' hosts contradict each other. Only with clock wall.
  std::optional<std::uint64_t> clock_violations;
  bool given_up = false;  // there was more to remember than allowed: nothing is known
};

// Takes the events of one rank after another. Which send met which receive is
// MPI's rule: the k-th message from one rank to another under one tag in one
// communicator goes to the k-th receive that was posted for it. Remembers a few
// bytes for each message, collective and wait, not the events; beyond `most` of
// them it forgets them all and gives up.
class WaitFinder {
 public:
  // `most`: sends, receives, members' collectives and waits, together.
  explicit WaitFinder(trace::Clock clock, std::uint64_t most = UINT64_MAX);
  ~WaitFinder();
  WaitFinder(WaitFinder&&) noexcept;

  // `comm` is the event's, where it has one (trace::uses_comm); `name` its function.
  void take(const trace::Event& event, const trace::Communicator* comm, const std::string& name);
  void end_rank();
  // Calls `visit` for each call that waited, by rank and in order; for none if it
  // gave up. Waits::calls stays empty.
  Waits finish(const std::function<void(const Waited&)>& visit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Waits find_waits(const trace::Trace& trace);

// Writes into the events of a measured trace (clock wall) how long they waited;
// leaves others alone.
void fill_waits(trace::Trace& trace);

}  // namespace foretrace::analysis
