// A cache line timed between two threads.
#include "measure/core/cache_line.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace foretrace::measure {
namespace {

TEST(CacheLine, IsTimedAgainAndAgain) {
  CacheLine line;
  for (int i = 0; i < 3; ++i) {
    std::jthread other([&line] { line.answers(); });
    EXPECT_GT(line.times(), 0);
    other.join();
    other = std::jthread([&line] { line.answers(); });
    EXPECT_GT(line.times_shortly(), 0);
  }
}

// Who comes when it is over answers nobody, and does not wait for ever.
TEST(CacheLine, NobodyAnswers) {
  CacheLine line;
  EXPECT_EQ(line.times_shortly(), 0);
  line.answers();
  std::jthread other([&line] { line.answers(); });
  EXPECT_GT(line.times_shortly(), 0);
}

TEST(CacheLine, States) {
  EXPECT_TRUE(is_same_state(40e-9, 80e-9));
  EXPECT_FALSE(is_same_state(80.1e-9, 40e-9));
  EXPECT_TRUE(is_same_state(0, 250e-9));
  EXPECT_TRUE(is_same_state(40e-9, 0));
}

}  // namespace
}  // namespace foretrace::measure
