// The end of virtual time: 53 days, in picoseconds. Clocks stay below it, so that adding one
// more cost cannot overflow unseen; whoever moves one on past it ends the run and says so.
#pragma once

#include "base/time.hpp"

namespace foretrace {

inline constexpr Time kEndOfTime = Time::ps(INT64_MAX / 2);
inline constexpr char kPastTheEndOfTime[] =
    "the virtual time passes 53 days; check the machine model and the scale";

}  // namespace foretrace
