#include "measure/core/patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(Permutation, HoldsEveryNumberOnce) {
  std::mt19937_64 random(1);
  for (const int size : {1, 2, 3, 8, 17}) {
    const std::vector<int> order = permutation(size, random);
    const std::set<int> numbers(order.begin(), order.end());
    EXPECT_EQ(order.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(*numbers.begin(), 0);
    EXPECT_EQ(*numbers.rbegin(), size - 1);
  }
}

// Six orders of three: in 6,000 draws each is expected 1,000 times, with a
// standard deviation of 29.
TEST(Permutation, EveryOrderIsAsLikely) {
  std::mt19937_64 random(1);
  std::map<std::vector<int>, int> times;
  for (int i = 0; i < 6000; ++i) ++times[permutation(3, random)];
  EXPECT_EQ(times.size(), 6u);
  for (const auto& [order, n] : times) EXPECT_NEAR(n, 1000, 150);
}

TEST(Allsend, PartnersAreEachOthers) {
  std::mt19937_64 random(7);
  for (const int size : {2, 3, 4, 9}) {
    const std::vector<int> order = permutation(size / 2, random);
    for (int rank = 0; rank < size / 2; ++rank) {
      const std::optional<int> partner = allsend_partner(rank, order);
      ASSERT_TRUE(partner);
      EXPECT_GE(*partner, size / 2);
      EXPECT_EQ(allsend_partner(*partner, order), rank);
    }
    EXPECT_EQ(allsend_partner(size - 1, order).has_value(), size % 2 == 0);
  }
}

TEST(Neighbours, OnARing) {
  EXPECT_THAT(ring_neighbours(0, 5), ElementsAre(4, 1));
  EXPECT_THAT(ring_neighbours(4, 5), ElementsAre(3, 0));
  EXPECT_THAT(ring_neighbours(0, 2), ElementsAre(1, 1));
}

// 0 1 2
// 3 4 5
TEST(Neighbours, OnAMesh) {
  EXPECT_THAT(mesh_neighbours(0, 2, 3), ElementsAre(1, 3));
  EXPECT_THAT(mesh_neighbours(1, 2, 3), ElementsAre(0, 2, 4));
  EXPECT_THAT(mesh_neighbours(5, 2, 3), ElementsAre(2, 4));
  EXPECT_THAT(mesh_neighbours(4, 3, 3), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(mesh_neighbours(0, 2, 1), ElementsAre(1));
}

TEST(Halves, TheFirstHasTheOddRank) {
  const std::vector<int> order{4, 0, 3, 1, 2};
  const auto first = [&](Halving halving) {
    std::vector<int> ranks;
    for (int r = 0; r < 5; ++r)
      if (half_of(halving, r, 5, order) == 0) ranks.push_back(r);
    return ranks;
  };
  EXPECT_THAT(first(Halving::block), ElementsAre(0, 1, 2));
  EXPECT_THAT(first(Halving::alternate), ElementsAre(0, 2, 4));
  EXPECT_THAT(first(Halving::random), UnorderedElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace foretrace::measure
