// --network auto on machines whose patterns take exactly what one of the networks says.
#include "cli/simulate/network_choice.hpp"

#include <gtest/gtest.h>

#include "topology/builders.hpp"

namespace foretrace::cli {
namespace {

// Four ranks; L = 10 us, no overheads, 100 MB/s. MPI_Isend and its wait take no time, MPI_Irecv
// neither, and its wait 10 us and 10 ns a byte: the other message beside it makes no difference.
machine::MachineModel machine_of() {
  machine::MachineModel model;
  model.time_unit = 1e-6;
  model.loggps.latency = 10e-6;
  model.loggps.gap_per_byte = 10e-9;
  model.loggps.overhead_send = model.loggps.overhead_recv = model.loggps.gap = 0;
  const auto add = [&](const char* name, double constant, double per_byte) {
    machine::Regime regime;
    regime.equation.constant.value = constant;
    regime.equation.data.value = per_byte;
    model.functions[name] = {name, "", "", {regime}};
  };
  for (const char* name : {"isend1", "isend2", "isendoverlap", "irecv1", "recvmin"})
    add(name, 0, 0);
  for (const char* name : {"irecv2", "recv"}) add(name, 10, 10e-3);
  add("irecvoverlap", 10, 10e-3);
  return model;
}

// All four exchange with both neighbours: constant us and per_byte us.
void measure_ring(machine::MachineModel& model, double constant, double per_byte) {
  machine::PatternTimes ring{"exchange_ring", 4, {}};
  for (const std::uint64_t bytes : {8u, 2'048u, 65'536u, 1'000'000u})
    ring.times.push_back({Bytes(bytes), 1e-6 * (constant + per_byte * static_cast<double>(bytes))});
  model.patterns = {ring};
}

std::string chosen(const machine::MachineModel& model, const char* topology) {
  const machine::Topology links = machine::make_topology(topology);
  const auto choice = choose_network(model, &links, machine::Bound::avg);
  if (!choice) return "nothing";
  EXPECT_LT(choice->scores[choice->chosen].error, 1e-3) << text_of(*choice);
  return choice->scores[choice->chosen].network;
}

constexpr const char* kBus = "bus:4?latency=10us&bandwidth=100MB/s";
constexpr const char* kSwitch = "crossbar:4?latency=5us&bandwidth=100MB/s";

// Nobody is in anybody's way: the equations alone are right.
TEST(NetworkChoice, Datasheet) {
  machine::MachineModel model = machine_of();
  measure_ring(model, 10, 10e-3);
  EXPECT_EQ(chosen(model, kSwitch), "datasheet");
}

// Two messages leave each rank and two come, one after the other at its ports: loggps says the same
// as a switch's links, which hold for other patterns, too.
TEST(NetworkChoice, LinksOfEquals) {
  machine::MachineModel model = machine_of();
  measure_ring(model, 10, 20e-3);
  EXPECT_EQ(chosen(model, kSwitch), "flow");
}

// The data sheet is nearer, but not by much: 8 % too fast for flow's 10 % too slow.
TEST(NetworkChoice, NearerIsNotEnough) {
  machine::MachineModel model = machine_of();
  measure_ring(model, 10 * 1.08, 10e-3 * 1.08);
  const machine::Topology links =
      machine::make_topology("crossbar:4?latency=5us&bandwidth=168MB/s");
  const auto choice = choose_network(model, &links, machine::Bound::avg);
  ASSERT_TRUE(choice);
  const auto& scores = choice->scores;
  EXPECT_LT(scores[0].error, scores[2].error);
  EXPECT_GT(scores[0].error, scores[2].error / 2);
  EXPECT_EQ(scores[choice->chosen].network, "flow") << text_of(*choice);
}

// Eight messages share one medium.
TEST(NetworkChoice, Links) {
  machine::MachineModel model = machine_of();
  measure_ring(model, 10, 80e-3);
  EXPECT_EQ(chosen(model, kBus), "flow");
}

TEST(NetworkChoice, NothingToChooseBy) {
  machine::MachineModel model = machine_of();
  EXPECT_EQ(chosen(model, kBus), "nothing");
  measure_ring(model, 10, 80e-3);
  // Of small messages alone.
  model.patterns[0].times.resize(1);
  EXPECT_EQ(chosen(model, kBus), "nothing");
  // Of two ranks nothing is in the way.
  measure_ring(model, 10, 80e-3);
  model.patterns[0].ranks = 2;
  EXPECT_EQ(chosen(model, kBus), "nothing");
}

// Without links, only what needs none; the text has all figures.
TEST(NetworkChoice, WithoutATopology) {
  machine::MachineModel model = machine_of();
  measure_ring(model, 10, 20e-3);
  const auto choice = choose_network(model, nullptr, machine::Bound::avg);
  ASSERT_TRUE(choice);
  ASSERT_EQ(choice->scores.size(), 2U);
  EXPECT_NE(text_of(*choice).find("chose loggps"), std::string::npos) << text_of(*choice);
  EXPECT_NE(text_of(*choice).find("(exchange_ring); datasheet "), std::string::npos);
}

}  // namespace
}  // namespace foretrace::cli
