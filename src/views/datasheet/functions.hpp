// What a data sheet says of each function: all of it, or a small plot.
#pragma once

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// One after the other: equations by interval, plots, residuals, bounds, raw data.
void add_functions(const analysis::Datasheet& sheet, int digits, SheetDocument& document);
// A small plot of each, with what it means.
void add_gallery(const analysis::Datasheet& sheet, SheetDocument& document);

}  // namespace foretrace::views
