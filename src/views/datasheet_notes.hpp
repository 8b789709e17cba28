// How to use a data sheet: the words on it that are the same for every machine.
#pragma once

#include <string_view>
#include <vector>

namespace foretrace::views {

// Paragraphs for the end of the sheet.
std::vector<std::string_view> notes_on_use();

}  // namespace foretrace::views
