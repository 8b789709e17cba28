// What the critical path and the ranks' computation say of a whole run.
#pragma once

#include "explain/explanation.hpp"
#include "explain/places.hpp"

namespace foretrace::explain {

PathSummary summarise_path(const Run& run, const Places& places);
// How long it all takes: as it is; on an ideal network; there, with files that take no time.
struct RunTimes {
  Time as_is;
  Time ideal;
  Time no_files;
};
// Formulas: docs/explain.md.
Efficiency efficiency_of(const Run& run, const RunTimes& times);
// `mean`: seconds, and `most`: computation of a rank.
Efficiency efficiency_from(double mean, Time most, const RunTimes& times);

}  // namespace foretrace::explain
