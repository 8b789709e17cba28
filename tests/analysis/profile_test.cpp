#include "analysis/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/traffic.hpp"
#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::Profile;
using analysis::profile_trace;
using machine::Cost;
using test::TraceBuilder;
using test::us;
using testing::ElementsAre;

// Rank 0: computes 30, sends 10 us (to 40), barrier 20 us (to 60), finalizes at 60.
// Rank 1: receives 50 us of which 35 waiting (to 50), barrier 10 us (to 60),
// computes 20, finalizes at 80.
TraceBuilder two_ranks() {
  TraceBuilder b(2);
  b.init(0);
  b.send(0, 1, 7, 800, us(30), us(10));
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, Time(), us(20), us(10));
  b.finalize(0);
  b.init(1);
  b.recv(1, 0, 7, 800, Time(), us(50), us(35));
  b.collective(1, "MPI_Barrier", Cost::barrier, 0, Time(), us(10));
  b.finalize(1, us(20));
  return b;
}

TEST(Profile, SumsEveryRank) {
  const Profile p = profile_trace(two_ranks().trace());
  ASSERT_EQ(p.per_rank.size(), 2u);
  EXPECT_EQ(p.per_rank[0].time, us(60));
  EXPECT_EQ(p.per_rank[0].compute, us(30));
  EXPECT_EQ(p.per_rank[0].mpi, us(30));
  EXPECT_EQ(p.per_rank[0].wait, us(10));
  EXPECT_EQ(p.per_rank[1].time, us(80));
  EXPECT_EQ(p.per_rank[1].compute, us(20));
  EXPECT_EQ(p.per_rank[1].mpi, us(60));
  EXPECT_EQ(p.per_rank[1].wait, us(35));
  // Utilisation is by the program's time, 80 us: 30/80 and 20/80.
  EXPECT_DOUBLE_EQ(p.per_rank[0].utilisation, 0.375);
  EXPECT_DOUBLE_EQ(p.per_rank[1].utilisation, 0.25);
}

// MPI_Put waits for the window first: the access goes on with the call.
TEST(Profile, AnEventThatGoesOnWithACallIsNoCall) {
  TraceBuilder b(2);
  b.init(0);
  b.recv(0, 1, 7, 0, Time(), us(5));
  trace::Event& access = b.add(0, trace::EventKind::call, "MPI_Recv", Time(), us(1));
  access.count = 0;
  access.one_sided = machine::OneSided::put;
  access.bytes = Bytes(16);
  access.send.peer = WorldRank(1);
  b.finalize(0);
  b.init(1);
  b.finalize(1);
  const Profile p = profile_trace(b.trace());
  const auto& function = p.functions.at(1);
  EXPECT_EQ(function.name, "MPI_Recv");
  EXPECT_EQ(function.calls, 1u);
  EXPECT_EQ(function.time, us(6));
  EXPECT_EQ(function.sent, Bytes(16));
  EXPECT_EQ(p.message_bytes, Bytes());
  const auto durations = analysis::traffic_of(b.trace()).durations;
  ASSERT_EQ(durations.size(), 1u);
  EXPECT_EQ(durations[0].count, 1u);
  EXPECT_EQ(durations[0].time, us(6));
}

TEST(Profile, SumsTheProgram) {
  const Profile p = profile_trace(two_ranks().trace());
  EXPECT_EQ(p.ranks, 2);
  EXPECT_EQ(p.time, us(80));
  EXPECT_EQ(p.serial_time, us(50));
  EXPECT_DOUBLE_EQ(p.speedup.value(), 50.0 / 80);
  EXPECT_DOUBLE_EQ(p.efficiency.value(), 50.0 / 160);
  // Mean compute 25 of at most 30; 30 of 80.
  EXPECT_DOUBLE_EQ(p.load_balance.value(), 25.0 / 30);
  EXPECT_DOUBLE_EQ(p.communication_efficiency.value(), 30.0 / 80);
  EXPECT_EQ(p.wait, us(45));
  EXPECT_EQ(p.messages, 1u);
  EXPECT_EQ(p.message_bytes, Bytes(800));
}

TEST(Profile, SumsStatesOverAllRanks) {
  const Profile p = profile_trace(two_ranks().trace());
  ASSERT_EQ(p.states.size(), 4u);
  EXPECT_EQ(p.states[0].name, "COMPUTE");
  EXPECT_EQ(p.states[0].time, us(50));
  EXPECT_EQ(p.states[1].name, "MPI_Send");
  EXPECT_EQ(p.states[1].time, us(10));
  EXPECT_EQ(p.states[2].name, "MPI_Barrier");
  EXPECT_EQ(p.states[2].time, us(30));
  EXPECT_EQ(p.states[2].wait, us(10));
  EXPECT_EQ(p.states[3].name, "MPI_Recv");
  EXPECT_EQ(p.states[3].wait, us(35));
}

TEST(Profile, TimeOfARankIsComputePlusMpi) {
  const Profile p = profile_trace(two_ranks().trace());
  for (const auto& r : p.per_rank) EXPECT_EQ(r.time, r.compute + r.mpi);
}

