// Running: what the ranks of a run do that is still under way, as its part file tells.
//
// A rank writes a call when it has ended; of the one that it is in, the file has the name and
// the place. Whom that call waits for follows from what all ranks have done until now: see
// docs/watch.md. The part file is a trace (running.cpp) or a profile's counters
// (running_profile.cpp). Computes only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/tell_place.hpp"

namespace foretrace::analysis {

enum class Doing { absent, computing, calling, ended };

struct SentTo {
  WorldRank from;
  std::uint64_t messages = 0;  // that were sent and not received
};

struct RunningRank {
  WorldRank rank;
  Doing doing = Doing::absent;  // absent: has not begun, as far as the file knows
  std::string call;             // calling: the function
  std::string place;            // and where it stands; empty: not known
  std::string phase;            // the innermost one; empty: in none
  std::uint64_t calls = 0;      // ended
  std::uint64_t sent = 0;       // messages
  Bytes sent_bytes;
  Time last;                         // when its last call ended; the trace's clock
  std::vector<WorldRank> waits_for;  // ascending; calling only
  bool guessed = false;              // waits_for is concluded from the calls at this place before
  std::vector<SentTo> unread;        // by sender
};

// Messages from one rank to another.
struct RunningMessages {
  WorldRank from;
  WorldRank to;
  std::uint64_t messages = 0;
  Bytes bytes;
};

// A function's calls that have ended, of all ranks.
struct RunningFunction {
  std::string name;
  std::uint64_t calls = 0;
  Time time;
};

struct RunningRun {
  std::vector<RunningRank> ranks;
  std::vector<RunningMessages> messages;    // sent since the look before; by sender and receiver
  std::vector<RunningFunction> functions;   // by time, the longest first
  Time compute;                             // outside of calls, of all ranks
  trace::Clock clock = trace::Clock::wall;  // of the times
};

// The run of one part file.
class RunLook {
 public:
  virtual ~RunLook() = default;
  // Throws Error where the file is there no more, or is another one.
  virtual RunningRun take() = 0;
};

// Throws Error where the file is neither trace nor profile (yet). Each look at a trace reads what
// was written since the one before.
std::unique_ptr<RunLook> open_run(const std::string& path, const trace::TellPlace& tell = {});

// One look. Throws Error where the file is neither (yet).
RunningRun look_at_run(const std::string& path, const trace::TellPlace& tell = {});

}  // namespace foretrace::analysis
