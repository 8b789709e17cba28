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

// Runs it with what it prints going to files in `folder`. After `timeout` seconds it is killed
// with all that it started. Throws Error if it cannot be started, or where its output does not fit.
ChildResult run_child(const std::vector<std::string>& command, const std::string& folder,
                      double timeout);

}  // namespace foretrace::study
