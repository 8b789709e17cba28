#include "watch/picture.hpp"

#include <sys/stat.h>

#include "base/error.hpp"
#include "base/whole_file.hpp"

namespace foretrace::watch {
namespace {

constexpr off_t kMost = off_t{64} << 20;

}  // namespace

std::string version_of_picture(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return std::to_string(status.st_ino) + "." + std::to_string(status.st_size) + "." +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

std::string read_picture(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(path + ": there is no picture yet");
  if (status.st_size > kMost) throw Error(path + ": expected a picture of at most 64 MiB");
  return read_whole_file(path, "the picture");
}

}  // namespace foretrace::watch
