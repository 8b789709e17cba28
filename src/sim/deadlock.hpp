// Deadlock: why the ranks that are blocked will never go on.
//
// The engine describes each blocked rank; this part tells a deadlock of the
// program from a trace that was cut off, finds the circle and words the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace foretrace::sim {

struct BlockedRank {
  WorldRank rank;
  std::uint64_t event = 0;           // the rank's n-th event, from 1
  std::string call;                  // "MPI_Recv from rank 2, tag 7"
  std::vector<WorldRank> waits_for;  // for all of them
  // It is held up by a send that a library with more buffer would let pass.
  bool needs_buffer = false;
};

// A rank whose operations end without finalize.
struct EndedRank {
  WorldRank rank;
  std::uint64_t events = 0;
  std::string reason;  // may be empty
};

// The program cannot end on the target. what() is one line with the circle.
class Deadlock : public Error {
 public:
  Deadlock(const std::string& what, std::vector<BlockedRank> blocked,
           std::vector<WorldRank> circle);
  // Every blocked rank, by rank.
  const std::vector<BlockedRank>& blocked() const { return blocked_; }
  // Each waits for the next, the last for the first; empty if the ranks wait
  // for one that has finalized.
  const std::vector<WorldRank>& circle() const { return circle_; }
  // One line per blocked rank, for the first 64.
  std::string report() const;

 private:
  std::vector<BlockedRank> blocked_;
  std::vector<WorldRank> circle_;
};

// Throws Deadlock unless all that `blocked` wait for leads to `ended` ranks;
// then returns one note per ended rank. Both by rank. `threshold`: the target's
// S in bytes, if it has one.
std::vector<std::string> diagnose(int ranks, std::vector<BlockedRank> blocked,
                                  const std::vector<EndedRank>& ended,
                                  std::optional<std::uint64_t> threshold);

}  // namespace foretrace::sim
