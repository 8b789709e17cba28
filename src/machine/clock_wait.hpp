// ClockWait: a program that reads a clock again and again waits for it. Whether it does, and when a
// reading takes time for that, is one rule for all clocks (docs/theory.md, The rest).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/time.hpp"
#include "machine/look_row.hpp"

namespace foretrace::machine {

// Who reads a clock so often in a row waits for it.
inline constexpr std::uint32_t kReadingsOfAWait = 1000;

// Of one rank's clocks. Readings of the computer's take no time by themselves.
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
  // Nor does it sleep in between.
  void end_with_sleep() {
    end();
    sleepy_ = steps_ = 0;
    slept_ = Time();
    looks_ = false;
  }
  // It has looked for something that comes by real time, and has not found it.
  void looked_in_vain() { looks_ = true; }

  // How many readings of MPI_Wtime the one at hand stands for, by a thread that has slept
  // `slept_ever` since its beginning. More than one where it sleeps before its readings, and that
  // hardly moves the rank's clock: it waits for the clock, and each such reading goes on by four
  // times as much, until that is a tenth of what it sleeps. Where it looks for something as well it
  // is that which it waits for, unless it has waited for long.
  std::uint32_t readings(Time slept_ever) {
    constexpr std::uint32_t kFew = 3;
    constexpr std::uint32_t kMost = 15;  // 4^15 readings
    constexpr Time kLong = Time::ns(1'000'000'000);
    const Time slept = slept_ever - std::exchange(slept_ever_, slept_ever);
    if (slept == Time()) return 1;
    slept_ += slept;
    const Time progress = shown_ - std::exchange(shown_at_sleep_, shown_);
    const bool waits = sleepy_ >= kFew && (!looks_ || slept_ >= kLong);
    if (10 * progress.count_ps() < slept.count_ps()) {
      if (waits) steps_ = std::min(steps_ + 1, kMost);
      ++sleepy_;
    }
    return std::uint32_t{1} << 2 * steps_;
  }
  // What that reading showed.
  void showed(Time clock) { shown_ = clock; }
  // The rank's clock at the last reading.
  Time last() const { return last_; }

 private:
  // Some milliseconds of a loop that reads the clock and does little else.
  static constexpr std::uint64_t kMost = 100'000;

  Time last_;
  Time shown_;           // by the last reading
  Time shown_at_sleep_;  // by the one before the last sleep
  Time slept_ever_;
  // Since the rank did something else: what it slept, how many readings had sleep before them that
  // hardly moved the clock, and how often the next one has been made four times as long.
  Time slept_;
  std::uint32_t sleepy_ = 0;
  std::uint32_t steps_ = 0;
  bool looks_ = false;
  std::int64_t left_ = 0;
  // Readings at which it stood still: between which the program did nearly nothing, and all.
  std::uint64_t quick_ = 0, all_ = 0;
};

}  // namespace foretrace::machine
