// CSV as Pipit reads it (Trace.from_csv): a row for each moment, in the order of time.
#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"

namespace foretrace::formats {
namespace {

using trace::EventKind;

// In quotes where it has to be, as RFC 4180 says.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

const char* type_of(const Moment& moment) {
  switch (moment.event->kind) {
    case EventKind::phase_begin:
      return moment.begins ? nullptr : "Enter";
    case EventKind::phase_end:
      return moment.begins ? nullptr : "Leave";
    case EventKind::mark:
      return moment.begins ? nullptr : "Instant";
    default:
      return moment.begins ? "Enter" : "Leave";
  }
}

}  // namespace

Notes write_csv(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  NewFile file(path);
  file.write("Timestamp (ns),Event Type,Name,Process\n");
  MergedEvents events(reader);
  Moment moment;
  std::string line;
  while (events.next(moment)) {
    const char* type = type_of(moment);
    if (!type) continue;
    line.clear();
    append_decimals(line, moment.at, 3);
    line += ',';
    line += type;
    line += ',';
    line += cell(reader.name(moment.rank, moment.event->name));
    line += ',';
    append_number(line, moment.rank.value);
    line += '\n';
    file.write(line);
  }
  file.commit();
  return {
      "messages, sizes, communicators, call sites and marks' values have no place in this format"};
}

}  // namespace foretrace::formats
