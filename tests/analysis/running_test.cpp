// Runs under way, written by hand up to a moment.
#include "analysis/running.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace {
namespace {

using analysis::Doing;
using analysis::look_at_run;
using analysis::RunningRun;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::Event;
using trace::EventKind;
using trace::TraceWriter;

constexpr int kRanks = 4;

class Running : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/running-" + std::to_string(::getpid()) + ".ftr.part";
    trace::TraceInfo info;
    info.ranks = kRanks;
    info.clock = trace::Clock::wall;
    file_ = trace::create_trace_file(path_, info);
    for (int rank = 0; rank < kRanks; ++rank) {
      writers_.emplace_back(path_, WorldRank(rank), trace::Clock::wall);
      std::vector<WorldRank> all;
      for (int each = 0; each < kRanks; ++each) all.emplace_back(each);
      world_ = writers_.back().define_comm(0, all);
    }
  }
  void TearDown() override {
    writers_.clear();
    std::filesystem::remove(path_);
  }

  TraceWriter& at(int rank) { return writers_[static_cast<std::size_t>(rank)]; }

  // The number of a name that the rank defines once.
  trace::NameId name(int rank, const std::string& text) {
    const auto key = std::make_pair(rank, text);
    const auto found = names_.find(key);
    if (found != names_.end()) return found->second;
    return names_[key] = at(rank).define_name(text);
  }

  void write(int rank, EventKind kind, const std::string& function, int to = -1, int from = -1,
             std::uint64_t request = 0) {
    Event event;
    event.kind = kind;
    event.name = name(rank, function);
    event.comm = world_;
    if (kind == EventKind::collective) event.collective = machine::Cost::barrier;
    event.request = request;
    event.leave = now_ += Time::ns(1000);
    event.enter = event.leave - call_length_;
    if (to >= 0) event.send.peer = WorldRank(to);
    if (to >= 0) event.send.bytes = Bytes(100);
    if (from >= 0) event.recv.peer = WorldRank(from);
    at(rank).write(event);
  }
  void enter(int rank, const std::string& function) { at(rank).enter(name(rank, function)); }

  RunningRun look() const { return look_at_run(path_); }

  std::string path_;
  trace::RunFile file_;
  std::vector<TraceWriter> writers_;
  std::map<std::pair<int, std::string>, trace::NameId> names_;
  trace::CommId world_ = 0;
  Time now_;
  Time call_length_;
};

MATCHER_P(Rank, value, "") {
  return arg.value == value;
}

TEST_F(Running, BetweenCallsARankComputes) {
  write(0, EventKind::init, "MPI_Init");
  write(1, EventKind::init, "MPI_Init");
  write(1, EventKind::finalize, "MPI_Finalize");
  const RunningRun run = look();
  EXPECT_EQ(run.ranks[0].doing, Doing::computing);
  EXPECT_EQ(run.ranks[1].doing, Doing::ended);
  EXPECT_EQ(run.ranks[2].doing, Doing::absent);
}

TEST_F(Running, ACollectiveWaitsForThoseThatHaveNotCome) {
  for (int rank = 0; rank < kRanks; ++rank) {
    write(rank, EventKind::init, "MPI_Init");
    write(rank, EventKind::collective, "MPI_Barrier");
  }
  // Rank 3 has left the second barrier already, rank 1 still computes before it.
  write(3, EventKind::collective, "MPI_Barrier");
  enter(0, "MPI_Barrier");
  enter(2, "MPI_Barrier");
  const RunningRun run = look();
  EXPECT_EQ(run.ranks[0].call, "MPI_Barrier");
  EXPECT_THAT(run.ranks[0].waits_for, ElementsAre(Rank(1)));
  EXPECT_THAT(run.ranks[2].waits_for, ElementsAre(Rank(1)));
  EXPECT_FALSE(run.ranks[0].guessed);
}

