// [reduction] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

Reductions read_reductions(const TableReader& reader);
// Nothing without any.
std::string format_reductions(const Reductions& reductions);

}  // namespace foretrace::machine
