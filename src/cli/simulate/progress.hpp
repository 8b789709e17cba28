// How far a simulated run is, told while it runs.
#pragma once

#include <functional>

#include "sim/engine.hpp"

namespace foretrace::cli {

// On a terminal, from the third second on, a line that says how much was replayed, and about how
// long the rest will take; it is cleared when the teller is destroyed. Empty elsewhere.
// `share`: of the run that is done, 0 to 1; 0 where that is not known.
std::function<void(const sim::Stats&)> progress_teller(std::function<double()> share);

}  // namespace foretrace::cli
