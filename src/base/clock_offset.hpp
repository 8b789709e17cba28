// How far another host's clock is ahead of ours, from messages that carry its
// readings back and forth.
//
// Knows nothing of MPI: the capture library and the characterisation program
// make the exchanges.
#pragma once

#include <cstdint>
#include <span>

namespace foretrace {

// We sent at `sent` and got the answer at `back`, both by our clock; between
// the two the other's clock showed `there`. Nanoseconds.
struct Exchange {
  std::int64_t sent = 0;
  std::int64_t there = 0;
  std::int64_t back = 0;
};

struct ClockOffset {
  std::int64_t at = 0;      // by our clock
  std::int64_t offset = 0;  // other's clock minus ours, at that moment
  std::int64_t error = 0;   // the truth is within offset +- error
};

// Each exchange says that the offset lies between there - back and there - sent;
// the estimate is the middle of what all of them leave. If they contradict each
// other (the clocks drifted meanwhile), the one with the shortest round trip
// decides alone. At least one exchange.
ClockOffset estimate_offset(std::span<const Exchange> exchanges);

// The same for two processes that read one monotonic clock: that of their
// kernel, as seen from their time namespace. Where that cannot be told, every
// `rank` has its own.
std::uint64_t clock_identity(int rank);

}  // namespace foretrace
