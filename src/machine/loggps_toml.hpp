// [loggps], [[loggps.regime]] and [hop] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

// `prefix`: of the tables' names, "path.node.".
void read_loggps(const toml::table& table, const std::string& file, const std::string& prefix,
                 PathModel& model);
HopParameters read_hop(const TableReader& reader);
// All of them that the model has.
std::string format_loggps(const PathModel& model, const std::string& prefix);

}  // namespace foretrace::machine
