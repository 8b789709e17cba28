// The editor's page as web/ has built it, with a place for the behaviours.
#pragma once

#include <string_view>

namespace foretrace::views {

// Empty when this build has no pages. Defined in a generated source (web/CMakeLists.txt).
std::string_view editor_page();

}  // namespace foretrace::views
