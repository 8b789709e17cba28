// What is told of a rank that waited by other means than MPI: no prediction knows how long it will.
#pragma once

#include <cstdio>
#include <string>

#include "base/time.hpp"

namespace foretrace {

// Whether a rank waited so long that it is to be told: a twentieth of its time, and no moment.
inline bool is_wait_told(Time waited, Time all) {
  constexpr Time kLeast = Time::ns(10'000'000);
  return waited >= kLeast && waited.seconds() >= 0.05 * all.seconds();
}

// Of a rank that waited by other means than MPI and sleep: what is in the prediction, and what not.
inline std::string note_of_counted_waits(int rank, double seconds) {
  char line[200];
  std::snprintf(
      line, sizeof line,
      "rank %d waited %.3g s for files, other processes or the like: that is part of what "
      "is measured, and takes no time with --waits none",
      rank, seconds);
  return line;
}

// `taken`: what of it is in the prediction.
inline std::string note_of_waits(int rank, double seconds, const char* taken) {
  char line[200];
  std::snprintf(
      line, sizeof line,
      "rank %d waited %.3g s (real time) for something else than MPI: files, other threads "
      "or processes; predictions take %s",
      rank, seconds, taken);
  return line;
}
// `compute`: the way that takes no time for sleep, as --compute has it.
inline std::string note_of_sleep(int rank, double seconds, const std::string& compute) {
  char line[100];
  std::snprintf(line, sizeof line, "rank %d slept for %.3g s, which takes no time with --compute ",
                rank, seconds);
  return line + compute;
}
inline constexpr const char* kNoTimeForWaits = "no time for that";
inline constexpr const char* kThreadsTimeForWaits = "the time of those threads alone that call MPI";

}  // namespace foretrace
