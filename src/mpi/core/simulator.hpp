// The names that this library shares with the simulator (src/shared): the memory
// between them, what is posted there and answered.
#pragma once

namespace foretrace::live {}

namespace foretrace::mpi {
using namespace live;
}
