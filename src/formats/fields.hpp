// The fields of an event as text, "key=value": one table for writing and
// reading. A field that has its usual value is left out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trace/event.hpp"

namespace foretrace::formats {

// What the fields of a rank's events may refer to.
struct FieldScope {
  int ranks = 0;
  trace::Clock clock = trace::Clock::cpu;
  std::size_t sites = 0;
  std::uint64_t events = 0;  // of the rank so far
  std::span<const trace::Communicator> comms;
};

std::string_view kind_name(trace::EventKind kind);
bool parse_kind(std::string_view text, trace::EventKind& kind);

// " key=value" for each field that the event's kind has.
void append_fields(std::string& line, const trace::Event& event, trace::Clock clock);

// Takes over one "key=value". Throws Error ("expected X, found Y").
void parse_field(std::string_view key, std::string_view value, const FieldScope& scope,
                 trace::Event& event);

// The value of "counts", which stands beside an event: "3x100,200" is 100, 100, 100, 200. Throws
// Error.
std::string counts_text(const trace::Counts& counts);
trace::Counts parse_counts(std::string_view value, const FieldScope& scope);

// Throws Error if the event, with all its fields and `counts` (empty: it has none), makes no sense
// after one that left at `last_leave`.
void check_event(const trace::Event& event, const trace::Counts& counts, const FieldScope& scope,
                 Time last_leave);

}  // namespace foretrace::formats
