// What a data sheet says of how far to trust it: how and in what state the machine was
// measured, how well the equations hold, thresholds, LogGPS by regime, kernels.
#pragma once

#include <string>

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// Adds nothing where nothing is known.
void add_measurement(const analysis::Datasheet& sheet, SheetDocument& document);
void add_errors(const analysis::Datasheet& sheet, SheetDocument& document);
void add_computation(const analysis::Datasheet& sheet, SheetDocument& document);
void add_reductions(const analysis::Datasheet& sheet, SheetDocument& document);
void add_loggps(const analysis::Datasheet& sheet, SheetDocument& document);

// Whether the measurement calls a function's figures invalid.
bool is_invalid(const analysis::Datasheet& sheet, const std::string& function);

// "Measured with p = 2, 4 and 8, 0 B to 4 MiB. 1180 of 1200 blocks survived (98.3 %)." and what
// is wrong with it; "" where nothing is known.
std::string measured_with(const analysis::Datasheet& sheet, const analysis::SheetFunction& each);

}  // namespace foretrace::views
