// TellPlace: how people know a call site ("halo.c:37"). Whoever can look into
// programs' files hands one to whoever speaks of sites.
#pragma once

#include <functional>
#include <string>

#include "trace/event.hpp"

namespace foretrace::trace {

// May answer nothing: nobody knows.
using TellPlace = std::function<std::string(const Site&)>;

}  // namespace foretrace::trace
