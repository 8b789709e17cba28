// TiTrace: SimGrid's time-independent traces (SMPI replay), read into memory.
//
// What `smpirun -trace-ti` writes and `smpirun -replay` reads, as of SimGrid
// 3.32: for each rank, lines of a rank, an action and its numbers, without any
// times. This is the reader; TiSource turns the actions into operations.
// docs/text-programs.md lists the actions and what their numbers mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/counts.hpp"

namespace foretrace::sim {

struct TiOptions {
  double speed = 1e9;  // flop/s of the target's processors, > 0
  // Size of an element of a derived datatype, which the traces do not tell
  // (datatype -1). Without it such a trace is refused.
  std::optional<Bytes> derived_type;
};

enum class TiKind : std::uint8_t {
  send,
  isend,
  recv,
  irecv,
  sendrecv,
  wait,
  waitall,
  waitany,
  waitsome,
  test,
  testall,
  testany,
  testsome,
  collective,
};

struct TiAction {
  // Any source or tag of a receive, in `peer` or `tag`; no partner at all.
  static constexpr std::int32_t kAny = -1;
  static constexpr std::int32_t kNobody = -2;

  TiKind kind = TiKind::send;
  machine::SendMode mode = machine::SendMode::standard;
  machine::Cost cost = machine::Cost::kCount;
  std::uint32_t line = 0;
  Time compute;             // before the action; after it for what a reduction computes
  Bytes bytes;              // message; collective: d of its equation
  Bytes received;           // sendrecv
  std::int32_t peer = 0;    // message; sendrecv: destination; wait, test: source; collective: root
  std::int32_t second = 0;  // sendrecv: source; wait, test: destination
  std::int32_t tag = 0;
  trace::CountsId counts = 0;  // collective: of TiTrace::counts, what `bytes` does not tell
};

struct TiTrace {
  struct Rank {
    std::vector<TiAction> actions;
    Time last_compute;  // after the last action
  };

  std::vector<Rank> ranks;
  std::vector<trace::Counts> counts;
  // Wildcard receives, tests or waits for any: the outcome depends on virtual time.
  bool races = false;
  // Some rank has `init`, and none has `finalize`.
  bool has_no_end = false;
};

// `path` is a list of trace files, one for each rank (or one for all), relative
// to the list's folder or to the working folder; or a trace file itself. Throws
// Error "file:line: expected X, found Y".
TiTrace read_ti(const std::string& path, const TiOptions& options);

// Actions of all ranks in one text; `file` is the name for messages.
TiTrace parse_ti(std::string_view text, const std::string& file, const TiOptions& options);

}  // namespace foretrace::sim
