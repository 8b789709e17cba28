// Whether a signal that we got went to all of our process group, as from a terminal, `kill -INT
// -PGID` or timeout(1), and so to the program that we wait for as well. The kernel does not say it
// of a signal; a process of our own, which stands in the group and which nobody else signals, sees
// it. What is then done with the signal is process.cpp's.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace foretrace::cli {

class GroupWitness {
 public:
  // Starts the process, which sees these signals as long as this lives. Where it cannot be started
  // (too many processes) none is ever seen.
  explicit GroupWitness(sigset_t signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether all of the group has just got the signal. For its handler, on any thread; looks for
  // 0.25 s until it says no, and longer where processes wait for cores.
  static bool has_seen(int signal);

 private:
  pid_t process_ = -1;
};

}  // namespace foretrace::cli
