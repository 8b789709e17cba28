// How call sites are told to people, wherever a sub-command does.
#pragma once

#include "trace/tell_place.hpp"

namespace foretrace::cli {

// "halo.c:37", or "halo+0x11e9" where the program has no line numbers. Looks into
// the program's files when it is asked for the first time. For one thread.
trace::TellPlace place_teller();

}  // namespace foretrace::cli
