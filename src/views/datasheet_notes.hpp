// What the functions of a data sheet mean, and how to use the sheet: the words
// on it that are the same for every machine.
#pragma once

#include <string_view>
#include <vector>

namespace foretrace::views {

// One sentence; "" for a function that the data sheets do not define.
std::string_view meaning_of(std::string_view function);

// Paragraphs for the end of the sheet.
std::vector<std::string_view> notes_on_use();

}  // namespace foretrace::views
