// How far simulated runs are, told while they run: a line on a terminal, nothing elsewhere (then
// the functions are empty).
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "sim/engine.hpp"

namespace foretrace::cli {

// From the third second on how much was replayed, and about how long the rest will take; gone when
// the function is destroyed. `share`: of the run that is done, 0 to 1. At 0 and at 1 it tells
// nothing of what is left: it is not known, or all was read before.
std::function<void(const sim::Stats&)> replay_progress(std::function<double()> share);

using CountDone = std::function<void(std::size_t done, std::size_t total)>;
// Counts runs, as `what` ("simulations"), and tells how long the rest will take; gone when all are
// done.
CountDone count_progress(std::string what);

}  // namespace foretrace::cli
