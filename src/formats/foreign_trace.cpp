#include "formats/foreign_trace.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.hpp"
#include "trace/encoding.hpp"
#include "trace/told.hpp"

namespace foretrace::formats {

namespace fs = std::filesystem;

ForeignTrace::ForeignTrace(const std::string& path, const Format& format)
    : folder_("the trace"),
      path_(folder_.file(fs::path(path).stem().string() + ".ftr")),
      notes_(read_foreign(path, path_, format)) {}

Notes read_foreign(const std::string& path, const std::string& to, const Format& format) {
  Notes notes = format.read(path, to);
  Notes named;
  for (const std::string& note : notes)
    named.push_back(fs::path(path).filename().string() + ": " + note);
  trace::keep_notes(to, named);
  return notes;
}

const Format* foreign_format(const std::string& path) {
  const Format* format = format_of(path);
  if (!format || std::string_view(format->name) == "trace") return nullptr;
  if (format->read) return format;
  // A trace may have any name.
  std::string start(sizeof trace::kFileMagic, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!file || std::memcmp(start.data(), trace::kFileMagic, start.size()) == 0) return nullptr;
  throw Error(path + ": ends as files of the format " + format->name +
              " do, which foretrace writes but does not read; give it the trace (.ftr) that the "
              "file was made of");
}

}  // namespace foretrace::formats
