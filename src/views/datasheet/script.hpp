// What makes the plots of an HTML data sheet answer: style and script as built from
// web/src/sheet. Defined in a generated source (web/CMakeLists.txt).
#pragma once

#include <string_view>

namespace foretrace::views {

// Elements for the end of the page; empty when this build has none.
std::string_view datasheet_script();

}  // namespace foretrace::views
