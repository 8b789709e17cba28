#include "imported/input.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.hpp"

namespace foretrace::imported {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 26;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

std::string read_input(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(path + ": is a folder; name the files in it");
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) throw Error(path + ": cannot open: " + std::strerror(errno ? errno : ENOMEM));
  std::string text;
  char buffer[65536];
  int got = 0;
  while ((got = gzread(file.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) throw Error(path + ": has more than 64 MiB of text");
  }
  // What was cut off ends without an error of gzread.
  int code = Z_OK;
  const char* const message = gzerror(file.get(), &code);
  if (got < 0 || code != Z_OK)
    throw Error(
        path + ": cannot read: " + (code == Z_ERRNO ? std::strerror(errno) : std::string(message)));
  return text;
}

void refuse_repeated(const std::vector<InputFile>& files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (files[i].text == files[k].text)
        throw Error(files[i].name + ": holds the same as " + files[k].name +
                    "; give each measurement once");
}

}  // namespace foretrace::imported
