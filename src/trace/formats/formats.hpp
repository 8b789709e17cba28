// The files that others use, beside the trace's own: one row for each format.
//
// A format writes what a reader hands out, or turns its file into a trace. Each
// lies in a file of its own; `foretrace convert` picks one from the table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/tell_place.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::trace {

struct Format {
  const char* name;       // --from, --to
  const char* extension;  // ".txt"
  // Writes `path` anew; call sites with a place where `tell` knows one and the
  // format has room for it. nullptr: this format cannot be written. Throws Error.
  void (*write)(TraceReader& reader, const std::string& path, const TellPlace& tell);
  // Makes the trace `to` of the file `from`. nullptr: it cannot be read. Throws
  // Error with file, line and reason; then `to` is as it was.
  void (*read)(const std::string& from, const std::string& to);
};

std::span<const Format> formats();

// By name, and by the extension of `path`; nullptr: there is none.
const Format* find_format(std::string_view name);
const Format* format_of(std::string_view path);

// The call that the rank is in, once its stream was read, by the rank's numbers.
struct OpenCallIds {
  NameId name = 0;
  SiteId site = 0;
};
std::optional<OpenCallIds> open_call_of(const TraceReader& reader, WorldRank rank);

// The trace itself: all records in their places, in the newest version.
void copy_trace(TraceReader& reader, const std::string& path, const TellPlace& tell = {});
// Every event and definition as a line of text (docs/convert.md).
void write_text(TraceReader& reader, const std::string& path, const TellPlace& tell = {});
void read_text(const std::string& from, const std::string& to);

}  // namespace foretrace::trace
