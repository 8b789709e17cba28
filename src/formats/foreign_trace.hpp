// ForeignTrace: a file of another format, as a trace that lives as long as this object. So
// whatever reads traces reads other formats as well.
#pragma once

#include <string>

#include "base/scratch_folder.hpp"
#include "formats/formats.hpp"

namespace foretrace::formats {

class ForeignTrace {
 public:
  // Reads it all. The trace lies in the system's folder for temporary files. Throws Error.
  ForeignTrace(const std::string& path, const Format& format);

  const std::string& path() const { return path_; }
  // What the file does not tell; in the trace, too.
  const Notes& notes() const { return notes_; }

 private:
  ScratchFolder folder_;
  std::string path_;
  Notes notes_;
};

// format.read(), and what the file does not tell stays with the trace, under the file's name: who
// reads the trace later is to know.
Notes read_foreign(const std::string& path, const std::string& to, const Format& format);

// The format by which `path` has to be made a trace before it is read; nullptr: it is one. Throws
// Error for a file of a format that is written only.
const Format* foreign_format(const std::string& path);

}  // namespace foretrace::formats
