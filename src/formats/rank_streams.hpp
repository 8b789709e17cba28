// RankStreams: all ranks' events at once, for formats whose files go by time and not by rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/rank_events.hpp"
#include "trace/new_trace.hpp"

namespace foretrace::formats {

class RankStreams {
 public:
  // `comms`: the first is the world's; empty: there is no other. Throws Error, also where the
  // process may not have as many files open.
  RankStreams(const std::string& to, const trace::TraceInfo& info, Missing& missing,
              std::vector<trace::Communicator> comms = {});

  RankEvents& rank(int rank) { return *events_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return static_cast<int>(events_.size()); }
  const std::vector<trace::Communicator>& comms() const { return comms_; }
  // All streams are over. Not `whole`: the trace says that it is incomplete.
  void finish(Time at, bool whole = true);

 private:
  std::string path_;
  std::vector<trace::Communicator> comms_;
  trace::NewTrace to_;
  std::vector<trace::TraceWriter> writers_;
  std::vector<std::unique_ptr<RankEvents>> events_;
};

}  // namespace foretrace::formats
