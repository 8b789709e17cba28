// [compute] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/compute_costs.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

// Seconds of an annotated step; the rest goes to `costs`.
double read_compute(const TableReader& reader, ComputeCosts& costs);
std::string format_compute(double step, const ComputeCosts& costs);

}  // namespace foretrace::machine
