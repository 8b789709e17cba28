// What commands write: by which ending, where, and that it was written.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace foretrace::cli {

// Writes a temporary file and renames it. Throws Error, also where `path` is no regular file.
void write_text_file(const std::string& path, const std::string& text);
// The same, and says so.
void write_output(const std::string& path, const std::string& text);
// "foretrace: wrote PATH", on standard error.
void tell_written(const std::string& path);

// The ending of `path` if it is one of `endings` (".html"); else throws UsageError, which
// begins with the command's name and says what it can write.
std::string ending_of(const std::string& path, const char* command,
                      const std::vector<std::string>& endings);

// Throws UsageError if a trace that is to be written has the name of something else ("x.html"), or
// would replace a file that is no trace.
void check_trace_output(const std::string& path, const char* command);

// Where the time line that a page leads to is written: "run-timeline.html" beside "run.html".
std::string timeline_beside(const std::string& page);

// Throws UsageError where the folder in which `path` is to be is missing, or may not be written.
void check_folder(const std::string& path);
// Checks that a file can be written where `path` says. Throws UsageError.
void check_writable(const std::string& path);

// Throws UsageError where writing one of `outputs` would replace a file that one of `words`, the
// values of a command's other options, names: "run.ftr", "table:costs.toml", "b.toml" by a link.
void check_inputs_stay(const std::string& command, const std::vector<std::string>& words,
                       const std::vector<std::string>& outputs);

// `path` if nothing is there, else the first of PATH-2, PATH-3, ... (before its ending). Only one
// that `suits`, if that is given.
std::string unused_name(const std::string& path,
                        const std::function<bool(const std::string&)>& suits = {});

}  // namespace foretrace::cli
