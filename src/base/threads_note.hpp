// What is told of a program whose threads do what it did not ask MPI for, in all three ways.
#pragma once

#include <cstdio>
#include <string>

namespace foretrace {

// Behind "rank N".
inline constexpr const char* kUnaskedThreads =
    " calls MPI from several threads, but asked it for MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED: "
    "such calls may keep each other waiting for ever, and what the threads compute is taken for "
    "one "
    "thread's; ask for MPI_THREAD_MULTIPLE (MPI_Init_thread)";

// Of a rank whose threads had too few cores here: what they share out among each other is shared
// out otherwise where each has one.
inline std::string note_of_crowding(int rank, double seconds) {
  char line[320];
  std::snprintf(line, sizeof line,
                "rank %d: its threads waited %.3g s for cores; what they share out as they go "
                "(OpenMP's tasks and dynamic loops, pools of threads, work stealing) may come out "
                "too long: run "
                "fewer ranks or threads at a time, or on more cores",
                rank, seconds);
  return line;
}

// Behind "rank N": in a program whose threads may not call MPI at the same time.
inline constexpr const char* kUnaskedAnnouncements =
    ": threads that may not call MPI announced what they compute: that takes no time here, so it "
    "adds up with what others announce, and whether it comes before a call or after it is this "
    "machine's doing; with MPI_THREAD_SERIALIZED or more each thread has a clock of its own";

}  // namespace foretrace
