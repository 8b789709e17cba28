// Port: how the messages of one rank follow one another on a data sheet that knows gap
// (docs/theory.md, Several messages of a rank).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/time.hpp"
#include "machine/path.hpp"

namespace foretrace::machine {

class Port {
 public:
  // When a message leaves that is sent at s0, not before the one before it: the next one leaves
  // `gap` later at the soonest. Ask in program order.
  Time depart(Time s0, Time gap) {
    const Time departs = std::max(s0, free_);
    free_ = departs + gap;
    return departs;
  }

  Time next_departure() const { return free_; }

  // When a transfer ends that by itself would at `end`, and of which the rank's own part `takes` so
  // long: the rank moves its messages one after the other. Ask in the order in which the rank
  // finds that they have ended.
  Time move(Time end, Time takes) {
    if (takes == Time() || end <= idle_until_) return end;
    const Time begin = end - takes;
    if (begin >= busy_until_) {
      idle_until_ = begin;
      return busy_until_ = end;
    }
    busy_until_ += takes;
    return busy_until_ = std::max(busy_until_, end);
  }

 private:
  static constexpr Time kNever = Time::ps(INT64_MIN);

  Time free_;                 // the next message can leave
  Time idle_until_ = kNever;  // the rank moves something from here
  Time busy_until_ = kNever;  // to here
};

// A rank's: messages on one path do not wait for those on another.
using Ports = std::array<Port, kPaths>;

}  // namespace foretrace::machine
