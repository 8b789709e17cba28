#include "analysis/computation.hpp"

#include <gtest/gtest.h>

#include "analysis/profile.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using machine::Cost;
using test::TraceBuilder;
using test::us;

// Two passages from one barrier to the next. Rank 0 computes 10 and 40, rank 1
// 30 and 20: sums 50 and 50, but the slowest of each time exceeds the mean by
// 30 - 20 and 40 - 30.
TEST(Computation, CostsWhatEachPassagesSlowestComputesBeyondTheMean) {
  TraceBuilder b(2);
  const std::int64_t work[2][2] = {{10, 40}, {30, 20}};
  for (int rank = 0; rank < 2; ++rank) {
    b.init(rank);
    b.collective(rank, "MPI_Barrier", Cost::barrier, 0, Time(), us(1));
    for (const std::int64_t w : work[rank])
      b.collective(rank, "MPI_Barrier", Cost::barrier, 0, us(w), us(1));
    b.finalize(rank, us(2 + 2 * rank));
  }
  const auto gaps = analysis::profile_trace(b.trace()).computation;
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].after.function, "MPI_Barrier");
  EXPECT_EQ(gaps[0].before.function, "MPI_Barrier");
  EXPECT_EQ(gaps[0].after.place, "");
  EXPECT_EQ(gaps[0].times, 2u);
  EXPECT_EQ(gaps[0].ranks, 2);
  EXPECT_EQ(gaps[0].total, us(100));
  EXPECT_EQ(gaps[0].mean, us(50));
  EXPECT_EQ(gaps[0].max, us(50));
  EXPECT_EQ(gaps[0].slowest, WorldRank(0));
  EXPECT_EQ(gaps[0].cost, us(20));
  EXPECT_EQ(gaps[1].before.function, "MPI_Finalize");
  EXPECT_EQ(gaps[1].cost, us(1));  // 4 - 3
  EXPECT_EQ(gaps[1].slowest, WorldRank(1));
  EXPECT_DOUBLE_EQ(gaps[1].ratio(), 4.0 / 3);
}

// Only those that pass count; two addresses of one line are one place; phases
// and marks do not part a computation.
TEST(Computation, IsKnownByTheCallsAroundIt) {
  TraceBuilder b(3);
  for (int rank = 0; rank < 3; ++rank) {
    b.init(rank);
    if (rank == 2) continue;
    b.phase_begin(rank, "work", us(3));
    b.send(rank, -1, 0, 0, us(5 + 4 * rank), us(1));
    b.trace().ranks[static_cast<std::size_t>(rank)].back().site =
        static_cast<trace::SiteId>(rank + 1);
  }
  b.trace().sites = {{"halo", 1}, {"halo", 2}};
  const auto gaps = analysis::profile_trace(b.trace(), [](const trace::Site&) {
                      return "halo.c:22";
                    }).computation;
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].after.function, "MPI_Init");
  EXPECT_EQ(gaps[0].before.place, "halo.c:22");
  EXPECT_EQ(gaps[0].ranks, 2);
  EXPECT_EQ(gaps[0].mean, us(10));  // 8 and 12
  EXPECT_EQ(gaps[0].max, us(12));
  EXPECT_EQ(gaps[0].cost, us(2));
}

// What is beyond the passages that are kept apart counts as one passage.
TEST(Computation, OfVeryManyPassagesTheRestAreOne) {
  analysis::ComputationWalk walk;
  constexpr int kPassages = (1 << 16) + 2;
  for (int rank = 0; rank < 2; ++rank) {
    walk.call(0, 0);
    for (int i = 0; i < kPassages; ++i) {
      // The last two: rank 0 computes 4 and 0, rank 1 nothing and 2.
      if (i == kPassages - 2 && rank == 0) walk.compute(us(4));
      if (i == kPassages - 1 && rank == 1) walk.compute(us(2));
      walk.call(0, 0);
    }
    walk.end_rank();
  }
  const std::vector<trace::Site> sites;
  const trace::TellPlace nobody;
  const auto gaps = walk.finish({"MPI_Send"}, analysis::PlaceIds(sites, nobody));
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].times, static_cast<std::uint64_t>(kPassages));
  EXPECT_EQ(gaps[0].cost, us(1));  // 4 - 3, not 2 + 1
}

}  // namespace
}  // namespace foretrace
