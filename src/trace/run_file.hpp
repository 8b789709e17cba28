// RunFile: a file that the processes of one run write together while it goes on.
//
// It is made anew and never emptied, so that whoever still maps an older one of that
// name keeps what it maps. As long as this object lives, in one of the run's processes,
// other runs that want the name are told that it is in use.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::trace {

class RunFile {
 public:
  RunFile() = default;
  // Makes the file, which begins with `start`; what an earlier run left goes. Throws
  // Error where it cannot be written ("PATH: cannot create the WHAT: ..."), or another
  // run is writing it.
  RunFile(const std::string& path, std::string_view start, const char* what);
  ~RunFile() { let_go(); }
  RunFile(RunFile&& other) noexcept;
  RunFile& operator=(RunFile&& other) noexcept;

  // Other runs may have the name. In a copy of the process (fork) that says nothing
  // for the other one.
  void let_go() noexcept;
  // Removes the file, if this object has made it, which is `path`.
  void remove(const std::string& path) noexcept;

 private:
  int fd_ = -1;
};

// Removes what an earlier run left under that name. Throws Error where a run is
// writing it.
void remove_left_over(const std::string& path);

// Whether a run is writing it, as far as this host knows: file systems without locks tell nothing
// (true), others may not tell what other hosts hold (false).
bool is_written_here(const std::string& path);

}  // namespace foretrace::trace
