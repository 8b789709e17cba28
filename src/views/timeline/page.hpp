// The page of the HTML time line as built from web/, with marks where the
// trace's data go. Defined in a generated source (web/CMakeLists.txt).
#pragma once

#include <string_view>

namespace foretrace::views {

// Empty when this build has no page.
std::string_view timeline_page();

}  // namespace foretrace::views
