// How far another host's clock is ahead of ours, from messages that carry its
// readings back and forth.
//
// Knows nothing of MPI: the capture library and the characterisation program
// make the exchanges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// When to stop making exchanges: after `most`, or after `longest` ns once there are a few.
struct ExchangeLimits {
  int most = 0;
  std::int64_t longest = 0;
};

// Makes the exchanges and estimates. `read` gives our clock's reading, `ask` sends a
// question and returns what the other's clock showed. Nobody is told that it was the last.
template <class Read, class Ask>
ClockOffset exchange_readings(const ExchangeLimits& limits, Read read, Ask ask) {
  constexpr std::size_t kFew = 10;
  std::vector<Exchange> exchanges;
  const std::int64_t start = read();
  do {
    Exchange exchange;
    exchange.sent = read();
    exchange.there = ask();
    exchange.back = read();
    exchanges.push_back(exchange);
  } while (exchanges.size() < static_cast<std::size_t>(limits.most) &&
           (exchanges.size() < kFew || exchanges.back().back - start < limits.longest));
  return estimate_offset(exchanges);
}

// The same for two processes that read one monotonic clock: that of their
// kernel, as seen from their time namespace. Where that cannot be told, every
// `rank` has its own.
std::uint64_t clock_identity(int rank);

}  // namespace foretrace
