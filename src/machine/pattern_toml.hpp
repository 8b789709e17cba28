// [[pattern]] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

// Of all [[pattern]] tables of the file that `reader` reads.
std::vector<PatternTimes> read_patterns(const TableReader& reader);
std::string format_patterns(const std::vector<PatternTimes>& patterns);

}  // namespace foretrace::machine
