#include "formats/foreign_trace.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace foretrace::formats {

namespace fs = std::filesystem;

ForeignTrace::ForeignTrace(const std::string& path, const Format& format) {
  std::string pattern = (fs::temp_directory_path() / "foretrace-").string() + std::string(6, 'X');
  if (!::mkdtemp(pattern.data()))
    throw Error(pattern + ": cannot make a folder for the trace: " + std::strerror(errno));
  folder_ = pattern;
  path_ = folder_ + "/" + fs::path(path).stem().string() + ".ftr";
  try {
    notes_ = format.read(path, path_);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

ForeignTrace::~ForeignTrace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace foretrace::formats
