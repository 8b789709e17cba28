#include "trace/new_trace.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace foretrace::trace {

NewTrace::NewTrace(std::string path, const TraceInfo& info)
    : path_(std::move(path)),
      unfinished_(path_ + ".part"),
      clock_(info.clock),
      file_(create_trace_file(path_ + ".part", info)),
      appended_(std::make_shared<const AppendedTrace>(path_ + ".part")) {}

NewTrace::~NewTrace() {
  if (finished_) return;
  writer_.close();
  std::remove((path_ + ".part").c_str());
}

void NewTrace::check() const {
  if (writer_.lost() > 0)
    throw Error(path_ + ": cannot write the trace: " + std::strerror(writer_.error()));
}

TraceWriter& NewTrace::start(WorldRank rank) {
  check();
  writer_ = TraceWriter(appended_, rank, clock_);
  return writer_;
}

TraceWriter NewTrace::beside(WorldRank rank) const {
  return TraceWriter(appended_, rank, clock_);
}

void NewTrace::enter(NameId name, SiteId site) {
  writer_.enter(name, site);
}

void NewTrace::finish(bool sealed) {
  check();
  writer_.close();
  if (sealed) {
    seal_trace_file(path_ + ".part", path_);
  } else if (std::rename((path_ + ".part").c_str(), path_.c_str()) != 0) {
    throw Error(path_ + ": cannot write the trace: " + std::strerror(errno));
  }
  finished_ = true;
}

}  // namespace foretrace::trace
