// [loggps], [[loggps.regime]] and [hop] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

void read_loggps(const TableReader& reader, PathModel& model);
HopParameters read_hop(const TableReader& reader);
// All of them that the model has; `prefix`: of the tables' names, "path.node.".
std::string format_loggps(const PathModel& model, const std::string& prefix);

}  // namespace foretrace::machine
