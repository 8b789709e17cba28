// The top of a data sheet: what speaks against trusting it, and the few figures that everybody
// looks for.
#pragma once

#include <span>

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// `who` ("A: ") stands before each.
void add_warnings(const analysis::Datasheet& sheet, const std::string& who,
                  SheetDocument& document);
// Latency, bandwidth, thresholds, the usual collectives by the number of ranks.
void add_key_figures(const analysis::Datasheet& sheet, SheetDocument& document);
// The same of several machines, with the most ranks that all have.
void add_compared_figures(std::span<const analysis::Datasheet> sheets, SheetDocument& document);

// "A" for the first of several machines.
std::string letter_of(std::size_t machine);

}  // namespace foretrace::views
