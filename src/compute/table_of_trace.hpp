// A compute table from a trace: what the phases of a program took in one run, to
// be applied to runs elsewhere (--compute table:FILE).
#pragma once

#include "base/time.hpp"
#include "machine/compute_table.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::compute {

enum class Per { visit, step };

struct TraceTable {
  machine::ComputeTable table;
  Time in_regions;  // over all ranks
  Time elsewhere;
};

// Means over all visits of all ranks, so that the sum stays what it was. Per step:
// phases that announce no steps come per visit. Throws Error where the trace has
// no phases, or one has visits with too many calls for a table.
TraceTable table_of_trace(trace::TraceReader& trace, Per per);

}  // namespace foretrace::compute
