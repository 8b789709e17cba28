// MappedFile: the text of a file, without copying it where that can be had.
//
// For parsers that look at each character once. It knows nothing of what the
// text says; trace files have a reader of their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrace::sim {

class MappedFile {
 public:
  // Throws Error with the system's reason. A pipe is read to its end.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const {
    return mapped_ ? std::string_view(static_cast<const char*>(mapped_), size_)
                   : std::string_view(copy_);
  }

 private:
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string copy_;
};

}  // namespace foretrace::sim