TEST(Profile, CountsCallsAndBytes) {
  TraceBuilder b(2);
  b.init(0);
  b.isend(0, 1, 1, 0, 100, us(1), us(1));
  b.irecv(0, 2, 1, 0, 4096, Time(), us(1));
  // The buffer holds 4096, 60 bytes came; a cancelled request moved nothing.
  trace::Event& wait = b.add(0, trace::EventKind::complete, "MPI_Waitall", Time(), us(3), us(2));
  wait.completions = {{1, WorldRank(), 0, Bytes(0), false},
                      {2, WorldRank(1), 0, Bytes(60), false},
                      {3, WorldRank(1), 0, Bytes(999), true}};
  b.send(0, -1, 0, 500, Time(), us(1));  // MPI_PROC_NULL
  b.collective(0, "MPI_Bcast", Cost::bcast, 32, Time(), us(1));
  b.add(0, trace::EventKind::call, "MPI_Iprobe", Time(), us(1)).count = 17;
  const Profile p = profile_trace(b.trace());

  EXPECT_EQ(p.messages, 1u);
  EXPECT_EQ(p.message_bytes, Bytes(100));
  const auto find = [&](const std::string& name) {
    for (const auto& f : p.functions)
      if (f.name == name) return f;
    return analysis::FunctionProfile{};
  };
  EXPECT_EQ(find("MPI_Isend").sent, Bytes(100));
  EXPECT_EQ(find("MPI_Irecv").received, Bytes(0));
  EXPECT_EQ(find("MPI_Waitall").received, Bytes(60));
  EXPECT_EQ(find("MPI_Waitall").wait, us(2));
  EXPECT_EQ(find("MPI_Send").calls, 1u);
  EXPECT_EQ(find("MPI_Send").sent, Bytes(0));
  EXPECT_EQ(find("MPI_Bcast").collective, Bytes(32));
  EXPECT_EQ(find("MPI_Iprobe").calls, 17u);
  EXPECT_EQ(find("MPI_Init").calls, 1u);
}

TEST(Profile, WithoutFinalizeTheLastEventEndsTheRank) {
  TraceBuilder b(1);
  b.init(0);
  b.send(0, 0, 0, 1, us(5), us(2));
  b.trace().sealed = false;
  const Profile p = profile_trace(b.trace());
  EXPECT_EQ(p.time, us(7));
  EXPECT_FALSE(p.complete);
}

TEST(Profile, InitAndFinalizeTakeNoTime) {
  TraceBuilder b(1, trace::Clock::wall);
  b.init(0);
  b.add(0, trace::EventKind::finalize, "MPI_Finalize", us(4), us(100));
  b.add(0, trace::EventKind::call, "MPI_Finalized", us(1), us(1));
  const Profile p = profile_trace(b.trace());
  EXPECT_EQ(p.time, us(4));
  EXPECT_EQ(p.per_rank[0].mpi, Time());
}

TEST(Profile, CpuClockHasOnlyComputation) {
  TraceBuilder b(2, trace::Clock::cpu);
  for (int rank : {0, 1}) {
    b.init(rank);
    b.collective(rank, "MPI_Barrier", Cost::barrier, 0, us(10 + rank), Time());
    b.finalize(rank, us(5));
  }
  const Profile p = profile_trace(b.trace());
  EXPECT_EQ(p.serial_time, us(31));
  EXPECT_EQ(p.time, us(16));
  EXPECT_EQ(p.per_rank[1].mpi, Time());
  EXPECT_EQ(p.per_rank[1].wait, Time());
}

TEST(Profile, PhasesNestAndTakeTheMaximumOverRanks) {
  TraceBuilder b(2);
  b.init(0);
  b.phase_begin(0, "solve");          // at 0
  b.phase_begin(0, "sweep", us(10));  // at 10
  b.phase_end(0, "sweep", us(20));    // at 30
  b.phase_begin(0, "sweep", us(1));   // at 31
  b.phase_end(0, "sweep", us(4));     // at 35: 20 + 4 = 24 in all
  b.phase_end(0, "solve", us(5));     // at 40
  b.finalize(0);
  b.init(1);
  b.phase_begin(1, "solve");
  b.phase_begin(1, "solve", us(3));  // inside itself: counts once
  b.phase_end(1, "solve", us(3));
  b.phase_end(1, "solve", us(50));  // at 56
  b.phase_end(1, "never opened");
  b.phase_begin(1, "tail", us(4));  // at 60, open to the end at 65
  b.finalize(1, us(5));
  const Profile p = profile_trace(b.trace());

  ASSERT_EQ(p.phases.size(), 3u);
  EXPECT_EQ(p.phases[0].name, "solve");
  EXPECT_THAT(p.phases[0].per_rank, ElementsAre(us(40), us(56)));
  EXPECT_EQ(p.phases[0].time, us(56));
  EXPECT_EQ(p.phases[0].mean, us(48));
  EXPECT_EQ(p.phases[0].slowest, WorldRank(1));
  EXPECT_EQ(p.phases[0].count, 3u);
  EXPECT_EQ(p.phases[1].name, "sweep");
  EXPECT_THAT(p.phases[1].per_rank, ElementsAre(us(24), Time()));
  EXPECT_EQ(p.phases[2].name, "tail");
  EXPECT_THAT(p.phases[2].per_rank, ElementsAre(Time(), us(5)));
}

TEST(Profile, EmptyTraceHasNoTimes) {
  TraceBuilder b(3);
  const Profile p = profile_trace(b.trace());
  EXPECT_EQ(p.time, Time());
  EXPECT_EQ(p.speedup, std::nullopt);
  EXPECT_EQ(p.efficiency, std::nullopt);
  EXPECT_EQ(p.load_balance, std::nullopt);
}

}  // namespace
}  // namespace foretrace
