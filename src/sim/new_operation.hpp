// kNewOperation: what sources begin an operation with.
//
// Its value stands in another file, so that it is copied: compilers make a new
// one bit by bit and byte by byte, and zero it in a way that takes several times
// as long. It has no other use.
#pragma once

#include "sim/operation.hpp"

namespace foretrace::sim {

extern const Operation kNewOperation;

}  // namespace foretrace::sim
