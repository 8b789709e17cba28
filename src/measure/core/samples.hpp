// Samples: what the characterisation program measured, and its CSV file.
//
// The program writes one file per launch, `measure` collects them in
// NAME.samples.csv, the fit reads them. No MPI, no statistics.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::measure {

// What is computed stands in samples behind these: the kernels of [compute], and the classes of
// [reduction]. kComputeStep is one step of Howell's thesis (section 5.2).
inline constexpr const char* kKernelPrefix = "kernel:";
inline constexpr const char* kReductionPrefix = "reduction:";
inline constexpr const char* kComputeStep = "compute_step";

// The middle of one block of repetitions.
struct Sample {
  std::string function;     // name as in machine::Function, or as above
  int ranks = 0;            // p
  std::uint64_t bytes = 0;  // d: the count given in the call, in bytes
  int launch = 0;           // which start of the program, from 1
  double seconds = 0;       // of one call; >= 0
  // False: a rank was switched out during the block. Kept in the file so that
  // the surviving share can be told; the fit looks at it only where nothing
  // else is left.
  bool kept = true;
  // Seconds that a cache line took from core to core meanwhile: the machine's state; 0: not known.
  double cache_line = 0;

  bool operator==(const Sample&) const = default;
};

struct SampleSet {
  // "# key = value" lines before the header; docs/measure.md has them all.
  std::map<std::string, std::string> info;
  std::vector<Sample> samples;
};

// Its fact of that name; empty: it has none.
std::string fact(const SampleSet& set, const std::string& key);

// launch_N_state of a launch whose samples count; and how that begins of one that was in another
// state throughout.
inline constexpr const char* kStateUsed = "used";
inline constexpr const char* kStateOther = "another state";
// The fact that says how long a cache line takes in the state of the machine that counts, in
// seconds.
inline constexpr const char* kCacheLine = "cache_line";
// Whether a launch's samples count: not those of launches in another state of
// the machine, whose launch_N_state says so.
bool is_used(const SampleSet& set, int launch);
// The samples that count, with all facts: those of launches that count, but for samples that were
// taken while the machine was in another state (kCacheLine). A function's on so many ranks that
// has no others keeps them.
SampleSet used_samples(const SampleSet& set);
// Those that were taken while the machine was in another state than the one that counts. None where
// samples do not know their state.
std::vector<Sample> other_samples(const SampleSet& set);

// Takes the samples out of the set whose functions' names begin with that; it is cut off. Without
// the facts.
SampleSet take_prefixed(SampleSet& set, std::string_view prefix);

// Reads a file; comment lines may stand anywhere. Throws Error "FILE:LINE: ...".
SampleSet read_samples(const std::string& path);
// The same from a stream; `name` stands for the file in messages.
SampleSet parse_samples(std::istream& in, const std::string& name);

void format_samples(std::ostream& out, const SampleSet& set);
// Writes a temporary file and renames it. Throws Error.
void write_samples(const SampleSet& set, const std::string& path);

}  // namespace foretrace::measure
