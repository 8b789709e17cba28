// Looks at a run while it is under way, from a thread of its own.
#pragma once

#include <memory>
#include <string>

namespace foretrace::cli {

class Watcher {
 public:
  // Of the run that writes `output`. Every `every` seconds (> 0), and whenever a rank is
  // stopped or goes on, says a line on standard error. With `serves` also a page,
  // whose address is said at once. Throws Error where that cannot be served.
  Watcher(const std::string& output, double every, bool serves);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::cli
