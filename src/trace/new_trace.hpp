// NewTrace: a trace that is made of another file. Until finish() it lies in
// PATH.part, so that what was there stays if the other file makes no sense.
#pragma once

#include <memory>
#include <string>

#include "base/unfinished.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {

class NewTrace {
 public:
  NewTrace(std::string path, const TraceInfo& info);
  ~NewTrace();
  NewTrace(const NewTrace&) = delete;
  NewTrace& operator=(const NewTrace&) = delete;

  // The stream of `rank`; that of the rank before is over. Throws Error if it
  // could not be written.
  TraceWriter& start(WorldRank rank);
  // The stream of another rank, beside all others; to be closed before finish().
  TraceWriter beside(WorldRank rank) const;
  // The stream's rank is in a call of that name at that place, which have been defined.
  void enter(NameId name, SiteId site);
  // Under its own name: sealed, or as an incomplete run leaves it.
  void finish(bool sealed);

 private:
  void check() const;

  std::string path_;
  Unfinished unfinished_;
  Clock clock_;
  RunFile file_;
  std::shared_ptr<const AppendedTrace> appended_;
  TraceWriter writer_;
  bool finished_ = false;
};

}  // namespace foretrace::trace
