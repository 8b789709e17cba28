// Undisturbed: as long as it lives this thread gets no signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace foretrace {

class Undisturbed {
 public:
  Undisturbed() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Undisturbed() { end(); }
  void end() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace foretrace
