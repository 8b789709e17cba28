// Threads of the program: which made which, who waited for another, and how far each is by that.
// thread_calls.cpp and thread_waits.cpp stand in for the C library's functions, in the libraries
// that they are part of.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace foretrace {

// How far a thread of a rank is: on the rank's clock, and in what the rank announces.
struct Position {
  Time clock;
  double steps = 0;
  std::uint64_t waits = 0;  // calls of its threads that are over and may have waited
};

// The later one in each.
Position later(const Position& a, const Position& b);

namespace thread_calls {

// What follows the program's calls of MPI says of the calling thread:
struct Watcher {
  // Whether what it does now is the program's own, and any of it is asked for.
  bool (*is_followed)();
  // How far it is; nothing: it has not called MPI.
  std::optional<Position> (*position)();
  // It has waited for one that was there, which is where it is now, or later (`exactly`: not
  // later); false: it does not know its position.
  bool (*go_on)(const Position& from, bool exactly);
  // It has waited for the end of one that had called MPI.
  void (*joined)();
  // How long the rank's clock takes for what it computed.
  Time (*on_clock)(Time computed);
};

// From now on; it has to stay.
void watch(const Watcher& watcher);
// Where the calling thread began, later by as much as others have held it up since; nothing: nobody
// knows.
std::optional<Position> begun_at();

// The calling thread is about to let another go on, or to wait: how far it is. Nothing: nobody
// asks, or nobody knows.
std::optional<Position> here();
// A wait of the calling thread for another, really.
struct Waited {
  std::int64_t ns = 0;       // without a core
  std::int64_t idle_ns = 0;  // it may have idled for so long because of the other one
  bool worked = true;        // what it computed meanwhile is the program's
};
// That one was `from`: it goes on no earlier, or just there where it did not work. Nothing: nobody
// knows where that was.
void go_on(const std::optional<Position>& from, const Waited& waited);
bool is_followed();

}  // namespace thread_calls
}  // namespace foretrace
