// CallingThread: what a session keeps for each thread of the program that calls
// MPI: the call that it is in, and what it computed since the one before.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/thread_calls.hpp"
#include "base/time.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/host/computation.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

struct Request;

// Also what stands for a thread while it makes a call inside another (Session::begin_nested()).
struct CallingThread {
  trace::Event event;        // under construction
  Time packing;              // what its data takes first; its `enter` is after that meanwhile
  trace::Counts counts;      // of `event`; empty: it has none
  Fn fn{};                   // the function of `event`
  bool goes_on = false;      // the call at hand has an event already
  bool in_event = false;     // `event` is begun and not ended
  bool in_vain = false;      // its last call looked for something and found nothing
  std::uint64_t number = 0;  // of the threads that have called, in this order; 0: the first

  const trace::Counts* counts_or_null() const { return counts.empty() ? nullptr : &counts; }

  // Room for the statuses and requests of one call; kept, so that a loop of
  // Waitall does not allocate.
  std::vector<MPI_Status> statuses;
  std::vector<Request*> tracked;

  // Where several threads may call (Session::several_threads()):
  Computation::Thread computed;
  Time clock;              // of the rank when the thread's last call returned
  double steps_clock = 0;  // the rank's steps so far, at that moment
  // The rank's events, as far as they were written then, and those that a thread was behind that it
  // waited for.
  decltype(Position::behind) behind{};
  bool has_called = false;                // it has had an event,
  bool in_turn = false;                   // and one that its turn at hand began
  bool may_split = false;                 // its partners are known: it can be posted
  bool is_posted = false;                 // it is in the trace as what was posted,
  std::array<std::uint64_t, 2> posted{};  // under these numbers; 0: none
};

}  // namespace foretrace::capture
