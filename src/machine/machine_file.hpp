// The TOML form of a MachineModel (docs/machine-file.md).
//
// Written by `measure`, meant to be read and edited by people. Unknown keys,
// wrong types and impossible values are errors that name file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "machine/compute_costs.hpp"
#include "machine/machine_model.hpp"
#include "topology/topology.hpp"

namespace foretrace::machine {

// Throws Error "FILE:LINE: what is wrong; what to do".
MachineModel read_machine_file(const std::string& path);
// The same from text; `name` stands for the file in messages.
MachineModel parse_machine(std::string_view text, const std::string& name);

// Builds the model's [topology]; reads the file if it names one. Throws Error,
// also for a model that has none.
Topology topology_of(const MachineModel& model);

// `invalid_reasons`: see measurement.hpp.
std::string format_machine(const MachineModel& model, const ComputeCosts& costs = {},
                           const std::vector<std::string>& invalid_reasons = {});
// Writes a temporary file and renames it. Throws Error.
void write_machine_file(const MachineModel& model, const std::string& path,
                        const ComputeCosts& costs = {},
                        const std::vector<std::string>& invalid_reasons = {});

}  // namespace foretrace::machine
