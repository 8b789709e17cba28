// The tests of CpuClock with the processor's counter.
#include <gtest/gtest.h>

#include "base/cpu_clock.hpp"

namespace foretrace {
namespace {

class WithCounter : public testing::Environment {
  void SetUp() override { CpuClock::use_counter(read_both_clocks()); }
};

const testing::Environment* const with_counter = testing::AddGlobalTestEnvironment(new WithCounter);

}  // namespace
}  // namespace foretrace
