// What the critical path and the ranks' computation say of a whole run.
#pragma once

#include "explain/explanation.hpp"
#include "explain/places.hpp"

namespace foretrace::explain {

PathSummary summarise_path(const Run& run, const Places& places);
// Formulas: docs/explain.md. `ideal`: run time on an ideal network.
Efficiency efficiency_of(const Run& run, Time ideal);
// `mean`: seconds, and `most`: computation of a rank; `time`: how long it all takes.
Efficiency efficiency_from(double mean, Time most, Time time, Time ideal);

}  // namespace foretrace::explain
