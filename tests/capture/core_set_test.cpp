// Who has to share cores with whom.
#include "capture/host/core_set.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace foretrace::capture {
namespace {

CoreSet cores(std::initializer_list<int> numbers) {
  CoreSet set;
  for (int number : numbers) set.add(number);
  return set;
}

TEST(CoreSet, HoldsWhatWasAdded) {
  EXPECT_EQ(CoreSet().count(), 0);
  EXPECT_EQ(cores({0, 63, 64, 4095}).count(), 4);
  EXPECT_EQ(cores({3, 3}).count(), 1);
  EXPECT_EQ(cores({4096}).count(), 0) << "no more than it has room for";
  EXPECT_TRUE(cores({1, 64}).holds(cores({64})));
  EXPECT_TRUE(cores({1}).holds(cores({1})));
  EXPECT_FALSE(cores({1}).holds(cores({1, 64})));
}

TEST(CoreSet, OwnAreThoseOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(own_cores().count(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const CoreSet narrowed = own_cores();
  ::sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(narrowed.bits, cores({first}).bits);
}

TEST(MustShare, FreeRanksOnTheSameCores) {
  const CoreSet both = cores({0, 1});
  EXPECT_FALSE(must_share(both, std::vector<CoreSet>(2, both)));
  EXPECT_TRUE(must_share(both, std::vector<CoreSet>(3, both)));
}

TEST(MustShare, NotWhereEachIsBoundToItsOwn) {
  const std::vector<CoreSet> bound = {cores({0}), cores({1}), cores({2})};
  for (const CoreSet& own : bound) EXPECT_FALSE(must_share(own, bound));
}

TEST(MustShare, OnlyThoseThatAreCrowded) {
  const std::vector<CoreSet> ranks = {cores({0}), cores({0}), cores({1})};
  EXPECT_TRUE(must_share(ranks[0], ranks));
  EXPECT_FALSE(must_share(ranks[2], ranks));
}

TEST(MustShare, BoundRanksCrowdThoseThatMayRunAnywhere) {
  // Three ranks that run on cores 0 and 1 alone, whatever each may choose.
  const std::vector<CoreSet> ranks = {cores({0, 1}), cores({0}), cores({1})};
  EXPECT_TRUE(must_share(ranks[0], ranks));
}

TEST(MustShare, NotKnowingIsNotSharing) {
  EXPECT_FALSE(must_share(CoreSet(), std::vector<CoreSet>(4)));
}

TEST(RanksByLauncher, ReadsItsVariables) {
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  ::unsetenv("MPI_LOCALNRANKS");
  EXPECT_EQ(ranks_by_launcher(), 0);
  ::setenv("MPI_LOCALNRANKS", "12", 1);
  EXPECT_EQ(ranks_by_launcher(), 12);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "7x", 1);
  EXPECT_EQ(ranks_by_launcher(), 12) << "what makes no sense is passed over";
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "7", 1);
  EXPECT_EQ(ranks_by_launcher(), 7);
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  ::unsetenv("MPI_LOCALNRANKS");
}

}  // namespace
}  // namespace foretrace::capture
