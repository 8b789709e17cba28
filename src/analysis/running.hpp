// Running: what the ranks of a run do that is still under way, as its part file tells.
//
// A rank writes a call when it has ended; of the one that it is in, the file has the name and
// the place. Whom that call waits for follows from what all ranks have done until now: see
// docs/watch.md. Computes only.
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

struct RunningRun {
  std::vector<RunningRank> ranks;
};

// The run of one part file. Each look reads what was written since the one before.
class RunLook {
 public:
  // Throws Error where the file is no trace (yet).
  explicit RunLook(const std::string& path, const trace::TellPlace& tell = {});
  ~RunLook();
  RunLook(const RunLook&) = delete;
  RunLook& operator=(const RunLook&) = delete;

  // Throws Error where the file is there no more, or is another one.
  RunningRun take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One look. Throws Error where the file is no trace (yet).
RunningRun look_at_run(const std::string& path, const trace::TellPlace& tell = {});

}  // namespace foretrace::analysis
