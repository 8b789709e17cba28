// What whoever predicted a trace's times said of them, as what takes no time: a line each.
//
// In the file a list of its own beside the options (docs/trace-format.md). In memory the lines of
// TraceInfo::options after the first, so that they go wherever the options go.
#pragma once

#include <string>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::trace {

inline std::string options_of(const TraceInfo& info) {
  return info.options.substr(0, info.options.find('\n'));
}

inline std::vector<std::string> notes_of(const TraceInfo& info) {
  std::vector<std::string> notes;
  for (std::size_t end = info.options.find('\n'); end != std::string::npos;) {
    const std::size_t begin = end + 1;
    end = info.options.find('\n', begin);
    notes.push_back(info.options.substr(begin, end - begin));
  }
  return notes;
}

inline void set_notes(TraceInfo& info, const std::vector<std::string>& notes) {
  info.options = options_of(info);
  for (const std::string& note : notes) info.options += '\n' + note;
}

// Adds them to a trace of predicted times that was just written. Its events stay where they are:
// for notes there is room, and of more than that the first ones are kept and the rest is counted.
// Throws Error.
void keep_notes(const std::string& path, const std::vector<std::string>& notes);

}  // namespace foretrace::trace
