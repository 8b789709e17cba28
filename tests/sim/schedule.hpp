// Test schedules and machines as JSON (the format stands in reference.py) to
// operations and a machine model.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/machine_model.hpp"
#include "sim/memory_source.hpp"

namespace foretrace::sim {

machine::MachineModel parse_machine(const nlohmann::json& data);
// With MPI_Init and MPI_Finalize around each program.
MemorySource parse_schedule(const nlohmann::json& data);

}  // namespace foretrace::sim
