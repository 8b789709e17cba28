// Locks between the processes of studies: one study a database, and no other run beside a
// measurement.
//
// flock(2), so that they end with the process however it ends. Private to src/study.
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
  // Does not wait; holds() tells.
  static FileLock try_for(const std::string& path);
  bool holds() const { return fd_ >= 0; }
  void release();

 private:
  int fd_ = -1;
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
