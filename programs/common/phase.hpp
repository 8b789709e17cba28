// phase.hpp - a Foretrace phase that lasts as long as a block of the program.
#ifndef PROGRAMS_COMMON_PHASE_HPP
#define PROGRAMS_COMMON_PHASE_HPP

#include "foretrace.hpp"

namespace programs {

using foretrace::Phase;

}  // namespace programs

#endif  // PROGRAMS_COMMON_PHASE_HPP
