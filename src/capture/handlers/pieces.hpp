// Whether data lies together in memory (trace::Endpoint::piece).
#pragma once

#include <cstdint>

#include "capture/handlers/handlers.hpp"

namespace foretrace::capture {

// The bytes of a piece of it, in the middle; 0: it lies together, or is too little to matter.
std::uint16_t piece_of(const Data& data, Bytes bytes);
inline std::uint16_t piece_of(const Data& data) {
  return piece_of(data, data.bytes());
}

}  // namespace foretrace::capture
