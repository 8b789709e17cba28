// How far ranks have come in virtual time. Each says how far it is itself (its floor): what it
// sends from now on is sent then or later. So a rank has all messages that were sent before the
// least floor of the others (its horizon), and can tell by itself what a probe or a receive from
// any source finds among them. Only where a message is seen from the moment at which it is sent.
//
// A rank that sleeps in a look says besides until when it does nothing unless it is sent a message:
// its rest. So others need not wait until it has looked. Where all ranks are in looks that wait,
// and nothing is under way, the ranks know which of them the engine ends first, and that rank goes
// on.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace foretrace::live::horizon {

// The simulator's: makes the table. `least_transfer`: a receive that was posted ends so long
// after its message was sent, at least. For many ranks there is none: to look at all of them
// would cost as much as to ask.
void begin(int ranks, Time least_transfer);
bool exists();

// What the rank has sent before `floor` is where it was sent to. Lets those go on that wait for it.
void raise(int rank, Time floor);
// How far a rank sees; all 0 where there is no table.
struct View {
  Time horizon;
  // The same from floors alone, as if nobody's rest were known.
  Time by_floors;
  // Whether somebody else is known to do something else than wait in looks. If not, looks that wait
  // may end at any time, by the engine's rule for ranks that do nothing but look.
  bool others_go_on = false;
};
View of(int rank);
Time least_transfer();

// The calling rank enters a collective on the communicator with this context, before its floor
// passes that moment.
void enter(std::uint32_t context);
// How many did, in all of its collectives: never less than that.
std::uint64_t entries(std::uint32_t context);
// How many did on all communicators.
std::uint64_t all_entries();

// What a rank promises that sleeps in a look.
struct Rest {
  Time until;      // it does nothing before; 0: it promises nothing
  Time enter;      // when the look began
  Time gives_up;   // when it ends in vain; `enter` if it does not wait
  Time events_by;  // for this rank the engine has nothing to come after this
  // Of all_entries(), those that the look knows of; nothing: it looks for no collective.
  std::optional<std::uint64_t> entries;
};
// What the rank sleeps for.
struct Wish {
  std::optional<Time> horizon;
  // Only if others go on (View): it is the end of a look that waits for what nobody has sent.
  bool if_others_go_on = false;
  Rest rest;
};

// The rank promises it, for as long as its posting `posting` is not answered. Its inbox is empty,
// and locked.
void promise(int rank, std::uint32_t posting, const Rest& rest);
// The simulator has answered that posting (Slot::answered): the rank goes on at `clock`.
void goes_on_at(int rank, std::uint32_t posting, Time clock);
// Something came to the rank that it may go on for: it promises nothing any more.
void disturb(int rank);
enum class Awaited : std::uint8_t { nothing, own, another };
// The calling rank is about to sleep (Slot::awaits), and is to be let go on for `wish`. `own`: it
// need not sleep. `another`: a rank that waited goes on now.
Awaited await(int rank, const Wish& wish);
// Whether it comes about if ranks that run go on: all that are not that far do, or wait for such.
bool others_bring(int rank, Time wanted);
// It does not sleep any more. When its look ended, if it did since all ranks did nothing but look.
std::optional<Time> wake_up(int rank);

}  // namespace foretrace::live::horizon
