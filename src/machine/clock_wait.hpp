// ClockWait: a program that reads a clock again and again waits for it. Whether it does, and when a
// reading takes time for that, is one rule for all clocks (docs/theory.md, The rest).
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.hpp"
#include "machine/look_row.hpp"

namespace foretrace::machine {

// Who reads a clock so often in a row waits for it.
inline constexpr std::uint32_t kReadingsOfAWait = 1000;

// Of the computer's clocks, whose readings take no time by themselves.
class ClockWait {
 public:
  // The program reads a clock when its rank's own is there, at `entered` by the real one, in ns.
  // True: that has stood still for so many readings that this one is one of MPI_Wtime. They are
  // those between which the program does nearly nothing; or all, so that every loop ends.
  bool at_reading(Time clock, std::int64_t entered) {
    const bool stands_still = clock == std::exchange(last_, clock);
    const bool waits = quick_ >= kReadingsOfAWait || all_ >= kMost;
    if (!stands_still) {
      if (!waits) end();
      return false;
    }
    ++all_;
    if (entered - left_ <= kIdleComputation.count_ps() / 1000) ++quick_;
    return waits;
  }
  // The program goes on, at `now` by the real clock.
  void left(std::int64_t now) { left_ = now; }
  // By that reading the rank's clock has come here.
  void moved_to(Time clock) { last_ = clock; }
  // The rank does something else than read clocks and look.
  void end() { quick_ = all_ = 0; }
  // The rank's clock at the last reading.
  Time last() const { return last_; }

 private:
  // Some milliseconds of a loop that reads the clock and does little else.
  static constexpr std::uint64_t kMost = 100'000;

  Time last_;
  std::int64_t left_ = 0;
  // Readings at which it stood still: between which the program did nearly nothing, and all.
  std::uint64_t quick_ = 0, all_ = 0;
};

}  // namespace foretrace::machine
