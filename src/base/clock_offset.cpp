#include "base/clock_offset.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

namespace foretrace {
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

std::uint64_t clock_identity(int rank) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char space[64];
  const ssize_t length = ::readlink("/proc/self/ns/time", space, sizeof space);
  if (boot.empty()) boot = "rank " + std::to_string(rank);
  if (length > 0) boot.append(space, static_cast<std::size_t>(length));
  return std::hash<std::string>{}(boot);
}

}  // namespace foretrace
