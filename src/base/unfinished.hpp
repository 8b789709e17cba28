// Unfinished: files and folders that are not to outlive a command that is interrupted.
//
// Whoever makes one says so while it is being made. Only the command line installs a handler that
// removes them; inside of programs (the capture library) nothing does.
#pragma once

#include <cstddef>
#include <string>

namespace foretrace {

class Unfinished {
 public:
  // A path that is too long, or one too many, is not kept.
  explicit Unfinished(const std::string& path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::size_t slot_;
};

// All that are there now. May be called by a signal handler.
void remove_unfinished() noexcept;

}  // namespace foretrace
