// Thresholds: the message sizes at which the MPI library does something else,
// found to the byte.
//
// Two are probed by what a send means, without looking at times; jumps of the
// time are bisected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/core/bisection.hpp"
#include "measure/core/samples.hpp"
#include "measure/experiments/plan.hpp"
#include "measure/experiments/runner.hpp"

namespace foretrace::measure {

struct Thresholds {
  // First size whose standard send waits for its receive while the receiver is
  // inside MPI.
  std::optional<std::int64_t> sync;
  // Last size whose send completes although the receiver is outside MPI and has
  // posted nothing.
  std::optional<std::int64_t> local;
  bool out_of_time = false;  // the machine was so busy that some answer is missing
};

// Collective over `pair`; valid on its rank 0. Sizes up to `max_bytes`. `yields`:
// waits_by_yielding().
Thresholds find_thresholds(const Group& pair, std::int64_t max_bytes, const CommonClock& clock,
                           bool yields);

// By function; only those of which something was found.
using Jumps = std::map<std::string, FoundJumps>;

struct JumpSearch {
  std::int64_t max_bytes = 0;
  double seconds = 0;                 // what the search may take
  std::set<std::uint64_t> suspected;  // tried first: last sizes before a threshold
};

// Jumps of more than 5 %. For send, recv, pingpong between the pair, bcast and allreduce among all.
// Collective over the world; `samples` (the first pass) and the result are rank
// 0's.
Jumps find_jumps(const Plan& plan, const Group& world, const RunnerSettings& settings,
                 Buffers& buffers, const std::vector<Sample>& samples, const JumpSearch& search);

}  // namespace foretrace::measure
