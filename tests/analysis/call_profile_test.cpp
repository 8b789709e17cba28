// Profiles from counters whose sums can be done by hand.
#include "analysis/call_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "counter_records.hpp"

namespace foretrace::analysis {
namespace {

using testing::ElementsAre;

// Two ranks whose clocks tick twice and four times in a nanosecond; the
// program is loaded at different addresses.
trace::CallCounters counters() {
  trace::CallCounters all;
  all.info.ranks = 2;
  all.info.complete = true;
  all.info.program = "./app";
  all.info.mpi = "mpich";
  all.info.functions = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"};
  all.ranks.resize(2);
  for (std::size_t r = 0; r < 2; ++r) {
    trace::RankCounters& rank = all.ranks[r];
    const std::uint64_t per_ns = r == 0 ? 2 : 4;
    const std::uint64_t base = r == 0 ? 0x10000 : 0x50000;
    rank.rank.used = 1;
    rank.rank.state = trace::RankState::finalized;
    rank.rank.first_ticks = 1000;
    rank.rank.first_ns = 500;
    rank.rank.second_ticks = rank.rank.last_ticks = 1000 + 10'000 * per_ns;
    rank.rank.second_ns = 10'500;
    rank.rank.host[0] = r == 0 ? 'a' : 'b';
    trace::ObjectRecord object;
    object.used = 1;
    object.base = base;
    object.end = base + 0x1000;
    object.path = {'/', 'a', 'p', 'p'};
    rank.objects.push_back(object);
    rank.comms = {comm(77, 0, 2, "MPI_COMM_WORLD"), comm(77, 1, 2)};
    if (r == 0) {
      rank.sites = {site(kSend, base + 0x10, 10, 2000, 400), site(kSend, base + 0x20, 1, 200, 200)};
      rank.sites[0].sent = 80;
      rank.sites[0].messages = 10;
      rank.sizes = {size(kSend, 1, trace::Direction::sent, 4, 10, 80, 2000)};
      trace::PeerRecord peer;
      peer.used = 1;
      peer.rank = 1;
      peer.messages = 10;
      peer.bytes = 80;
      rank.peers.push_back(peer);
    } else {
      rank.sites = {site(kRecv, base + 0x10, 10, 20'000, 8000)};
      rank.sizes = {size(kRecv, 1, trace::Direction::received, 4, 10, 80, 20'000)};
    }
    // One site on both, in a library that the dynamic linker placed anywhere.
    rank.sites.push_back(site(kAllreduce, base + 0x30, 1, 400 * per_ns, 400 * per_ns));
    rank.sizes.push_back(size(kAllreduce, 2, trace::Direction::collective, 0, 1, 0, 400 * per_ns));
  }
  return all;
}

CallFrame nowhere(const std::string& object, std::uint64_t offset) {
  return {"f" + std::to_string(offset), "", 0, object, offset, object};
}

TEST(CallProfile, TimesOfRanks) {
  const CallProfile profile = make_call_profile(counters(), nowhere);
  ASSERT_EQ(profile.per_rank.size(), 2u);
  // Rank 0: 2000 + 200 + 800 ticks of half a nanosecond; rank 1: 20,000 + 1600
  // of a quarter.
  EXPECT_EQ(profile.per_rank[0].mpi, Time::ns(1500));
  EXPECT_EQ(profile.per_rank[0].application, Time::ns(8500));
  EXPECT_EQ(profile.per_rank[0].time, Time::ns(10'000));
  EXPECT_EQ(profile.per_rank[1].mpi, Time::ns(5400));
  EXPECT_EQ(profile.per_rank[1].application, Time::ns(4600));
  EXPECT_EQ(profile.per_rank[1].host, "b");
  EXPECT_EQ(profile.mpi_time.min, Time::ns(1500));
  EXPECT_EQ(profile.mpi_time.mean, Time::ns(3450));
  EXPECT_EQ(profile.mpi_time.max, Time::ns(5400));
  EXPECT_EQ(profile.mpi_time.slowest, WorldRank(1));
  EXPECT_NEAR(profile.mpi_time.imbalance(), 5400.0 / 3450 - 1, 1e-12);
  EXPECT_EQ(profile.calls, 23u);
}

TEST(CallProfile, FunctionsByTime) {
  const CallProfile profile = make_call_profile(counters(), nowhere);
  ASSERT_EQ(profile.functions.size(), 3u);
  EXPECT_EQ(profile.functions[0].name, "MPI_Recv");
  EXPECT_EQ(profile.functions[0].time, Time::ns(5000));
  EXPECT_EQ(profile.functions[0].longest, Time::ns(2000));
  EXPECT_EQ(profile.functions[0].kind, CallClass::receive);
  // Rank 0 makes no such call.
  EXPECT_EQ(profile.functions[0].ranks.min, Time());
  EXPECT_EQ(profile.functions[0].ranks.mean, Time::ns(2500));
  EXPECT_EQ(profile.functions[1].name, "MPI_Send");
  EXPECT_EQ(profile.functions[1].calls, 11u);
  EXPECT_EQ(profile.functions[1].time, Time::ns(1100));
  EXPECT_EQ(profile.functions[1].moved.sent, Bytes(80));
  EXPECT_EQ(profile.functions[2].ranks.min, Time::ns(400));
  EXPECT_EQ(profile.classes[static_cast<std::size_t>(CallClass::collective)], Time::ns(800));
}

// Where each rank has loaded the program makes no difference.
TEST(CallProfile, SitesOfAllRanks) {
  const CallProfile profile = make_call_profile(counters(), nowhere);
  ASSERT_EQ(profile.sites.size(), 4u);
  const SiteTotal& both = profile.sites[2];
  EXPECT_EQ(both.function, "MPI_Allreduce");
  EXPECT_EQ(both.calls, 2u);
  ASSERT_EQ(both.frames.size(), 1u);
  EXPECT_EQ(both.frames[0].object, "/app");
  EXPECT_EQ(both.frames[0].offset, 0x30u);
  EXPECT_EQ(both.frames[0].function, "f48");
}

// Rank 1 is 1000 ns in the collective, rank 0 400 ns: rank 0 came last, and the other spent 600
// beyond that. Where both take the same nobody was waited for; a rank without the call says
// nothing.
TEST(CallProfile, WhoIsWaitedForInCollectives) {
  trace::CallCounters late = counters();
  EXPECT_TRUE(make_call_profile(late, nowhere).waited_for.empty());
  late.ranks[1].sites.back().ticks = 4000;
  const CallProfile profile = make_call_profile(late, nowhere);
  ASSERT_EQ(profile.waited_for.size(), 1u);
  EXPECT_EQ(profile.waited_for[0].waited, Time::ns(600));
  const SiteTotal& site = profile.sites[profile.waited_for[0].site];
  EXPECT_EQ(site.function, "MPI_Allreduce");
  EXPECT_EQ(site.ranks.fastest, WorldRank(0));
  EXPECT_FALSE(profile.functions[0].ranks.fastest.valid());  // MPI_Recv: rank 1 alone
  late.info.functions[kAllreduce] = "MPI_Reduce";            // all but the root wait for nobody
  EXPECT_TRUE(make_call_profile(late, nowhere).waited_for.empty());
}

// Rank 1 was in its receives for 8000 ticks of a quarter of a nanosecond until messages of rank 0
// were there, and for 2000 where several ranks' were. What belongs to no call site is left out.
TEST(CallProfile, WhoWaitsForWhomInReceives) {
  trace::CallCounters late = counters();
  EXPECT_TRUE(make_call_profile(late, nowhere).senders.empty());
  trace::RankCounters& rank = late.ranks[1];
  const std::uint64_t receive = trace::key_of(rank.sites[0]);
  rank.waits = {{1, trace::kSeveralRanks, receive, 1, 2000, 2000},
                {1, 0, receive, 9, 8000, 7000},
                {1, 0, receive + 1, 1, 9000, 9000}};
  const CallProfile profile = make_call_profile(late, nowhere);
  ASSERT_EQ(profile.senders.size(), 2u);
  const SenderTotal& most = profile.senders[0];
  EXPECT_EQ(most.rank, WorldRank(1));
  EXPECT_EQ(most.sender, WorldRank(0));
  EXPECT_EQ(most.calls, 9u);
  EXPECT_EQ(most.time, Time::ns(2000));
  EXPECT_EQ(most.longest, Time::ns(1750));
  EXPECT_EQ(profile.sites[most.site].function, "MPI_Recv");
  EXPECT_FALSE(profile.senders[1].sender.valid());
  EXPECT_EQ(profile.senders[1].time, Time::ns(500));
}

TEST(CallProfile, CommunicatorsAndSizes) {
  const CallProfile profile = make_call_profile(counters(), nowhere);
  ASSERT_EQ(profile.comms.size(), 2u);
  EXPECT_EQ(profile.comms[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(profile.comms[0].calls, 20u);
  EXPECT_EQ(profile.comms[0].moved.received, Bytes(80));
  EXPECT_EQ(profile.comms[1].name, "communicator 1 of 2");
  EXPECT_EQ(profile.comms[1].time, Time::ns(800));
  ASSERT_EQ(profile.sizes.size(), 3u);
  EXPECT_EQ(profile.sizes[1].function, "MPI_Send");
  EXPECT_EQ(profile.sizes[1].from, Bytes(8));
  EXPECT_EQ(profile.sizes[1].to, Bytes(15));
  EXPECT_EQ(profile.sizes[2].to, Bytes(0));
  ASSERT_EQ(profile.matrix.size(), 1u);
  EXPECT_EQ(profile.matrix[0].to, WorldRank(1));
  EXPECT_EQ(profile.matrix[0].messages, 10u);
}

// 2 ticks inside and 6 outside of each call, 4 more for one that moves
// something, and 100 that were measured.
TEST(CallProfile, LeavesOutItsOwnTime) {
  trace::CallCounters all = counters();
  trace::RankRecord& rank = all.ranks[0].rank;
  rank.inside_ticks = 2;
  rank.outside_ticks = 6;
  rank.message_ticks = 4;
  rank.own_ticks = 100;
  const CallProfile profile = make_call_profile(all, nowhere);
  // 12 calls, 11 of them move something: 24 ticks inside, 72 + 44 + 100 outside.
  EXPECT_EQ(profile.per_rank[0].own, Time::ns(120));
  EXPECT_EQ(profile.per_rank[0].mpi, Time::ns(1500 - 12));
  EXPECT_EQ(profile.per_rank[0].application, Time::ns(8500 - 108));
  EXPECT_EQ(profile.per_rank[0].time, Time::ns(10'000 - 120));
  EXPECT_EQ(profile.per_rank[1].own, Time());
}

TEST(CallProfile, SwitchedOffAndSeveralThreads) {
  trace::CallCounters all = counters();
  all.ranks[0].rank.off_ticks = 4000;
  all.ranks[1].rank.several_threads = 1;
  all.ranks[1].rank.main_ticks = 4000;
  const CallProfile profile = make_call_profile(all, nowhere);
  EXPECT_EQ(profile.per_rank[0].application, Time::ns(6500));
  EXPECT_EQ(profile.per_rank[1].mpi, Time::ns(5400));
  EXPECT_EQ(profile.per_rank[1].application, Time::ns(9000));
  EXPECT_TRUE(profile.several_threads);
  EXPECT_FALSE(profile.shares_cores);
  all.ranks[1].rank.shares_cores = 1;
  EXPECT_TRUE(make_call_profile(all, nowhere).shares_cores);
}

TEST(CallProfile, EndsOfRanks) {
  trace::CallCounters all = counters();
  all.info.complete = false;
  all.ranks[0].rank.state = trace::RankState::running;
  all.ranks[0].rank.open_site = 2;
  all.ranks[1].rank.state = trace::RankState::aborted;
  all.ranks[1].rank.code = 7;
  const CallProfile profile = make_call_profile(all, nowhere);
  EXPECT_EQ(profile.per_rank[0].end, "was in MPI_Send called by f32 at /app");
  EXPECT_EQ(profile.per_rank[1].end, "called MPI_Abort with code 7");
  all.ranks[0].rank.state = trace::RankState::none;
  EXPECT_EQ(make_call_profile(all, nowhere).per_rank.size(), 1u);
}

TEST(CallProfile, ClassesOfFunctions) {
  EXPECT_EQ(class_of("MPI_Waitall"), CallClass::complete);
  EXPECT_EQ(class_of("MPI_Testsome"), CallClass::poll);
  EXPECT_EQ(class_of("MPI_Send_c"), CallClass::send);
  EXPECT_EQ(class_of("MPI_File_write_all"), CallClass::file);
  EXPECT_EQ(class_of("MPI_Win_fence"), CallClass::one_sided);
  EXPECT_EQ(class_of("MPI_Ibcast"), CallClass::collective);
  EXPECT_EQ(class_of("MPI_Ineighbor_alltoallw"), CallClass::collective);
  EXPECT_EQ(class_of("MPI_Irecv"), CallClass::send);
  EXPECT_EQ(class_of("MPI_Mprobe"), CallClass::receive);
  EXPECT_EQ(class_of("MPI_Startall"), CallClass::send);
  EXPECT_EQ(class_of("MPI_Comm_idup"), CallClass::collective);
  EXPECT_EQ(class_of("MPI_Test_cancelled"), CallClass::other);
  EXPECT_EQ(class_of("MPI_Send_init"), CallClass::other);
  EXPECT_EQ(class_of("MPI_Neighbor_alltoallw"), CallClass::collective);
  EXPECT_EQ(class_of("MPI_Comm_rank"), CallClass::other);
}

}  // namespace
}  // namespace foretrace::analysis
