// What the critical path and the ranks' computation say of a whole run.
#pragma once

#include "explain/explanation.hpp"
#include "explain/places.hpp"
#include "explain/what_if.hpp"

namespace foretrace::explain {

PathSummary summarise_path(const Run& run, const Tails& tails, const Places& places);
// Formulas: docs/explain.md. `ideal`: run time on an ideal network.
Efficiency efficiency_of(const Run& run, Time ideal);

}  // namespace foretrace::explain
