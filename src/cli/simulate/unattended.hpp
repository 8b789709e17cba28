// What a prediction leaves out of sends whose receivers compute (analysis/unattended.hpp), told.
#pragma once

#include <string>

#include "analysis/unattended.hpp"
#include "machine/path.hpp"
#include "machine/timing.hpp"
#include "sim/sink.hpp"
#include "trace/tell_place.hpp"

namespace foretrace::cli {

// Whether the model says of some path that its sends are of that kind.
bool has_attended_sends(const machine::MachineModel& model);

// The note of a predicted trace; "": none. `timing`: of the prediction.
std::string note_of_unattended(const std::string& path, const machine::Timing& timing, Time all,
                               const trace::TellPlace& tell);

// Looks at what is simulated.
class UnattendedSink final : public sim::Sink {
 public:
  // `source`: what is simulated.
  UnattendedSink(const sim::Source& source, const machine::MachineModel& model,
                 const machine::Placement& placement);
  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override;
  std::string note(Time all, const trace::TellPlace& tell) const;

 private:
  const sim::Source& source_;
  machine::Timing timing_;
  analysis::UnattendedSends sends_;
};

}  // namespace foretrace::cli
