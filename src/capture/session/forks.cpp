#include "capture/session/forks.hpp"

#include <pthread.h>

#include "capture/profile/profiler.hpp"
#include "capture/session/session.hpp"

namespace foretrace::capture {

// Not run by vfork(), whose child shares the parent's memory and has to leave it alone.
void let_children_go() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    session.leave_to_parent();
    profiler.leave_to_parent();
  });
  static_cast<void>(registered);
}

}  // namespace foretrace::capture
