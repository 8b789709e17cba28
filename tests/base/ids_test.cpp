// Ids: distinct types, invalid until set; errors: two kinds.
#include "base/ids.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_set>

#include "base/error.hpp"

namespace foretrace {
namespace {

static_assert(!std::is_same_v<WorldRank, LocalRank>);
static_assert(!std::is_convertible_v<WorldRank, LocalRank>);
static_assert(!std::is_constructible_v<LocalRank, WorldRank>);
static_assert(!std::is_convertible_v<int, WorldRank>, "a bare number is not a rank");
static_assert(!std::is_convertible_v<std::uint64_t, Bytes>, "a bare number is not a size");
static_assert(!std::is_base_of_v<Error, UsageError> && !std::is_base_of_v<UsageError, Error>,
              "the exit status depends on which one it is");

TEST(Id, IsInvalidUntilSet) {
  EXPECT_FALSE(WorldRank().valid());
  EXPECT_EQ(WorldRank().value, -1);
  EXPECT_TRUE(WorldRank(0).valid());
  EXPECT_FALSE(WorldRank(-2).valid());
}

TEST(Id, IsOrderedByValue) {
  EXPECT_LT(WorldRank(2), WorldRank(10));
  EXPECT_LT(WorldRank(), WorldRank(0));
  EXPECT_EQ(LocalRank(3), LocalRank(3));
  EXPECT_NE(LocalRank(3), LocalRank(4));
}

TEST(Id, CanBeHashed) {
  std::unordered_set<WorldRank> ranks;
  for (int i = 0; i < 100; ++i) ranks.insert(WorldRank(i % 10));
  EXPECT_EQ(ranks.size(), 10u);
  EXPECT_TRUE(ranks.contains(WorldRank(9)));
  EXPECT_FALSE(ranks.contains(WorldRank(10)));
}

TEST(Bytes, AreUnsignedAndOrdered) {
  EXPECT_EQ(Bytes().count, 0u);
  EXPECT_LT(Bytes(UINT64_MAX - 1), Bytes(UINT64_MAX));
  EXPECT_EQ(Bytes(8), Bytes(8));
}

TEST(Error, CarriesItsText) {
  const Error error("m.toml:3: expected a number");
  EXPECT_STREQ(error.what(), "m.toml:3: expected a number");
  EXPECT_STREQ(UsageError("say --help").what(), "say --help");
}

}  // namespace
}  // namespace foretrace
