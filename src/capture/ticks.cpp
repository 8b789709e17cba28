#include "capture/ticks.hpp"

#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace foretrace::capture {

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

}  // namespace foretrace::capture
