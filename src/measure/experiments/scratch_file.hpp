// ScratchFile: the temporary file on which the file functions are measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/experiments/group.hpp"

namespace foretrace::measure {

// A message beyond this is not written to a file.
inline constexpr std::uint64_t kMostFileBytes = 4 << 20;

struct ScratchFile {
  std::string path;    // empty: there is none
  std::string reason;  // why, folder by folder; the same on all ranks
};

// Makes the file in the first of `folders` where it can be made, all of it written once
// (bytes_each for each rank), and where what one rank writes another can read.
// Collective over `world`.
ScratchFile make_scratch_file(const Group& world, const std::vector<std::string>& folders,
                              std::uint64_t bytes_each);
// Collective: nobody has the file open any more.
void remove_scratch_file(const Group& world, const ScratchFile& file);

}  // namespace foretrace::measure
