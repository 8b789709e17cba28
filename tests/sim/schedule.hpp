// Test schedules and machines as JSON (the format stands in reference.py, that
// of networks in reference_networks.py) to operations, a machine model and a
// network.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "machine/machine_model.hpp"
#include "sim/memory_source.hpp"
#include "sim/network.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

class ScheduleSource : public MemorySource {
 public:
  explicit ScheduleSource(int ranks) : MemorySource(ranks) {}
  // Whether it has wildcard receives, which take the first message to arrive.
  bool races() const override { return races_; }
  void set_races() { races_ = true; }

 private:
  bool races_ = false;
};

// A network, but for its topology, which must stay where it is.
struct ParsedNetwork {
  NetworkOptions options;
  std::optional<machine::Topology> topology;
};

machine::MachineModel parse_machine(const nlohmann::json& data);
// With MPI_Init and MPI_Finalize around each program.
ScheduleSource parse_schedule(const nlohmann::json& data);
// What a schedule's "network" says; the rest comes from `model`.
ParsedNetwork parse_network(const nlohmann::json& data, const machine::MachineModel& model);

}  // namespace foretrace::sim
