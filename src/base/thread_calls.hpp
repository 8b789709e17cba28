// Which thread of the program made which, and who waited for another's end. thread_calls.cpp
// stands in for pthread_create, pthread_join, and C11's, in the libraries that it is part of.
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

namespace thread_calls {

struct Watcher {
  // The calling thread makes another, which begins here; nothing: nobody asks.
  std::optional<Position> (*makes)();
  // The calling thread has waited for the end of another.
  void (*joined)();
};

// From now on; it has to stay.
void watch(const Watcher& watcher);
// Where the calling thread began, if its maker told.
std::optional<Position> begun_at();

}  // namespace thread_calls
}  // namespace foretrace
