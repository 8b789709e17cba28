// RunEvents: the events of a run, rank by rank: of a trace in memory, or of a file, which need not
// fit into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"
#include "trace/whole_reader.hpp"

namespace foretrace::analysis {

class RunEvents {
 public:
  // The trace must live as long.
  RunEvents(const trace::Trace& trace) : trace_(&trace) {}
  // Throws Error as TraceReader does.
  explicit RunEvents(const std::string& path) : reader_(path) {}

  const trace::TraceInfo& info() const { return trace_ ? trace_->info : reader_->file().info(); }
  bool sealed() const { return trace_ ? trace_->sealed : reader_->file().sealed(); }
  int ranks() const;
  // Event::name and Event::site - 1, as far as events were read, in order of first use.
  const std::vector<std::string>& names() const {
    return trace_ ? trace_->names : reader_->names();
  }
  const std::vector<trace::Site>& sites() const {
    return trace_ ? trace_->sites : reader_->sites();
  }
  // What of the file is damaged, as far as events were read.
  const std::vector<trace::Damage>& damage() const {
    return trace_ ? trace_->damage : reader_->file().damage();
  }

  // next() gives the rank's events from the first one on.
  void begin(WorldRank rank);
  // nullptr after the last. Valid until the next call.
  const trace::Event* next();
  // That of the event at hand; nullptr: it has none.
  const trace::Communicator* comm(const trace::Event& event) const;

 private:
  const trace::Trace* trace_ = nullptr;
  std::optional<trace::WholeReader> reader_;
  WorldRank rank_;
  std::size_t next_ = 0;  // of the trace's
  trace::Event event_;    // of the file's
};

}  // namespace foretrace::analysis
