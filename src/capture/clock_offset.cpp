#include "capture/clock_offset.hpp"

#include <algorithm>

namespace foretrace::capture {
namespace {

ClockOffset middle(std::int64_t at, std::int64_t low, std::int64_t high) {
  // Rounded so that the error, rounded up, covers both ends.
  return {at, low + (high - low) / 2, (high - low + 1) / 2};
}

}  // namespace

ClockOffset estimate_offset(std::span<const Exchange> exchanges) {
  const auto shortest = std::ranges::min_element(
      exchanges, {}, [](const Exchange& exchange) { return exchange.back - exchange.sent; });
  const std::int64_t at = shortest->sent + (shortest->back - shortest->sent) / 2;
  std::int64_t low = shortest->there - shortest->back;
  std::int64_t high = shortest->there - shortest->sent;
  for (const Exchange& exchange : exchanges) {
    low = std::max(low, exchange.there - exchange.back);
    high = std::min(high, exchange.there - exchange.sent);
  }
  if (low <= high) return middle(at, low, high);
  return middle(at, shortest->there - shortest->back, shortest->there - shortest->sent);
}

}  // namespace foretrace::capture
