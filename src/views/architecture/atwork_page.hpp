// The page of a run on an architecture as web/ has built it, with places for its title and data.
#pragma once

#include <string_view>

namespace foretrace::views {

// Empty when this build has no pages. Defined in a generated source (web/CMakeLists.txt).
std::string_view atwork_page();

}  // namespace foretrace::views
