// The characterisation program's own command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::measure {

// A launch in which nothing goes on any more leaves an empty file, its output's name with this
// behind it. (What status a launcher ends with then is up to the launcher.)
inline constexpr const char* kStandstillMark = ".standstill";

// How much is measured; --quick and --thorough are presets of it.
struct Effort {
  int per_octave = 3;  // message sizes between a power of two and the next
  int rounds = 3;      // passes over everything, in random order
  int blocks = 5;      // per pass and point
  // What a launch may take, in seconds. It bends by half, so that everything is
  // measured once on a busy machine.
  double seconds = 15;
};

struct ProgramOptions {
  std::string output;
  int launch = 1;
  std::uint64_t seed = 1;
  std::uint64_t max_bytes = 4 << 20;
  bool max_bytes_given = false;  // no: less where the network is slow
  // Of the main functions and the collectives, powers of two up to here, once: beyond the caches
  // a byte takes longer. 0: none; less where they take long.
  std::uint64_t long_bytes = 32 << 20;
  // affordable_bytes(), from an earlier launch; not set: find out.
  std::optional<std::uint64_t> affordable;
  std::string progress;  // a file that is there and is to tell the share done; empty: none
  bool start_by_barrier = false;
  bool cold = false;  // buffers
  // Last sizes before a threshold, from earlier launches; not set: search.
  std::optional<std::vector<std::uint64_t>> thresholds;
  bool search = false;           // for more, although some are given
  bool only_thresholds = false;  // no samples, only the probed thresholds
  bool need_cores = false;       // more ranks than cores: say so in the file, measure nothing
  Effort effort;
};

// Throws UsageError.
ProgramOptions parse_program_options(const std::vector<std::string>& arguments);

// Sizes from 1 to `max_bytes`, both included, spaced evenly in the logarithm
// with `per_octave` (1 to 4) steps to a doubling; with 1 every other one is
// still no power of two, because libraries treat those specially. Ascending.
std::vector<std::uint64_t> message_sizes(std::uint64_t max_bytes, int per_octave);
// The powers of two from 2 below `ranks`, and `ranks` (>= 2); with `others` 3, 6,
// 12, ... as well, since libraries treat numbers between the powers differently. Ascending.
std::vector<int> rank_counts(int ranks, bool others);

}  // namespace foretrace::measure