TEST_F(Running, AWaitIsForWhoHasNotSent) {
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  write(0, EventKind::irecv, "MPI_Irecv", -1, 1, 1);
  write(0, EventKind::irecv, "MPI_Irecv", -1, 2, 2);
  write(2, EventKind::send, "MPI_Send", 0);
  enter(0, "MPI_Waitall");
  const RunningRun run = look();
  EXPECT_THAT(run.ranks[0].waits_for, ElementsAre(Rank(1)));
  ASSERT_EQ(run.ranks[0].unread.size(), 1u);
  EXPECT_EQ(run.ranks[0].unread[0].from.value, 2);
  EXPECT_EQ(run.ranks[0].unread[0].messages, 1u);
  EXPECT_EQ(run.ranks[2].sent_bytes.count, 100u);
}

TEST_F(Running, ASendUnderWayIsNotReceived) {
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  write(1, EventKind::send, "MPI_Send", 0);
  write(0, EventKind::recv, "MPI_Recv", -1, 1);
  EXPECT_THAT(look().ranks[0].unread, IsEmpty());
  enter(1, "MPI_Send");
  const RunningRun run = look();
  EXPECT_THAT(run.ranks[1].waits_for, ElementsAre(Rank(0)));
  ASSERT_EQ(run.ranks[0].unread.size(), 1u);
  EXPECT_THAT(run.ranks[0].unread[0].from, Rank(1));
}

TEST_F(Running, AReceiveWaitsForWhomItWasLastTime) {
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  write(1, EventKind::send, "MPI_Send", 0);
  enter(0, "MPI_Recv");
  EXPECT_THAT(look().ranks[0].waits_for, IsEmpty());  // nobody knows
  write(0, EventKind::recv, "MPI_Recv", -1, 1);
  enter(0, "MPI_Recv");
  const RunningRun run = look();
  EXPECT_THAT(run.ranks[0].waits_for, ElementsAre(Rank(1)));
  EXPECT_TRUE(run.ranks[0].guessed);
  write(1, EventKind::send, "MPI_Send", 0);
  EXPECT_THAT(look().ranks[0].waits_for, IsEmpty());  // it has sent
}

TEST_F(Running, AReceiveThatGoesRoundWaitsForTheNextOne) {
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  // From 1, 2, 3, 1, 2: then comes 3.
  for (const int from : {1, 2, 3, 1, 2}) {
    write(from, EventKind::send, "MPI_Send", 0);
    write(0, EventKind::recv, "MPI_Recv", -1, from);
  }
  enter(0, "MPI_Recv");
  EXPECT_THAT(look().ranks[0].waits_for, ElementsAre(Rank(3)));
  EXPECT_TRUE(look().ranks[0].guessed);
}

