#include "base/ticks.hpp"

#include <cstdint>
#include <fstream>
#include <string>

#include "base/program_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace foretrace {

std::int64_t monotonic_ns() {
  const program_clock::Real shown;
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_of(now);
}

bool has_even_counter() {
#if defined(__x86_64__)
  // "Invariant TSC": bit 8 of EDX.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
  // The kernel has compared the processors' counters with each other.
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return source >> name && name == "tsc";
#else
  return false;
#endif
}

// Of several readings the one that was interrupted least.
TickReading read_both_clocks() {
  TickReading best;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = read_ticks(true);
    const std::int64_t ns = monotonic_ns();
    const std::uint64_t after = read_ticks(true);
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, ns};
  }
  return best;
}

}  // namespace foretrace
