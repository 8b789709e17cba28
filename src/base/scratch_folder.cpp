#include "base/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace foretrace {
namespace {

std::string make_folder(const std::string& use) {
  // What mkdtemp() fills in.
  const std::string unique(6, 'X');
  std::string path = (std::filesystem::temp_directory_path() / ("foretrace-" + unique)).string();
  if (!::mkdtemp(path.data()))
    throw Error(path + ": cannot make a folder for " + use + ": " + std::strerror(errno));
  return path;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& use)
    : path_(make_folder(use)), unfinished_(path_) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace foretrace
