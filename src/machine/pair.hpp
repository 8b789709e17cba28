// How many processes the equations of point-to-point functions stand for.
//
// For whoever asks a machine model for one, or makes one of measurements; what the equations
// say is timing.hpp's.
#pragma once

namespace foretrace::machine {

inline constexpr int kPair = 2;

}  // namespace foretrace::machine
