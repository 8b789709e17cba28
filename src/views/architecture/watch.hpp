// The page of a run on an architecture: the drawing, messages moving, a time line of entities.
//
// One file that needs no other and no network.
#pragma once

#include <string>

#include "architecture/message_network.hpp"
#include "base/time.hpp"

namespace foretrace::views {

std::string render_html_watch(const architecture::FlatArchitecture& architecture,
                              const architecture::Recording& recording, Time end,
                              const std::string& title);

}  // namespace foretrace::views
