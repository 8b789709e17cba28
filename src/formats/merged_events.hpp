// MergedEvents: the events of all ranks in the order of time, one in memory for each rank.
#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

#include "trace/event.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::formats {

// An event begins, and later ends: two moments of its rank.
struct Moment {
  WorldRank rank;
  Time at;
  bool begins = true;  // the event's enter; else its leave
  const trace::Event* event = nullptr;
};

class MergedEvents {
 public:
  explicit MergedEvents(trace::TraceReader& reader);
  // False: there are no more. Moments of one rank come in its order; of several ranks at one
  // time, by rank.
  bool next(Moment& moment);

 private:
  struct Cursor {
    trace::Event event;
    bool begins = true;
    Time last;
  };
  struct Later {
    bool operator()(const std::pair<Time, int>& a, const std::pair<Time, int>& b) const {
      return b < a;
    }
  };
  void push(int rank);

  trace::TraceReader& reader_;
  std::vector<Cursor> cursors_;
  std::priority_queue<std::pair<Time, int>, std::vector<std::pair<Time, int>>, Later> queue_;
  int current_ = -1;  // handed out last
};

// The latest time of a trace; its streams are at their beginnings afterwards.
Time last_time(trace::TraceReader& reader);

}  // namespace foretrace::formats
