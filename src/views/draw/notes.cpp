#include "views/draw/notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/damage.hpp"
#include "views/draw/markup.hpp"

namespace foretrace::views {

std::string clock_name(trace::Clock clock) {
  switch (clock) {
    case trace::Clock::cpu:
      return "cpu";
    case trace::Clock::wall:
      return "wall";
    default:
      return "virtual";
  }
}

std::string describe_trace(const trace::TraceInfo& info) {
  std::string text = info.origin.empty() ? std::string("trace") : info.origin;
  text += ", " + clock_name(info.clock) + " clock";
  if (!info.machine.empty()) text += ", machine " + info.machine;
  if (!info.options.empty()) text += ", " + info.options;
  return text;
}

std::string program_line(const std::string& program) {
  constexpr std::size_t kMost = 300;
  std::string line = program;
  if (program.size() > kMost) {
    std::size_t end = kMost;
    while ((static_cast<unsigned char>(program[end]) & 0xc0) == 0x80) --end;  // within a character
    line = fmt::format("{} ... ({} bytes)", program.substr(0, end), program.size());
  }
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return line;
}

std::vector<std::string> trace_note_list(const trace::TraceInfo& info, bool complete,
                                         const std::vector<trace::Damage>& damage) {
  std::vector<std::string> notes;
  if (!complete)
    notes.push_back(
        "incomplete: the run did not reach its end (or still runs); this is what was written until "
        "then");
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(damage.size(), kMost); ++i)
    notes.push_back("damaged: " + trace::describe_damage(damage[i]));
  if (damage.size() > kMost)
    notes.push_back(fmt::format("damaged: and {} more such places", damage.size() - kMost));
  if (info.clock == trace::Clock::cpu)
    notes.push_back("recorded CPU times only; simulate or predict it to get times");
  for (const std::string& note : info.notes) notes.push_back(note);
  return notes;
}

std::string trace_notes(const trace::TraceInfo& info, bool complete,
                        const std::vector<trace::Damage>& damage) {
  std::string text;
  for (const std::string& note : trace_note_list(info, complete, damage))
    text += "note: " + escape_text(note) + "\n";
  return text;
}

}  // namespace foretrace::views
