// The files that others use, beside the trace's own: one row for each format.
//
// A format writes what a reader hands out, or turns its file into a trace. Each
// lies in files of its own; `foretrace convert` picks one from the table, and commands that
// read traces take a file of another format through ForeignTrace.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/notes.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::formats {

struct Format {
  const char* name;       // --from, --to
  const char* extension;  // ".txt"
  // Writes `path` anew; call sites with a place where `tell` knows one and the
  // format has room for it. nullptr: this format cannot be written. Throws Error.
  // Answers what of the trace is lost, if anything.
  Notes (*write)(trace::TraceReader& reader, const std::string& path, const trace::TellPlace& tell);
  // Makes the trace `to` of the file `from`. nullptr: it cannot be read. Throws
  // Error with file, place and reason; then `to` is as it was. Answers what the file does
  // not tell, if anything.
  Notes (*read)(const std::string& from, const std::string& to);
};

std::span<const Format> formats();

// By name, and by the extension of `path`; nullptr: there is none.
const Format* find_format(std::string_view name);
const Format* format_of(std::string_view path);

// The call that the rank is in, once its stream was read, by the rank's numbers.
struct OpenCallIds {
  trace::NameId name = 0;
  trace::SiteId site = 0;
};
std::optional<OpenCallIds> open_call_of(const trace::TraceReader& reader, WorldRank rank);

// The trace itself: all records in their places, in the newest version.
Notes copy_trace(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
// Every event and definition as a line of text (docs/convert.md).
Notes write_text(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
Notes read_text(const std::string& from, const std::string& to);
// OTF2 archives (docs/formats.md): NAME.otf2, NAME.def and the folder NAME.
Notes write_otf2(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
Notes read_otf2(const std::string& from, const std::string& to);
// For looking at (docs/formats.md): Pipit's CSV, Chrome's JSON, Perfetto's protobuf, Paje,
// Jumpshot's CLOG-2, ParaGraph's PICL.
Notes write_csv(trace::TraceReader& reader, const std::string& path,
                const trace::TellPlace& tell = {});
Notes write_chrome(trace::TraceReader& reader, const std::string& path,
                   const trace::TellPlace& tell = {});
Notes write_perfetto(trace::TraceReader& reader, const std::string& path,
                     const trace::TellPlace& tell = {});
Notes write_paje(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
Notes write_clog2(trace::TraceReader& reader, const std::string& path,
                  const trace::TellPlace& tell = {});
Notes write_picl(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
// Paraver's (Extrae's) NAME.prv, NAME.pcf, NAME.row; Upshot's ALOG.
Notes write_paraver(trace::TraceReader& reader, const std::string& path,
                    const trace::TellPlace& tell = {});
Notes read_paraver(const std::string& from, const std::string& to);
Notes write_alog(trace::TraceReader& reader, const std::string& path,
                 const trace::TellPlace& tell = {});
Notes read_alog(const std::string& from, const std::string& to);
// SST's DUMPI as text: NAME.meta and NAME-NNNN.txt.
Notes read_dumpi(const std::string& from, const std::string& to);

}  // namespace foretrace::formats
