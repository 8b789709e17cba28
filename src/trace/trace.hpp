// Trace: a whole trace in memory, for views and analyses of moderate size.
#pragma once

#include <string>
#include <vector>

#include "trace/event.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::trace {

struct Trace {
  TraceInfo info;
  bool sealed = true;
  std::vector<std::string> names;         // Event::name, over all ranks, in order of first use
  std::vector<Communicator> comms;        // Event::comm, over all ranks, by key
  std::vector<Site> sites;                // Event::site - 1, over all ranks, in order of first use
  std::vector<Counts> counts;             // Event::counts - 1, likewise
  std::vector<std::vector<Event>> ranks;  // events by world rank
  std::vector<Damage> damage;
};

// Of an event; nullptr: it has none.
inline const Counts* counts_of(const Trace& trace, const Event& event) {
  return event.counts == 0 ? nullptr : &trace.counts.at(event.counts - std::size_t{1});
}

// Reads a trace file; the numbers of names, communicators, sites and counts are made global.
// Throws Error as TraceReader does.
Trace read_trace(const std::string& path);

// Writes `trace`, sealed if it is. Throws Error.
void write_trace(const Trace& trace, const std::string& path);

}  // namespace foretrace::trace
