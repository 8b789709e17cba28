#include "base/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/undisturbed.hpp"

namespace foretrace {

// Its name is known only when it is there.
ScratchFolder::ScratchFolder(const std::string& use) {
  const Undisturbed undisturbed;
  path_ = (std::filesystem::temp_directory_path() / ("foretrace-" + std::string(6, 'X'))).string();
  if (!::mkdtemp(path_.data()))
    throw Error(path_ + ": cannot make a folder for " + use + ": " + std::strerror(errno));
  unfinished_.emplace(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace foretrace
