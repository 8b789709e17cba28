// How to use a data sheet: the words on it that are the same for every machine.
#pragma once

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// The end of the sheet; on a page of its own in a full one.
void add_notes(SheetDocument& document, SheetExtent extent);

}  // namespace foretrace::views
