// Operation: what a rank wants to do next.
//
// Operations come from a Source (a trace, a text program, a live program) and
// go through the engine, which gives each one its times; then it is an event. What both have is
// a trace::Call.
// An operation says what is asked for, never when: it has no clock. Plain data;
// handing one over allocates nothing.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

// In Endpoint::tag of a receive: any tag, and it is not known which.
inline constexpr std::int32_t kAnyTag = -1;

// What a look that finds nothing takes at least: a program that polls must see time pass.
inline constexpr Time kLeastPoll = Time::ns(100);

// For how long a rank has waited that was so long in looks in vain, and then computed: a program
// that works for longer than it looked before does not wait.
constexpr Time counts_as_wait(Time looked, Time computed) {
  return computed > looked ? Time() : looked;
}

// Which of its requests a completing operation waits for. The tests never
// wait: they complete what is done, or nothing.
enum class Completing : std::uint8_t { all, any, some, test_all, test_any, test_some };

// call: looks for a message that fits `recv` without taking it; `wait` until
// there is one, `look` now. The same and take it out of matching, to be received
// later (Operation::taken): take_wait, take_look.
enum class Probing : std::uint8_t { none, wait, look, take_wait, take_look };

// call: a lock in virtual time (Operation::lock).
enum class Locking : std::uint8_t { none, shared, exclusive, release };

// In Operation::lock of a recorded call: that of a target in a window, whose communicator is no
// other's.
constexpr std::uint64_t lock_of(trace::CommId window, WorldRank target) {
  return (std::uint64_t{window} + 1) << 32 | static_cast<std::uint32_t>(target.value);
}

// A test that finds nothing, as its rank knows.
struct VainLook {
  Time compute;   // before it, as recorded
  Time patience;  // as Operation's
};

// A recorded rank waits for another of its threads, which only computes. Moments are where a rank
// entered or left an operation, numbered as its source likes, from 1.
struct Joining {
  std::uint64_t left = 0;     // where the operation before this one was left; 0: nobody asks
  std::uint64_t entered = 0;  // where this one is entered; 0: nobody asks
  std::uint64_t from = 0;     // the operation begins no earlier than `after` that; 0: it may
  Time after;
  Time held;  // what of `compute` was the wait, where it was recorded
  // The same in steps, where they are known.
  bool knows_steps = false;
  double after_steps = 0;
  double held_steps = 0;
  // As `from`: it comes after both.
  std::uint64_t second = 0;
  Time after_second;
  double steps_after_second = 0;
};

// Its `name`, `site` and `comm` are for Source::name, ::site and ::comm; `compute` is what was
// recorded. A wildcard receive holds the source and tag that it matched, if the source of the
// operations knows them; one that is open (any_source and no valid peer, or kAnyTag) is matched by
// arrival. A `request` is distinct from those of the rank that are not completed yet.
struct Operation : trace::Call {
  // isend, irecv: false if no message ever belongs to the request: it was
  // cancelled, or it is a wildcard receive that is never completed.
  bool matched : 1 = true;
  // What if it need not wait: it leaves when it would if everybody had been there (`alone`).
  bool waitless : 1 = false;
  // send, recv, call of a live program's library, for itself: takes no time and is no event. Who
  // receives waits for who sends, and no clock moves: what they agree on this way is followed by
  // something timed that all of them wait for. Another receive gets it like any message. A call has
  // the computation of what comes next, which has it again: it waits for its turn.
  bool silent : 1 = false;
  // call: tests in a row that find nothing, `vains`; `compute` is that before the first.
  bool in_vain : 1 = false;
  Completing completing : 4 = Completing::all;  // complete only
  Probing probing : 4 = Probing::none;          // call only
  // A recorded look in a row that ends by finding something (machine::LookRow), but for the first
  // in vain: it computes nothing, and takes nothing if it is in vain.
  bool idle : 1 = false;
  // Its source tells more (Source::joining). Heeded where computation takes what was recorded or
  // announced.
  bool joins : 1 = false;
  Locking locking = Locking::none;  // call only

  union {
    std::int32_t code = 0;  // aborted: as in trace::Event
    // collective: by which of algorithms_for() it is carried out where collectives are
    // messages, from 1; 0: by the one that AlgorithmTable chooses. The same for all members.
    std::uint32_t algorithm;
    // complete, a test with patience: so many of `completions`, the last ones, are
    // not asked for, but end it in vain as soon as one of them is done.
    std::uint32_t watched;
    std::uint32_t vain_count;  // call with `in_vain`
  };

  // Sends: carried to whoever receives the message (Outcome); means nothing here.
  // mark: the bits of its value, in the place of what no mark has.
  std::uint64_t payload = 0;
  union {
    // call: the request of an isend or irecv that is to be cancelled; 0: none.
    std::uint64_t cancel = 0;
    // collective: what `bytes` does not tell; nullptr: it tells all. Valid until the source is
    // asked for the rank's next operation.
    const trace::Counts* counts;
  };
  union {
    std::uint64_t lock = 0;  // call: which lock
    // waitless, all others: how long the call takes if it need not wait; a collective that
    // is carried out as messages: each of its steps. Of use only where ranks are taken up
    // in the order of time.
    const Time* alone;
    const VainLook* vains;  // call with `in_vain`: `vain_count` of them
  };
  // Tests and looks that find nothing go on for so long; not so long where no
  // rank does anything else, so that nothing can come of it.
  Time patience;
  // complete: the requests in the order in which they are handled. Valid until
  // the source is asked for the rank's next operation.
  std::span<const trace::Completion> completions;
};

// The operation's counts, if it has any.
inline const trace::Counts* counts_of(const Operation& operation) {
  using enum trace::EventKind;
  const bool may_have = operation.kind == collective || operation.kind == icollective;
  return may_have ? operation.counts : nullptr;
}

}  // namespace foretrace::sim
