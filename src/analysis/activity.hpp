// ActivityGrid: what each group of ranks mostly did in each interval of time.
//
// The coarse picture behind the text time line. Within a call the waiting
// comes first, then the call's own work.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/marks.hpp"
#include "analysis/run_events.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

// In the order that decides between activities of equal time: the first wins.
enum class Activity : std::uint8_t {
  none,  // before the first event or after the last
  compute,
  wait,
  send,
  recv,
  sendrecv,
  post,      // isend, irecv, icollective
  complete,  // MPI_Wait and its kin
  barrier,
  collective,
  other,
  kCount
};

// What `event` does besides waiting.
Activity activity_of(const trace::Event& event);

struct ActivityGrid {
  int columns = 0;                          // > 0
  int ranks_per_row = 1;                    // neighbouring ranks folded into one row
  Time end;                                 // columns divide [0, end)
  std::vector<std::vector<Activity>> rows;  // [row][column]: the activity with the most time
  std::vector<Activity> all;                // [column]: over all ranks that are in the program
  std::vector<bool> marked;                 // [column]: whether any rank passed a mark there
  std::vector<MarkProfile> marks;
};

// At most `max_rows` >= 1 rows of `columns` >= 1 columns. Reads the run twice: to its end, which
// divides the columns, and for what lies in them. Of a measured run (clock wall) waits are what
// WaitFinder tells, of others what the events do.
ActivityGrid activity_grid(RunEvents& run, int columns, int max_rows);

}  // namespace foretrace::analysis
