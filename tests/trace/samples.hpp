// Traces that the tests write: one event of every kind, with the values at the
// ends of what the format holds. Used by the tests of src/trace and by
// trace_dump; holds no checks itself.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {

// The longest span that a reader takes (a quarter of what Time holds).
inline constexpr Time kLongest = Time::ps(INT64_MAX / 4);

TraceInfo sample_info(int ranks, Clock clock);

// Every kind, ordinary and extreme, for a rank of a trace with `ranks` >= 2.
// Times fit `clock`; all names are 0 and all communicators 0.
std::vector<Event> sample_events(int ranks, Clock clock);

// `count` events of changing kinds and sizes; the same for the same arguments.
std::vector<Event> many_events(int ranks, int rank, std::size_t count, Clock clock);

// A name and a communicator of all ranks, both numbered 0.
void define(TraceWriter& writer, int ranks);

// All events of `rank`, up to its end.
std::vector<Event> read_all(TraceReader& reader, int rank);

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace foretrace::trace