// Each look of one that has looked before tells what one tells that reads all.
TEST_F(Running, ALookGoesOnWhereTheOneBeforeEnded) {
  const auto looks = analysis::open_run(path_);
  analysis::RunLook& going = *looks;
  const auto compare = [&] {
    const RunningRun now = going.take(), anew = look();
    for (std::size_t r = 0; r < kRanks; ++r) {
      EXPECT_EQ(now.ranks[r].doing, anew.ranks[r].doing) << r;
      EXPECT_EQ(now.ranks[r].call, anew.ranks[r].call);
      EXPECT_EQ(now.ranks[r].phase, anew.ranks[r].phase);
      EXPECT_EQ(now.ranks[r].calls, anew.ranks[r].calls);
      EXPECT_EQ(now.ranks[r].sent_bytes.count, anew.ranks[r].sent_bytes.count);
      EXPECT_EQ(now.ranks[r].last, anew.ranks[r].last);
      EXPECT_EQ(now.compute, anew.compute);
      EXPECT_EQ(now.ranks[r].waits_for, anew.ranks[r].waits_for);
      EXPECT_EQ(now.ranks[r].guessed, anew.ranks[r].guessed);
      EXPECT_EQ(now.ranks[r].unread.size(), anew.ranks[r].unread.size());
      for (std::size_t i = 0; i < anew.ranks[r].unread.size() && i < now.ranks[r].unread.size();
           ++i)
        EXPECT_EQ(now.ranks[r].unread[i].messages, anew.ranks[r].unread[i].messages);
    }
    return now.ranks[0].calls;
  };
  compare();
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  compare();
  write(2, EventKind::phase_begin, "solve");
  enter(1, "MPI_Recv");
  compare();
  // Several blocks of a rank, some looks in the middle of one, some with names that are new.
  for (int i = 0; i < 200'000; ++i) {
    write(0, EventKind::send, "MPI_Send", 1 + i % 3);
    if (i % 3 == 0) write(1, EventKind::recv, "MPI_Recv", -1, 0);
    if (i % 9973 != 0) continue;
    write(0, EventKind::call, "MPI_X" + std::to_string(i));
    if (i % 2 == 0) enter(0, "MPI_Barrier");
    compare();
  }
  write(2, EventKind::phase_end, "solve");
  write(3, EventKind::finalize, "MPI_Finalize");
  EXPECT_GT(compare(), 200'000u);
  EXPECT_EQ(compare(), look().ranks[0].calls);  // nothing is new
}

TEST_F(Running, TellsWhatWasSentSinceTheLookBefore) {
  for (int rank = 0; rank < kRanks; ++rank) write(rank, EventKind::init, "MPI_Init");
  const auto looks = analysis::open_run(path_);
  EXPECT_THAT(looks->take().messages, IsEmpty());
  write(0, EventKind::send, "MPI_Send", 2);
  write(0, EventKind::send, "MPI_Send", 2);
  write(3, EventKind::isend, "MPI_Isend", 1, -1, 9);
  const RunningRun run = looks->take();
  ASSERT_EQ(run.messages.size(), 2u);
  EXPECT_THAT(run.messages[0].from, Rank(0));
  EXPECT_THAT(run.messages[0].to, Rank(2));
  EXPECT_EQ(run.messages[0].messages, 2u);
  EXPECT_EQ(run.messages[0].bytes.count, 200u);
  EXPECT_THAT(run.messages[1].from, Rank(3));
  EXPECT_THAT(looks->take().messages, IsEmpty());
}

TEST_F(Running, AddsUpWhereTheTimeWent) {
  write(0, EventKind::init, "MPI_Init");  // ends at 1 us
  call_length_ = Time::ns(250);
  write(0, EventKind::send, "MPI_Send", 1);  // 1.75 us to 2 us
  write(0, EventKind::send, "MPI_Send", 1);  // 2.75 us to 3 us
  write(0, EventKind::call, "MPI_X");        // 3.75 us to 4 us
  const RunningRun run = look();
  ASSERT_EQ(run.functions.size(), 2u);
  EXPECT_EQ(run.functions[0].name, "MPI_Send");
  EXPECT_EQ(run.functions[0].calls, 2u);
  EXPECT_EQ(run.functions[0].time, Time::ns(500));
  EXPECT_EQ(run.functions[1].time, Time::ns(250));
  EXPECT_EQ(run.compute, Time::ns(2250));
  EXPECT_EQ(run.clock, trace::Clock::wall);
}

TEST_F(Running, AnotherFileIsAnError) {
  write(0, EventKind::init, "MPI_Init");
  const auto looks = analysis::open_run(path_);
  analysis::RunLook& going = *looks;
  going.take();
  std::filesystem::rename(path_, path_ + ".old");
  EXPECT_THROW(going.take(), Error);
  std::filesystem::rename(path_ + ".old", path_);
  EXPECT_NO_THROW(going.take());
}

TEST_F(Running, WhatIsNoTraceIsAnError) {
  EXPECT_THROW(look_at_run(path_ + ".not"), Error);
}

}  // namespace
}  // namespace foretrace
