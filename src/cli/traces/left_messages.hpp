// Messages that nobody has received when a run is over: what a correct program does not leave
// (MPI 3.1, 8.7). Told in one way, whoever has found them: the engine, or the trace of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/messages.hpp"
#include "sim/engine.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {

// On standard error; nothing where there are none. `most`: those that are named.
void tell_left_messages(const std::vector<sim::LeftMessage>& most, std::uint64_t count);

// Whether a trace has as many ends of messages as beginnings, by the way of reading it.
class MessageBalance {
 public:
  void add(const formats::Message& message) {
    sum_ += message.sent ? message.number : -message.number;
    ends_ += message.sent ? 1 : -1;
  }
  bool is_even() const { return sum_ == 0 && ends_ == 0; }

 private:
  std::uint64_t sum_ = 0;  // wraps around
  std::int64_t ends_ = 0;
};

// Reads a trace once more, and tells what was left when all ranks had finalized. Nothing where that
// is not known: of a run that did not come to its end, that cancelled requests or sent to processes
// that are not followed, of other tools' traces; and of ranks that left receives open.
void tell_left_messages(trace::TraceReader& reader);

}  // namespace foretrace::cli
