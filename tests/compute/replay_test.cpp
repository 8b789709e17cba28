// Computation as in an earlier run.
#include "compute/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace foretrace::compute {
namespace {

using trace::EventKind;

class Replay : public testing::Test {
 protected:
  void SetUp() override {
    trace_.ranks.resize(1);
    trace_.comms.push_back({0, {WorldRank(0)}});
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void event(EventKind kind, const char* name, int ns, std::uint32_t count = 1) {
    trace::Event event;
    event.kind = kind;
    const auto found = std::ranges::find(trace_.names, name);
    event.name = static_cast<trace::NameId>(found - trace_.names.begin());
    if (found == trace_.names.end()) trace_.names.emplace_back(name);
    event.compute = Time::ns(ns);
    now_ += event.compute;
    event.enter = event.leave = now_;
    event.count = count;
    trace_.ranks[0].push_back(event);
  }

  ReplayRule rule(int rank = 0) {
    trace_.info.ranks = 1;
    trace_.info.clock = trace::Clock::cpu;
    trace::write_trace(trace_, path_);
    return {std::make_shared<trace::TraceReader>(path_), WorldRank(rank)};
  }

  trace::Trace trace_;
  Time now_;
  const std::string path_ = testing::TempDir() + "replay_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".ftr";
};

Time before(ReplayRule& rule, EventKind kind, const char* name) {
  return rule.before({kind, name, Time::ns(999), 9});
}

TEST_F(Replay, CallByCall) {
  event(EventKind::init, "MPI_Init", 0);
  event(EventKind::phase_begin, "solve", 5);
  event(EventKind::send, "MPI_Send", 7);
  event(EventKind::finalize, "MPI_Finalize", 9);
  ReplayRule run = rule();
  EXPECT_EQ(before(run, EventKind::init, "MPI_Init"), Time());
  EXPECT_EQ(before(run, EventKind::phase_begin, "solve"), Time::ns(5));
  EXPECT_EQ(before(run, EventKind::send, "MPI_Send"), Time::ns(7));
  EXPECT_EQ(before(run, EventKind::finalize, "MPI_Finalize"), Time::ns(9));
}

TEST_F(Replay, LocalCallsMayBeRepeated) {
  event(EventKind::call, "MPI_Wtime", 5, 3);
  event(EventKind::call, "MPI_Wtime", 6, 1);
  event(EventKind::send, "MPI_Send", 7);
  ReplayRule run = rule();
  EXPECT_EQ(before(run, EventKind::call, "MPI_Wtime"), Time::ns(5));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(before(run, EventKind::call, "MPI_Wtime"), Time());
  EXPECT_EQ(before(run, EventKind::call, "MPI_Wtime"), Time::ns(6));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(before(run, EventKind::call, "MPI_Wtime"), Time());
  EXPECT_EQ(before(run, EventKind::send, "MPI_Send"), Time::ns(7));
}

TEST_F(Replay, LocalCallsMayBeRepeatedLessOften) {
  event(EventKind::call, "MPI_Wtime", 5, 3);
  event(EventKind::call, "MPI_Wtime", 6, 1);
  event(EventKind::send, "MPI_Send", 7);
  ReplayRule run = rule();
  EXPECT_EQ(before(run, EventKind::call, "MPI_Wtime"), Time::ns(5));
  EXPECT_EQ(before(run, EventKind::send, "MPI_Send"), Time::ns(13)) << "nothing is lost";
}

// Twice in vain then, four times now. The row found something: only its first look and the one
// that worked before it computed.
TEST_F(Replay, LooksInVainDoNotCount) {
  event(EventKind::irecv, "MPI_Irecv", 1);
  event(EventKind::call, "MPI_Test", 5, 2);
  event(EventKind::call, "MPI_Iprobe", 2);
  event(EventKind::call, "MPI_Iprobe", 400);
  event(EventKind::complete, "MPI_Test", 3);
  event(EventKind::send, "MPI_Send", 7);
  ReplayRule run = rule();
  EXPECT_EQ(before(run, EventKind::irecv, "MPI_Irecv"), Time::ns(1));
  EXPECT_EQ(before(run, EventKind::complete, "MPI_Test"), Time::ns(405));
  run.looked(false);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(before(run, EventKind::complete, "MPI_Test"), Time());
    run.looked(false);
    EXPECT_EQ(before(run, EventKind::call, "MPI_Iprobe"), Time());
    run.looked(true);
  }
  EXPECT_EQ(before(run, EventKind::complete, "MPI_Test"), Time());
  run.looked(true);
  EXPECT_EQ(before(run, EventKind::send, "MPI_Send"), Time::ns(7));
}

TEST_F(Replay, LooksThatFoundNothingWereWork) {
  event(EventKind::call, "MPI_Test", 5);
  event(EventKind::call, "MPI_Test", 6);
  event(EventKind::send, "MPI_Send", 7);
  ReplayRule run = rule();
  EXPECT_EQ(before(run, EventKind::send, "MPI_Send"), Time::ns(18));
}

TEST_F(Replay, AnotherCallIsTold) {
  event(EventKind::send, "MPI_Send", 7);
  event(EventKind::recv, "MPI_Recv", 7);
  ReplayRule run = rule();
  before(run, EventKind::send, "MPI_Send");
  try {
    before(run, EventKind::send, "MPI_Ssend");
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "rank 0 calls MPI_Ssend where " + path_ +
                  " has MPI_Recv (event 2); replay the trace of a run with the same calls");
  }
}

TEST_F(Replay, MoreCallsThanTheTraceHas) {
  event(EventKind::send, "MPI_Send", 7);
  ReplayRule run = rule();
  before(run, EventKind::send, "MPI_Send");
  EXPECT_THROW(before(run, EventKind::send, "MPI_Send"), Error);
}

TEST_F(Replay, RankThatTheTraceLacks) {
  event(EventKind::send, "MPI_Send", 7);
  EXPECT_THROW(rule(1), Error);
}

}  // namespace
}  // namespace foretrace::compute
