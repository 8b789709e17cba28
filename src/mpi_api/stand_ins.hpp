// What stands in for a data-sheet function ("recvmin", "rput") that a machine model
// lacks, by stand_ins.txt. What it takes then is the timing rules' affair
// (machine/timing.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrace::mpi_api {

enum class StandInKind : std::uint8_t {
  charged,   // what the timing rules evaluate
  alike,     // of these: where the stand-in is as good as the function itself
  moving,    // calls that move data as another one does, which is measured
  looking,   // calls that look whether something has happened
  making,    // calls that make a communicator: which function is charged for them
  together,  // calls that all members of a window or file make together
};

// Empty: nothing does.
std::string_view stand_in_for(StandInKind kind, std::string_view function);

}  // namespace foretrace::mpi_api
