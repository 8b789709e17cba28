// [pieces] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>

#include "machine/pieces.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

// `prefix`: of the table's name, "path.node.".
Pieces read_pieces(const TableReader& reader, const std::string& prefix);
// Nothing without any.
std::string format_pieces(const Pieces& pieces, const std::string& prefix);

}  // namespace foretrace::machine
