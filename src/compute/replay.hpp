// ReplayRule: a rank's computation takes what it took in an earlier run of the
// same program, so that runs which measure nothing are the same every time.
//
// The rank must make the same calls as then. Calls that look for something and
// find nothing (MPI_Test, MPI_Iprobe) do not count, nor how often a local call is
// repeated: what was computed before them goes to the next call that does.
#pragma once

#include <memory>
#include <string>

#include "compute/rule.hpp"
#include "machine/look_row.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::compute {

class ReplayRule : public Rule {
 public:
  // Throws Error where the trace has no such rank.
  ReplayRule(std::shared_ptr<trace::TraceReader> trace, WorldRank rank);
  Time before(const Interval& interval) override;
  void looked(bool found) override;

 private:
  void advance();
  [[noreturn]] void mismatch(const std::string& calls) const;

  std::shared_ptr<trace::TraceReader> trace_;
  WorldRank rank_;
  // The trace's next event that counts, with what was computed before it.
  trace::Event event_;
  std::string name_;
  Time compute_;
  machine::LookRow row_;
  Time idle_;  // what was computed between looks of the row that may be idle
  bool at_end_ = false;
  std::uint64_t number_ = 0;  // of the event, from 1
  std::string repeated_;      // the local call that may go on
  std::uint32_t left_ = 0;    // how often it went on then
  bool looking_ = false;      // for the event at hand
};

}  // namespace foretrace::compute
