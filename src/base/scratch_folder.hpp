// ScratchFolder: a folder of our own among the system's temporary files, which goes with us.
#pragma once

#include <optional>
#include <string>

#include "base/unfinished.hpp"

namespace foretrace {

class ScratchFolder {
 public:
  // `use`: what it is for, as "the trace". Throws Error.
  explicit ScratchFolder(const std::string& use);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  std::optional<Unfinished> unfinished_;
};

}  // namespace foretrace
