// NewFile: a file that is there as a whole or not at all.
//
// What is written lies in PATH.new until commit() puts it in its place. Every
// write that fails is an Error, also one that the system tells of only when the
// file is closed; what was there before stays then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/unfinished.hpp"

namespace foretrace {

class NewFile {
 public:
  // Throws Error.
  explicit NewFile(std::string path);
  // Without commit() nothing is left of it.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Throw Error ("PATH: cannot write: No space left on device").
  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;
  void flush();
  void put(std::string_view bytes);

  std::string path_;
  std::string temporary_;
  std::optional<Unfinished> unfinished_;
  int fd_ = -1;
  bool committed_ = false;
  std::string buffer_;
};

// All of a file at once. Throws Error.
void write_new_file(const std::string& path, std::string_view bytes);

}  // namespace foretrace
