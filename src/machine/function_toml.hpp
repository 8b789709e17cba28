// [[function]] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

Function read_function(const TableReader& reader);
// `prefix`: of the table's name, "path.node.".
std::string format_function(const Function& function, const std::string& prefix);

// `bytes = [FROM, TO]` or `[FROM]`, both ends included; all sizes if it is left out.
void read_interval(const TableReader& reader, Bytes& from, Bytes& to);
// "bytes = [FROM, TO]" and a line's end.
std::string format_interval(Bytes from, Bytes to);

}  // namespace foretrace::machine
