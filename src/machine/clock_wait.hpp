// ClockWait: a program that reads a clock again and again waits for it. Whether it does, and when a
// reading takes time for that, is one rule for all clocks (docs/theory.md, The rest).
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace foretrace::machine {

// Who reads a clock so often in a row waits for it.
inline constexpr std::uint32_t kReadingsOfAWait = 1000;

// Of the computer's clocks, whose readings take no time by themselves.
class ClockWait {
 public:
  // The program reads a clock when its rank's own is there. True: that has stood still for so many
  // readings that this one is one of MPI_Wtime.
  bool at_reading(Time clock) {
    const bool stands_still = clock == std::exchange(last_, clock);
    if (!stands_still && often_ < kReadingsOfAWait) often_ = 0;
    return stands_still && often_++ >= kReadingsOfAWait;
  }
  // By that reading the rank's clock has come here.
  void moved_to(Time clock) { last_ = clock; }
  // The rank does something else than read clocks and look.
  void end() { often_ = 0; }
  // The rank's clock at the last reading.
  Time last() const { return last_; }

 private:
  Time last_;
  std::uint32_t often_ = 0;  // readings at which it stood still
};

}  // namespace foretrace::machine
