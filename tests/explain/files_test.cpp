// Calls on files and one-sided accesses: what of them is whose time. Times: tests/sim/programs.hpp.
#include <gtest/gtest.h>

#include "explained.hpp"
#include "topology/builders.hpp"

namespace foretrace::explain {
namespace {

using machine::OneSided;
using trace::EventKind;

class Calls : public Programs {
 public:
  using Programs::Programs;

  void call(int rank, const char* name, Time before = {}) {
    add(WorldRank(rank), make(EventKind::call, name, before));
  }
  void one_sided(int rank, OneSided what, const char* name, std::uint64_t bytes = 0,
                 Time before = {}, std::uint64_t request = 0) {
    sim::Operation operation = make(EventKind::call, name, before);
    operation.one_sided = what;
    operation.send.peer = WorldRank(1 - rank);
    operation.bytes = Bytes(bytes);
    operation.request = request;
    add(WorldRank(rank), operation);
  }
};

machine::MachineModel machine_with_files() {
  machine::MachineModel model = sim::test_machine();
  machine::Function write = model.functions.at("barrier");
  write.name = "file_write_at";
  write.function_class = "file";
  write.regimes[0].equation.constant.value = 300;
  model.functions["file_write_at"] = write;
  return model;
}

// Rank 0 computes 100, writes 300, and meets rank 1, which computes 200, in a barrier of 40.
TEST(Files, TakeNoTimeOfTheNetwork) {
  Calls programs(2);
  programs.call(0, "MPI_File_write_at", us(100));
  programs.collective(0, machine::Cost::barrier);
  programs.collective(1, machine::Cost::barrier, us(200));
  programs.finalize_all();
  const Explained explained = explain_program(programs, {}, {}, machine_with_files());
  const Explanation& explanation = explained.explanation;
  EXPECT_EQ(explanation.time, us(440));
  EXPECT_EQ(explanation.bounds.ideal_network, us(400));
  EXPECT_EQ(explanation.bounds.no_files, us(240));
  EXPECT_EQ(explanation.bounds.ideal_no_files, us(200));
  EXPECT_EQ(explanation.path.parts.files, us(300));
  EXPECT_EQ(explanation.path.parts.overhead, Time());
  EXPECT_EQ(explanation.path.parts.sum(), us(440));
  const Headline best = headline_of(explanation);
  EXPECT_EQ(best.communication, us(400));
  EXPECT_EQ(best.files, us(240));
  const Efficiency& efficiency = explanation.efficiency;
  EXPECT_DOUBLE_EQ(efficiency.serialisation, 1);
  EXPECT_DOUBLE_EQ(efficiency.files, 0.5);
  EXPECT_DOUBLE_EQ(efficiency.transfer, 400.0 / 440);
  EXPECT_DOUBLE_EQ(efficiency.parallel, efficiency.load_balance * efficiency.serialisation *
                                            efficiency.files * efficiency.transfer);
  const Finding* finding = explained.first("files");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->place.function, "MPI_File_write_at");
  EXPECT_EQ(finding->ranks, std::vector{WorldRank(0)});
  EXPECT_EQ(finding->spent, us(300));
  EXPECT_EQ(finding->gain, us(200));
  EXPECT_TRUE(finding->verified);
  EXPECT_FALSE(finding->elsewhere);
}

TEST(Files, AreNotToldWhereThereAreNone) {
  Calls programs(2);
  send(programs, 0, 1, us(500), "MPI_Send");
  recv(programs, 1, 0, us(100), "MPI_Recv");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  EXPECT_FALSE(explained.explanation.bounds.no_files);
  EXPECT_FALSE(headline_of(explained.explanation).files);
  EXPECT_DOUBLE_EQ(explained.explanation.efficiency.files, 1);
  EXPECT_FALSE(explained.first("files"));
}

// A get without an equation of its own takes 170 as in tests/sim/one_sided_test.cpp, of which 50
// are its bytes; posting it 30.
TEST(Accesses, AreTransfersToWhoWaitsForThem) {
  Calls programs(2);
  programs.one_sided(0, OneSided::get, "MPI_Get", 800);
  programs.one_sided(0, OneSided::flush, "MPI_Win_flush");
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  EXPECT_EQ(explained.explanation.time, us(170));
  const Parts& parts = explained.explanation.path.parts;
  EXPECT_EQ(parts.overhead, us(30));
  EXPECT_EQ(parts.latency, us(120));
  EXPECT_EQ(parts.bytes, us(20));
  EXPECT_EQ(parts.queue, Time());
  const WaitGroup* wait = explained.waits_at("MPI_Win_flush");
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->kind, WaitKind::transfer);
}

TEST(Accesses, AreTransfersToTheirRequests) {
  Calls programs(2);
  programs.one_sided(0, OneSided::get, "MPI_Rget", 800, us(0), 1);
  programs.wait(0, {1}, us(7));
  programs.finalize_all();
  const Explained explained = explain_program(programs);
  EXPECT_EQ(explained.explanation.time, us(170));
  const Parts& parts = explained.explanation.path.parts;
  EXPECT_EQ(parts.sum(), us(170));
  EXPECT_EQ(parts.queue, Time());
  const WaitGroup* wait = explained.waits_at("MPI_Waitall");
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->kind, WaitKind::transfer);
}

// Posting takes o = 1, then 10 there, 1 for the answer at the target's interface, 10 and 20,000
// bytes back, a nanosecond each.
TEST(Accesses, AreTransfersThatAreMessages) {
  const machine::Topology pair = machine::make_topology("full:2?latency=10us&bandwidth=1GB/s");
  for (const auto kind : {sim::NetworkKind::loggps, sim::NetworkKind::flow}) {
    sim::NetworkOptions network;
    network.kind = kind;
    if (kind == sim::NetworkKind::flow) network.topology = &pair;
    network.loggps.latency = us(10);
    network.loggps.overhead_send = us(1);
    network.loggps.overhead_recv = us(2);
    network.loggps.gap_per_byte = 1e-9;
    const Time bytes = kind == sim::NetworkKind::loggps ? us(20) - Time::ns(1) : us(20);
    for (const std::uint64_t request : {0, 1}) {
      Calls programs(2);
      programs.one_sided(0, OneSided::get, request == 0 ? "MPI_Get" : "MPI_Rget", 20'000, us(0),
                         request);
      if (request == 0)
        programs.one_sided(0, OneSided::flush, "MPI_Win_flush");
      else
        programs.wait(0, {1});
      programs.finalize_all();
      const Explained explained = explain_program(programs, network);
      EXPECT_EQ(explained.explanation.time, us(22) + bytes);
      const Parts& parts = explained.explanation.path.parts;
      EXPECT_EQ(parts.overhead, us(1));
      EXPECT_EQ(parts.latency, us(21));
      EXPECT_EQ(parts.bytes, bytes);
      EXPECT_EQ(parts.queue, Time());
    }
  }
}

}  // namespace
}  // namespace foretrace::explain
