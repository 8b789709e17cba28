// Where a thread of a rank is, and what that hangs on.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace foretrace {

// How far a thread of a rank is: on the rank's clock, and in what the rank announces.
struct Position {
  Time clock;
  double steps = 0;
  Time slept{};  // by it, and before it by those that it has waited for
  // Where a thread that calls was last before this, or before another position that led to it:
  // `idle` before the clock, which has waited for the later one.
  struct Behind {
    std::uint64_t gap = 0;    // between two of its calls, by number from 1; 0: not known
    std::uint64_t event = 0;  // the last event that was written, from 1; 0: it is behind nothing
    bool is_next = false;     // it counts from where the next one is entered
    Time left{};              // when `event` was left, by `clock`
    Time computed{};          // by the rank up to then, without waits for its threads
    double steps = 0;         // where several threads call: announced up to then
    Time idle{};
  };
  std::array<Behind, 3> behind{};
};

// Where a thread is that has waited for both: the later one in each. Of more than three places that
// it is behind these stay: the one that led to the clock, that at the last event, and the one that
// is farthest behind.
Position after_both(const Position& a, const Position& b);
// What a position is behind, the one first that led to the clock.
std::array<Position::Behind, 3> by_idle(const Position& at);

}  // namespace foretrace
