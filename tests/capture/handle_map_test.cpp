// Handles that come and go: what belongs to one is found as long as it is there.
#include "capture/host/handle_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace foretrace::capture {
namespace {

struct Number {
  int number = 0;  // 0: not in use
  explicit operator bool() const { return number != 0; }
};

TEST(HandleMap, FindsWhatIsThere) {
  HandleMap<Number> map;
  EXPECT_EQ(map.find(7), nullptr);
  map.get(7).number = 1;
  map.get(0).number = 2;
  ASSERT_NE(map.find(7), nullptr);
  EXPECT_EQ(map.find(7)->number, 1);
  EXPECT_EQ(map.find(0)->number, 2);
  EXPECT_EQ(map.find(8), nullptr);
  map.erase(7);
  EXPECT_EQ(map.find(7), nullptr);
  EXPECT_EQ(map.find(0)->number, 2);
}

// Beside a map that is right: many at once, few at once, and addresses, whose
// low bits are all alike.
TEST(HandleMap, DoesAsAMap) {
  HandleMap<Number> map;
  std::map<std::uint64_t, int> expected;
  std::mt19937 random(1);
  for (int i = 1; i <= 100'000; ++i) {
    const std::uint64_t handle = std::uint64_t{0x7f0000000000} + random() % 300 * 4096;
    const auto found = expected.find(handle);
    ASSERT_EQ(map.find(handle) != nullptr, found != expected.end());
    if (found == expected.end()) {
      expected[handle] = i;
      map.get(handle).number = i;
    } else {
      ASSERT_EQ(map.find(handle)->number, found->second);
      ASSERT_EQ(map.get(handle).number, found->second);
      map.erase(handle);
      expected.erase(found);
    }
  }
  for (const auto& [handle, number] : expected) {
    ASSERT_NE(map.find(handle), nullptr);
    EXPECT_EQ(map.find(handle)->number, number);
  }
}

}  // namespace
}  // namespace foretrace::capture
