// How to use a data sheet: the words on it that are the same for every machine.
#pragma once

#include "views/datasheet.hpp"

namespace foretrace::views {

// The end of the sheet.
void add_notes(SheetDocument& document);

}  // namespace foretrace::views
