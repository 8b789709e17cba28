// What a message adds to its bytes on the wire.
#pragma once

#include <cstdint>

#include "measure/experiments/group.hpp"

namespace foretrace::measure {

// In bytes, of messages between the two ranks of `pair`, which are on two hosts; 0: not known
// (header_of). Told to both. Collective.
std::uint64_t measure_header(const Group& pair);

}  // namespace foretrace::measure
