// A command that a study runs: what it printed, how it ended, how long it took.
//
// The child dies with us, and has none of the variables by which a launcher that started us would
// speak to it. Private to src/study.
#pragma once

#include <string>
#include <vector>

namespace foretrace::study {

struct ChildResult {
  int status = 0;  // exit status; 128 + N: killed by signal N
  bool timed_out = false;
  std::string out, err;
  double seconds = 0;
};

// Who is asked to end (SIGTERM). Our own commands end what they started; launchers take a second
// signal for an order to leave everything behind.
enum class Asked { leader, group };

// Runs it with what it prints going to files in `folder`. After `timeout` seconds it is asked to
// end, and then killed with all that it started. Throws Error if it cannot be started, or where its
// output does not fit.
ChildResult run_child(const std::vector<std::string>& command, const std::string& folder,
                      double timeout, Asked asked);

// For a signal's handler, before the signal ends us: asks all children to end, and waits a moment
// for them. What they started dies with them, and nothing comes of their end: run_child() does not
// return any more.
void end_children();

}  // namespace foretrace::study
