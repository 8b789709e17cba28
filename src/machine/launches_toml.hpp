// [launches] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

std::vector<LaunchFactors> read_launches(const TableReader& reader);
// Nothing without launches.
std::string format_launches(const std::vector<LaunchFactors>& launches);

}  // namespace foretrace::machine
