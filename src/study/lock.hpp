// Locks between processes: one study a database, one run an output, and no other run beside a
// measurement.
//
// flock(2), so that they end with the process however it ends. A lock's file may be removed by
// who holds it: who gets it next looks whether it is still the one at its path.
#pragma once

#include <string>

namespace foretrace::study {

// A file that is locked as long as this lives.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Waits for it. Throws Error where the file cannot be made.
  static FileLock wait_for(const std::string& path, bool alone);
  // Waits at most so many seconds; holds() tells.
  static FileLock try_for(const std::string& path, double seconds = 0);
  bool holds() const { return fd_ >= 0; }
  void release();
  // Releases it, and leaves no file.
  void remove();

 private:
  FileLock(int fd, const std::string& path) : fd_(fd), path_(path) {}
  bool is_at_its_path() const;

  int fd_ = -1;
  std::string path_;
};

// A place on this host's processors: alone for a measurement, shared for what runs in virtual
// time. Whoever wants to be alone keeps later ones out until it is its turn.
class HostPlace {
 public:
  explicit HostPlace(bool alone);

 private:
  FileLock place_;
};

}  // namespace foretrace::study
