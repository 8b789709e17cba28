// Families of experiments: what is measured together, on which ranks and for
// which sizes. A new family is a row of the table in families.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {

// Who takes part.
enum class Scope {
  pair,   // the first and the last rank of the world
  counts  // the first p ranks, for p = 2, 4, 8, ... and all
};

// For which sizes.
enum class Sizes {
  none,  // once, with 0 bytes
  all,   // the whole grid, 0, and both sides of every threshold
  // The whole grid and both sides of every threshold, above 4 bytes in whole
  // doubles: reductions need them, and all collectives get the same sizes.
  doubles,
  // Those whose data SentData follows and a cache holds: one to each doubling, or to each factor of
  // four where the grid has one to a doubling.
  followed,
  // As `doubles`, but one size for every factor of four, or of 16 where the grid has
  // one to a doubling: secondary functions.
  few,
  // From 64 bytes to 256 KiB, so that they can be cut up; as many as `followed`.
  pieces,
  blocks,  // as `few`, in whole doubles for each rank
  files    // five, from 8 bytes to 4 MiB
};

struct Family {
  std::string name;
  // Visited in every pass, long messages excepted; the others once in a launch, and not at all
  // where the figures are worth nothing.
  bool main;
  Scope scope;
  Sizes sizes;
  // What a rank's buffer holds: `bytes`, or `bytes` for each rank.
  bool parts;
  std::function<std::vector<Experiment>(const Group& group, std::uint64_t bytes, Buffers& buffers)>
      experiments;
  std::uint64_t most_bytes = UINT64_MAX;  // the largest size
  bool windows = false;                   // needs them
  bool long_ones = false;                 // also measured up to PlanSizes::long_bytes
  bool untouched = false;                 // also within a node, with data that is left untouched
};

// Of longer data a cache keeps nothing that another rank could use.
inline constexpr std::uint64_t kMostCached = 4 << 20;

// What some functions need; they are left out where it is missing.
struct Facilities {
  std::string scratch_file;  // what the file functions are measured on; empty: there is none
  bool windows = true;       // has_windows()
  bool hosts = false;        // several of them: what messages of theirs meet on is a main matter
};
std::vector<Family> families(const Facilities& facilities);

}  // namespace foretrace::measure
