// [measurement] of a machine's file, for this part's readers.
#pragma once

#include <string>
#include <vector>

#include "toml_file/reader.hpp"

namespace foretrace::machine {

// Why the measurement is not to be trusted; empty: it is.
std::vector<std::string> read_measurement(const TableReader& reader);

}  // namespace foretrace::machine
