// How far ranks have come in virtual time. Each says how far it is itself (its floor): what it
// sends from now on is sent then or later. So a rank has all messages that were sent before the
// least floor of the others (its horizon), and can tell by itself what a probe or a receive from
// any source finds among them. Only where a message is seen from the moment at which it is sent.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace foretrace::live::horizon {

// The simulator's: makes the table. `least_transfer`: a receive that was posted ends so long
// after its message was sent, at least. For many ranks there is none: to look at all of them
// would cost as much as to ask.
void begin(int ranks, Time least_transfer);
bool exists();

// What the rank has sent before `floor` is where it was sent to. Lets those go on that wait for it.
void raise(int rank, Time floor);
// The rank's horizon; 0 where there is no table.
Time of(int rank);
Time least_transfer();

// The calling rank enters a collective on the communicator with this context, before its floor
// passes that moment.
void enter(std::uint32_t context);
// How many did, in all of its collectives: never less than that.
std::uint64_t entries(std::uint32_t context);

// The calling rank is about to sleep (Slot::awaits), and is to be let go on when its horizon is
// `wanted`. True if it is so already.
bool await(int rank, Time wanted);
// Whether it comes about if ranks that run go on: all that are not that far do, or wait for such.
bool others_bring(int rank, Time wanted);
// It does not wait for that any more.
void forget(int rank);

}  // namespace foretrace::live::horizon
