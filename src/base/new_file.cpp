#include "base/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/file_size_signal.hpp"

namespace foretrace {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;

}  // namespace

NewFile::NewFile(std::string path)
    : path_(std::move(path)), temporary_(path_ + ".new"), unfinished_(std::in_place, temporary_) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
}

NewFile::~NewFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!committed_) std::remove(temporary_.c_str());
}

void NewFile::fail() const {
  throw Error(path_ + ": cannot write: " + std::strerror(errno));
}

void NewFile::put(std::string_view bytes) {
  const NoFileSizeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void NewFile::flush() {
  put(buffer_);
  buffer_.clear();
}

void NewFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() > kBuffer) return put(bytes);
  buffer_ += bytes;
}

// close() is where file systems of other hosts tell what they could not write.
void NewFile::commit() {
  flush();
  if (::close(std::exchange(fd_, -1)) != 0) fail();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
  unfinished_.reset();
}

void write_new_file(const std::string& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace foretrace
