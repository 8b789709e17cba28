// The tests of CpuClock with the processor's counter.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cpu_clock.hpp"

namespace foretrace {
namespace {

class WithCounter : public testing::Environment {
  void SetUp() override { CpuClock::use_counter(read_both_clocks()); }
};

const testing::Environment* const with_counter = testing::AddGlobalTestEnvironment(new WithCounter);

// Reading the counter is no computation. The least of many, since what others do adds to the rest;
// with the reading it would be some 10 ns. The first measurement of it may itself have been slow.
TEST(CpuClockWithCounter, AnEmptyIntervalTakesNothing) {
#if FORETRACE_HAVE_RSEQ
  if (!has_even_counter() || __rseq_size == 0) GTEST_SKIP() << "the kernel's clock is read here";
#else
  GTEST_SKIP() << "the kernel's clock is read here";
#endif
  CpuClock clock;
  Time least = Time::max();
  for (int i = 0; i < 10'000; ++i) {
    clock.resume();
    least = std::min(least, clock.stop());
  }
  EXPECT_LE(least, Time::ns(5));
}

}  // namespace
}  // namespace foretrace
