// [[BYTES, SECONDS], ...] of a machine's file, for this part's readers and writers.
#pragma once

#include <string>
#include <vector>

#include "machine/size_times.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {

// Of ascending sizes, one or more.
std::vector<SizeTime> read_size_times(const TableReader& reader, const std::string& key);
std::string size_times_text(const std::vector<SizeTime>& known);

}  // namespace foretrace::machine
