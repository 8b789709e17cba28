// Sink: who receives the finished events; and the sinks that make a trace.
//
// The engine hands over every operation with its times, for each rank in
// program order, between ranks in an order that means nothing. Sinks draw and
// print nothing.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/unfinished.hpp"
#include "sim/source.hpp"
#include "trace/trace.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::sim {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void finished(WorldRank rank, const Operation& operation, const Interval& interval) = 0;
};

// Fills `event` (its storage is reused) with the operation and its times, in
// the clock of the target. Names and communicators keep the source's numbers; counts get none.
void to_event(const Operation& operation, const Interval& interval, trace::Event& event);

// Forgets everything: for the result's sums alone.
class NullSink : public Sink {
 public:
  void finished(WorldRank, const Operation&, const Interval&) override {}
};

// Keeps the predicted trace in memory.
class MemorySink : public Sink {
 public:
  // `source` is the one that is simulated; `info` becomes the trace's own.
  MemorySink(const Source& source, trace::TraceInfo info);
  void finished(WorldRank rank, const Operation& operation, const Interval& interval) override;
  // The trace, with names and communicators; call once, at the end.
  trace::Trace take();

 private:
  void renumber_counts();

  const Source* source_;
  trace::Trace trace_;
  // Those that events are about; a source may forget what is not used any more.
  std::unordered_map<trace::CommId, trace::Communicator> comms_;
  std::map<trace::Counts, trace::CountsId> counts_;
};

// Streams the predicted trace into a file; has a writer for each rank, which share a descriptor.
class FileSink : public Sink {
 public:
  // Throws Error if the file cannot be made. Until finish() the trace grows in
  // PATH.part, so that a file PATH that was there stays.
  FileSink(const Source& source, const trace::TraceInfo& info, std::string path);
  ~FileSink() override;
  void finished(WorldRank rank, const Operation& operation, const Interval& interval) override;
  // For readers of the file while it grows, and of one that is left unfinished: the rank is in
  // that operation, until finished() says that it has ended.
  void began(WorldRank rank, const Operation& operation);
  // Seals the file under its own name; where the run is not `complete`, leaves it there
  // as leave_unfinished() does. Throws Error (disk full), names the file.
  void finish(bool complete = true);
  // The run did not come to its end: leaves under its own name what there is,
  // which readers take as incomplete.
  void leave_unfinished();

 private:
  struct Stream;
  trace::NameId name_number(Stream& stream, trace::NameId id);
  trace::CommId comm_number(Stream& stream, trace::CommId id);
  trace::SiteId site_number(Stream& stream, trace::SiteId id);

  const Source* source_;
  std::string path_;
  Unfinished unfinished_;
  trace::RunFile file_;
  std::vector<std::unique_ptr<Stream>> streams_;
  trace::Event event_;
  bool sealed_ = false;
};

}  // namespace foretrace::sim
