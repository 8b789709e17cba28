// Profiles of runs under way, whose counters are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/running.hpp"
#include "counter_records.hpp"

namespace foretrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kRecvPlace = 0x200;

MATCHER_P(Rank, value, "") {
  return arg.value == value;
}

class RunningProfile : public testing::Test {
 protected:
  // Four ranks that have ended two receives and two reductions each, and compute.
  void SetUp() override {
    path_ = testing::TempDir() + "/running-" + std::to_string(::getpid()) + ".fprof.part";
    counters_.info.ranks = 4;
    counters_.info.functions = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"};
    counters_.ranks.resize(4);
    for (trace::RankCounters& rank : counters_.ranks) {
      rank.rank.used = 1;
      rank.rank.state = trace::RankState::running;
      trace::ObjectRecord object;
      object.used = 1;
      object.end = 0x1000;
      object.path = {'/', 'a'};
      rank.objects.push_back(object);
      trace::CommRecord world;
      world.used = 1;
      world.size = 4;
      rank.comms.push_back(world);
      rank.sites = {site(kRecv, kRecvPlace, 2, 20), site(kAllreduce, 0x300, 2, 20)};
      trace::SizeRecord size;
      size.used = 1;
      size.function = kAllreduce;
      size.comm = 1;
      size.calls = 2;
      rank.sizes.push_back(size);
    }
  }
  void TearDown() override { std::filesystem::remove(path_); }

  trace::RankCounters& at(std::size_t rank) { return counters_.ranks[rank]; }
  // It is in its receive (0) or its reduction (1).
  void enter(std::size_t rank, std::uint32_t which) { at(rank).rank.open_site = which + 1; }
  void sent(std::size_t from, std::uint32_t to, std::uint64_t messages) {
    trace::PeerRecord peer;
    peer.used = 1;
    peer.rank = to;
    peer.messages = messages;
    peer.bytes = 10 * messages;
    at(from).peers = {peer};
  }
  void waited(std::size_t rank, std::uint32_t sender) {
    trace::WaitRecord wait;
    wait.used = 1;
    wait.rank = sender;
    wait.site = trace::key_of(at(rank).sites[0]);
    wait.calls = 1;
    at(rank).waits.push_back(wait);
  }
  RunningRun look() {
    trace::write_counters(counters_, path_);
    return look_at_run(path_, [](const trace::Site& site) { return std::to_string(site.offset); });
  }

  std::string path_;
  trace::CallCounters counters_;
};

TEST_F(RunningProfile, TellsWhatRanksDo) {
  enter(1, 0);
  at(2).rank.state = trace::RankState::finalized;
  at(3).rank.state = trace::RankState::none;
  const RunningRun run = look();
  EXPECT_EQ(run.ranks[0].doing, Doing::computing);
  EXPECT_EQ(run.ranks[0].calls, 4u);
  EXPECT_EQ(run.ranks[1].doing, Doing::calling);
  EXPECT_EQ(run.ranks[1].call, "MPI_Recv");
  EXPECT_EQ(run.ranks[1].place, std::to_string(kRecvPlace));
  EXPECT_EQ(run.ranks[2].doing, Doing::ended);
  EXPECT_EQ(run.ranks[3].doing, Doing::absent);
  ASSERT_EQ(run.functions.size(), 2u);
  EXPECT_EQ(run.functions[0].calls, 6u);  // of three ranks
}

TEST_F(RunningProfile, AReductionWaitsForThoseThatHaveNotCome) {
  enter(0, 1);
  enter(1, 1);
  at(2).sites[1].calls = 3;  // it has left this one already
  const RunningRun run = look();
  EXPECT_THAT(run.ranks[0].waits_for, ElementsAre(Rank(3)));
  EXPECT_THAT(run.ranks[1].waits_for, ElementsAre(Rank(3)));
  EXPECT_TRUE(run.ranks[0].guessed);
  EXPECT_THAT(run.ranks[3].waits_for, IsEmpty());
}

TEST_F(RunningProfile, OfAPartOfTheRanksNobodyKnowsWhoHasToCome) {
  enter(0, 1);
  at(3).comms[0].size = 2;
  EXPECT_THAT(look().ranks[0].waits_for, IsEmpty());
}

TEST_F(RunningProfile, AReceiveWaitsForTheOneThatEndedThoseBefore) {
  enter(0, 0);
  EXPECT_THAT(look().ranks[0].waits_for, IsEmpty());
  waited(0, 2);
  EXPECT_THAT(look().ranks[0].waits_for, ElementsAre(Rank(2)));
  waited(0, 3);
  EXPECT_THAT(look().ranks[0].waits_for, IsEmpty());  // it may be either
}

TEST_F(RunningProfile, TellsWhatWasSentSinceTheLookBefore) {
  sent(0, 2, 5);
  trace::write_counters(counters_, path_);
  const auto looks = open_run(path_);
  ASSERT_EQ(looks->take().messages.size(), 1u);
  sent(0, 2, 8);
  trace::write_counters(counters_, path_);
  const RunningRun run = looks->take();
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(run.messages[0].messages, 3u);
  EXPECT_EQ(run.messages[0].bytes.count, 30u);
  EXPECT_EQ(run.ranks[0].sent, 8u);
  EXPECT_EQ(run.ranks[0].sent_bytes.count, 80u);
}

}  // namespace
}  // namespace foretrace::analysis
