// Source: where operations come from. The engine knows nothing else of them.
//
// A source hands out each rank's operations one by one. One that reacts to
// virtual time or to what was received (a live program) is told what completed;
// others ignore that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "sim/operation.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

// When an operation took place on the target.
struct Interval {
  Time compute;  // computation before `enter`
  Time enter;
  Time leave;
  Time wait;  // the part of leave - enter spent waiting for others
};

// What came out of an operation, for sources that react to it.
struct Outcome {
  // recv, sendrecv, probes: the message's source, tag and size; the peer is
  // invalid if there was none.
  trace::Endpoint message;
  // recv, sendrecv: Operation::payload of the message; 0 if there was none.
  std::uint64_t payload = 0;
  // complete: what was completed, in the order in which it was handled, with
  // source, tag and bytes of what was received. Valid during the call.
  std::span<const trace::Completion> completions;
  // Beside each of them the payload of what was received; 0 for sends.
  std::span<const std::uint64_t> payloads;
  // cancel: no message had come, or nobody had received it; the request's completion
  // says so as well. Size and payload of a message that was sent are above.
  bool cancelled = false;
  // A look that found nothing: nor does the same one that begins before this, as long as
  // its rank does nothing but look, for this or anything else, without patience.
  Time in_vain_until = {};
  // How long its rank was in looks that found nothing, this one included, since another call or
  // since it worked (counts_as_wait()).
  Time looked = {};
};

// How a rank's clock moves on where no other rank has a say in it.
struct ClockRules {
  const machine::Timing* timing = nullptr;
  bool by_steps = false;  // computation: annotated steps; else Operation::compute
  double scale = 1;       // of Operation::compute
  // What a message costs follows from `timing` and its size alone, whoever else sends.
  bool by_size = false;
  // Network::least_transfer().
  Time least_transfer = {};
  // Computation follows from a rule that the source does not know.
  bool by_rule = false;
  std::span<const double> slower = {};  // by rank: SimulateOptions::slower
};

class Source {
 public:
  virtual ~Source() = default;

  virtual int ranks() const = 0;

  // Whether the rank is there from the beginning. Others come by take_started(), if
  // at all.
  virtual bool starts(WorldRank) const { return true; }
  // Ranks that the operation started that has completed last: their clocks begin when
  // it leaves.
  virtual std::vector<WorldRank> take_started() { return {}; }

  // The simulation begins.
  virtual void begin(const ClockRules&) {}

  // The next operation of `rank`; false at the end of its stream. Asked only
  // when the rank's previous operation has completed. A stream that ends
  // without finalize or aborted is taken as cut off.
  virtual bool next(WorldRank rank, Operation& operation) = 0;

  // Of the operation that next(rank) gave last, where that `joins`.
  virtual Joining joining(WorldRank) const { return {}; }

  // Whether next(rank) would answer at once. Where it would not (the rank is a
  // process that still computes) the engine goes on with others as far as the
  // result cannot depend on that rank, and calls next(), which then waits, when
  // nothing else is left. Asked of reactive sources alone; may change at any time.
  virtual bool ready(WorldRank) const { return true; }

  // The rank has gone on to the next of its tests in vain.
  virtual void went_on(WorldRank, const Operation&) {}

  // The rank's current operation has completed.
  virtual void completed(WorldRank, const Operation&, const Interval&, const Outcome&) {}

  // Whether completed() wants to be called.
  virtual bool reactive() const { return false; }

  // Whether there may be operations whose outcome depends on who comes first in
  // virtual time: open wildcard receives, probes, Completing other than all, locks.
  // The engine then takes up the ranks in the order of time.
  virtual bool races() const { return false; }
  // Whether that decides which messages meet: locks do not.
  virtual bool messages_race() const { return races(); }

  // Whether there may be posted collectives. Where collectives are messages the engine then takes
  // up the ranks in the order of time.
  virtual bool posts_collectives() const { return true; }

  virtual std::string_view name(trace::NameId id) const = 0;
  // Stays where it is; its members are known until it is freed.
  virtual const trace::Communicator& comm(trace::CommId id) const = 0;
  // Asked only for what Operation::site says, other than 0.
  virtual const trace::Site& site(trace::SiteId) const {
    static const trace::Site nowhere;
    return nowhere;
  }

  // Communicators that no rank has a use for any more, of those since the last call.
  virtual std::vector<trace::CommId> take_freed() { return {}; }

  // How people know what Operation::site says ("halo.c:37"); may be empty.
  virtual std::string describe_site(trace::SiteId) const { return {}; }
  // Where in the program the rank's current operation is ("halo.c:37"); may be empty.
  virtual std::string place(WorldRank) const { return {}; }

  // Why the rank's stream was cut off ("damaged at offset 4711: ..."); may be
  // empty.
  virtual std::string end_reason(WorldRank) const { return {}; }
  // Whether the operations tell all that the ranks have computed, now that they are over.
  virtual bool tells_all_computation() const { return true; }
};

// " at halo.c:37" for messages; nothing where the place is not known.
inline std::string at_place(const std::string& place) {
  return place.empty() ? place : " at " + place;
}

}  // namespace foretrace::sim
