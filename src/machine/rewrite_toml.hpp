// [rewrite] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

Rewrite read_rewrite(const TableReader& reader);
// Nothing without any. `prefix`: of the table's name, "path.node.".
std::string format_rewrite(const Rewrite& rewrite, const std::string& prefix);

}  // namespace foretrace::machine
