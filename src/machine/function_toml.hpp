// [[function]] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/machine_model.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

Function read_function(const TableReader& reader);
std::string format_function(const Function& function);

// `bytes = [FROM, TO]` or `[FROM]`, both ends included; all sizes if it is left out.
void read_interval(const TableReader& reader, Bytes& from, Bytes& to);
// "bytes = [FROM, TO]" and a line's end.
std::string format_interval(Bytes from, Bytes to);

}  // namespace foretrace::machine
