// Which algorithm the libraries take, at the bounds of their rules, and how
// choices are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;

std::string choice(const char* table, Cost collective, int p, std::uint64_t d,
                   bool posted = false) {
  return std::string(
      AlgorithmTable(table).choose({collective, p, 0, 0, Bytes(d), {}, posted}).name);
}
std::string openmpi(Cost collective, int p, std::uint64_t d) {
  return choice("openmpi", collective, p, d);
}
std::string mpich(Cost collective, int p, std::uint64_t d) {
  return choice("mpich", collective, p, d);
}

TEST(OpenMpi, Barrier) {
  EXPECT_EQ(openmpi(Cost::barrier, 3, 0), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::barrier, 4, 0), "linear");
  EXPECT_EQ(openmpi(Cost::barrier, 7, 0), "linear");
  EXPECT_EQ(openmpi(Cost::barrier, 8, 0), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::barrier, 64, 0), "dissemination");
  EXPECT_EQ(openmpi(Cost::barrier, 256, 0), "tree");
  EXPECT_EQ(openmpi(Cost::barrier, 512, 0), "dissemination");
  EXPECT_EQ(openmpi(Cost::barrier, 4096, 0), "dissemination");
}

TEST(OpenMpi, Allreduce) {
  EXPECT_EQ(openmpi(Cost::allreduce, 8, 8191), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::allreduce, 8, 8192), "rabenseifner_split");
  EXPECT_EQ(openmpi(Cost::allreduce, 3, 4096), "ring");
  EXPECT_EQ(openmpi(Cost::allreduce, 128, 131'071), "reduce_bcast");
  EXPECT_EQ(openmpi(Cost::allreduce, 128, 131'072), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::allreduce, 4096, 32768), "ring");
  // Its ring is not taken for fewer elements than ranks.
  EXPECT_EQ(openmpi(Cost::allreduce, 4, 8), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::allreduce, 16, 56), "recursive_doubling");
  // 16 elements cannot be halved among 32 ranks, 32 can.
  EXPECT_EQ(openmpi(Cost::allreduce, 32, 128), "linear");
  EXPECT_EQ(openmpi(Cost::allreduce, 32, 256), "rabenseifner_split");
}

TEST(OpenMpi, RootedCollectives) {
  EXPECT_EQ(openmpi(Cost::bcast, 4, 63), "binary");
  EXPECT_EQ(openmpi(Cost::bcast, 4, 64), "binomial_doubling");
  EXPECT_EQ(openmpi(Cost::bcast, 7, 1 << 20), "chain");
  EXPECT_EQ(openmpi(Cost::bcast, 31, 1 << 20), "scatter_allgather");
  EXPECT_EQ(openmpi(Cost::bcast, 64, 5), "knomial");
  EXPECT_EQ(openmpi(Cost::bcast, 256, 16384), "split_binary");
  EXPECT_EQ(openmpi(Cost::reduce, 2, 7), "linear");
  EXPECT_EQ(openmpi(Cost::reduce, 8, 8191), "binary");
  EXPECT_EQ(openmpi(Cost::reduce, 8, 8192), "binomial");
  EXPECT_EQ(openmpi(Cost::reduce, 256, 8192), "in_order_binary");
  EXPECT_EQ(openmpi(Cost::gather, 8, 100), "binomial");
  EXPECT_EQ(openmpi(Cost::gather, 4, 262'144), "linear_sync");
  EXPECT_EQ(openmpi(Cost::scatter, 8, 16383), "binomial");
  EXPECT_EQ(openmpi(Cost::scatter, 8, 16384), "linear_posted");
  EXPECT_EQ(openmpi(Cost::gatherv, 8, 100), "linear");
  EXPECT_EQ(openmpi(Cost::scatterv, 8, 100), "linear");
}

TEST(OpenMpi, AllToAllAndTheirKin) {
  EXPECT_EQ(openmpi(Cost::alltoall, 2, 100), "pairwise");
  EXPECT_EQ(openmpi(Cost::alltoall, 16, 3), "linear");
  EXPECT_EQ(openmpi(Cost::alltoall, 16, 4), "bruck");
  EXPECT_EQ(openmpi(Cost::alltoall, 16, 512), "linear");
  EXPECT_EQ(openmpi(Cost::alltoall, 64, 262'143), "linear");
  EXPECT_EQ(openmpi(Cost::alltoall, 64, 262'144), "pairwise");
  EXPECT_EQ(openmpi(Cost::alltoallv, 3, 1), "pairwise");
  EXPECT_EQ(openmpi(Cost::alltoallv, 4, 1), "linear");
  EXPECT_EQ(openmpi(Cost::alltoallw, 4, 1), "linear");
  EXPECT_EQ(openmpi(Cost::allgather, 31, 1 << 20), "recursive_doubling");
  EXPECT_EQ(openmpi(Cost::allgather, 32, 1024), "neighbour_exchange");
  EXPECT_EQ(openmpi(Cost::allgather, 32, 65536), "ring");
  EXPECT_EQ(openmpi(Cost::allgather, 256, 32), "bruck");
  EXPECT_EQ(openmpi(Cost::allgatherv, 8, 1023), "gather_bcast");
  EXPECT_EQ(openmpi(Cost::allgatherv, 8, 1024), "bruck");
  EXPECT_EQ(openmpi(Cost::reduce_scatter, 8, 262'143), "recursive_halving");
  EXPECT_EQ(openmpi(Cost::reduce_scatter, 8, 262'144), "ring");
  EXPECT_EQ(openmpi(Cost::reduce_scatter, 64, 4096), "butterfly");
  // By one rank's part: 8 * 128 and 8 * 127 bytes in all.
  EXPECT_EQ(openmpi(Cost::reduce_scatter_block, 8, 1016), "butterfly");
  EXPECT_EQ(openmpi(Cost::reduce_scatter_block, 8, 1024), "recursive_halving");
  EXPECT_EQ(openmpi(Cost::scan, 8, 8), "linear");
  EXPECT_EQ(openmpi(Cost::exscan, 8, 8), "linear");
}

TEST(Mpich, Bounds) {
  EXPECT_EQ(mpich(Cost::bcast, 7, 1 << 20), "binomial");
  EXPECT_EQ(mpich(Cost::bcast, 8, 12288), "binomial");
  EXPECT_EQ(mpich(Cost::bcast, 8, 12289), "scatter_allgather");
  EXPECT_EQ(mpich(Cost::bcast, 8, 524'288), "scatter_allgather");
  EXPECT_EQ(mpich(Cost::bcast, 8, 524'289), "scatter_allgather_ring");
  EXPECT_EQ(mpich(Cost::bcast, 9, 12289), "scatter_allgather_ring");
  EXPECT_EQ(mpich(Cost::allreduce, 8, 8), "recursive_doubling");
  EXPECT_EQ(mpich(Cost::allreduce, 8, 56), "recursive_doubling");  // 7 elements
  EXPECT_EQ(mpich(Cost::allreduce, 8, 64), "rabenseifner");
  EXPECT_EQ(mpich(Cost::allreduce, 15, 64), "rabenseifner");
  EXPECT_EQ(choice("mpich", Cost::allreduce, 2, 2048, true), "recursive_doubling");
  EXPECT_EQ(choice("mpich", Cost::allreduce, 2, 2049, true), "rabenseifner");
  EXPECT_EQ(mpich(Cost::reduce, 8, 2048), "binomial");
  EXPECT_EQ(mpich(Cost::reduce, 8, 2049), "rabenseifner");
  EXPECT_EQ(mpich(Cost::reduce, 512, 4088), "binomial");
  EXPECT_EQ(mpich(Cost::allgather, 8, 65535), "recursive_doubling");  // 524280 in all
  EXPECT_EQ(mpich(Cost::allgather, 8, 65536), "ring");
  EXPECT_EQ(mpich(Cost::allgatherv, 10, 8191), "bruck");  // 81910 in all
  EXPECT_EQ(mpich(Cost::allgatherv, 10, 8192), "pipelined_ring");
  EXPECT_EQ(mpich(Cost::reduce_scatter, 8, 524'287), "recursive_halving");
  EXPECT_EQ(mpich(Cost::reduce_scatter_block, 8, 524'288), "pairwise");
  EXPECT_EQ(mpich(Cost::alltoall, 7, 100), "scattered");
  EXPECT_EQ(mpich(Cost::alltoall, 8, 256), "bruck");
  EXPECT_EQ(mpich(Cost::alltoall, 8, 257), "scattered");
  EXPECT_EQ(mpich(Cost::alltoall, 8, 32769), "pairwise_exchange");
  EXPECT_EQ(mpich(Cost::alltoallv, 8, 1 << 20), "scattered");
  EXPECT_EQ(mpich(Cost::gather, 8, 1), "binomial");
  EXPECT_EQ(mpich(Cost::scatter, 8, 1), "binomial");
  EXPECT_EQ(mpich(Cost::gatherv, 8, 1), "linear_posted");
  EXPECT_EQ(mpich(Cost::scatterv, 8, 1), "linear_posted");
  EXPECT_EQ(mpich(Cost::barrier, 8, 0), "dissemination");
  EXPECT_EQ(mpich(Cost::scan, 8, 8), "recursive_doubling");
  EXPECT_EQ(mpich(Cost::exscan, 8, 8), "recursive_doubling");
}

// Seen with Open MPI 4.1.4 (component pml/monitoring), but for what is posted in which order.
TEST(OpenMpi, PostedCollectives) {
  const auto posted = [](Cost collective, int p, std::uint64_t d) {
    return choice("openmpi", collective, p, d, true);
  };
  EXPECT_EQ(posted(Cost::barrier, 4, 0), "dissemination");
  EXPECT_EQ(posted(Cost::bcast, 4, 524'288), "linear");
  EXPECT_EQ(posted(Cost::bcast, 5, 8), "binomial_doubling");
  EXPECT_EQ(posted(Cost::bcast, 8, 524'288), "binomial_doubling");
  EXPECT_EQ(posted(Cost::reduce, 2, 65'528), "binomial");
  EXPECT_EQ(posted(Cost::reduce, 2, 65'536), "pipeline");
  EXPECT_EQ(posted(Cost::reduce, 8, 8), "binomial");
  EXPECT_EQ(posted(Cost::reduce, 8, 56), "binomial");
  EXPECT_EQ(posted(Cost::reduce, 8, 64), "rabenseifner");
  EXPECT_EQ(posted(Cost::allreduce, 3, 1'048'576), "binomial");
  EXPECT_EQ(posted(Cost::allreduce, 4, 65'528), "binomial");
  EXPECT_EQ(posted(Cost::allreduce, 4, 65'536), "rabenseifner_split");
  EXPECT_EQ(posted(Cost::allgather, 9, 200'000), "linear");
  EXPECT_EQ(posted(Cost::allgatherv, 5, 8), "linear");
  EXPECT_EQ(posted(Cost::alltoall, 16, 200'000), "linear");
  EXPECT_EQ(posted(Cost::gather, 8, 8), "linear_posted");
  EXPECT_EQ(posted(Cost::reduce_scatter_block, 5, 40), "binomial_linear");
  EXPECT_EQ(posted(Cost::exscan, 8, 65'536), "linear");
  // A choice is for both.
  EXPECT_EQ(choice("openmpi,bcast=chain", Cost::bcast, 8, 8, true), "chain");
  EXPECT_EQ(choice("mpich", Cost::bcast, 8, 8, true), "binomial");
}

// Whatever is called, a table names an algorithm of that collective.
TEST(Tables, ChooseFromTheCollectivesOwn) {
  for (const char* text : {"openmpi", "mpich"}) {
    const AlgorithmTable table(text);
    for (int i = static_cast<int>(Cost::barrier); i <= static_cast<int>(Cost::comm_dup); ++i)
      for (int p = 1; p <= 20000; p = p < 40 ? p + 1 : p * 2 - 1)
        for (std::uint64_t d = 0; d < 1u << 24; d = d * 2 + 1) {
          const auto collective = static_cast<Cost>(i);
          for (const bool posted : {false, true}) {
            const Algorithm& chosen = table.choose({collective, p, 0, 0, Bytes(d), {}, posted});
            int found = 0;
            for (const Algorithm& algorithm : algorithms_for(collective))
              found += algorithm.name == chosen.name && algorithm.step == chosen.step;
            ASSERT_EQ(found, 1) << machine::name_of(collective) << " " << chosen.name;
          }
        }
  }
}

TEST(Tables, ChoicesOverrule) {
  EXPECT_EQ(choice("mpich,bcast=linear,allreduce=ring", Cost::bcast, 8, 1), "linear");
  EXPECT_EQ(choice("mpich,bcast=linear,allreduce=ring", Cost::allreduce, 8, 8), "ring");
  EXPECT_EQ(choice("mpich,bcast=linear,allreduce=ring", Cost::barrier, 8, 0), "dissemination");
  // Choices alone build on Open MPI; the last of two for one collective holds.
  EXPECT_EQ(choice("bcast=chain", Cost::bcast, 8, 1), "chain");
  EXPECT_EQ(choice("bcast=chain", Cost::barrier, 4, 0), "linear");
  EXPECT_EQ(choice("bcast=chain,bcast=knomial", Cost::bcast, 8, 1), "knomial");
}

std::string error_of(const char* text) {
  try {
    const AlgorithmTable table(text);
    return "none";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Tables, RefuseWhatIsNotThere) {
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_EQ(error_of("scan=ring"),
            "--collectives scan=ring: no algorithm of scan 'ring'; there is: linear, "
            "recursive_doubling");
  EXPECT_THAT(error_of("mpich,send=x"),
              StartsWith("--collectives mpich,send=x: no collective 'send'; there is: barrier, "));
  EXPECT_THAT(error_of("lam"),
              StartsWith("--collectives lam: no library 'lam'; there is: openmpi"));
  EXPECT_THAT(error_of(""), HasSubstr("no library ''"));
  EXPECT_THAT(error_of("mpich,"), HasSubstr("no choice ''"));
  EXPECT_THAT(error_of("bcast=chain,mpich"), HasSubstr("no choice 'mpich'"));
  EXPECT_THAT(error_of("bcast="), HasSubstr("no algorithm of bcast ''"));
}

TEST(Tables, HelpNamesAll) {
  EXPECT_THAT(list_algorithms(), testing::StartsWith("barrier: linear, tree, recursive_doubling, "
                                                     "dissemination\nbcast: linear, chain, "));
  EXPECT_THAT(list_algorithms(), testing::EndsWith("comm_dup: allreduce\n"));
}

}  // namespace
}  // namespace foretrace::sim
