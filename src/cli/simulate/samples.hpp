// The run time as a distribution: --samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/time.hpp"
#include "cli/simulate/progress.hpp"

namespace foretrace::cli {

class Simulation;

// Of the run times on models drawn within the machine model's errors (machine/draw.hpp), in
// launches drawn from those of its measurement, off by what the network is off by in the
// machine's patterns, of a run that differs from the recordings as they differ from each other.
struct Samples {
  int count = 0;
  int recordings = 0;
  std::uint64_t seed = 0;
  Time low;  // 5 % are below
  Time median;
  Time high;  // 5 % are above
};

// Simulates `count` >= 2 times the recordings of one program, of which there is one at least; they
// differ in nothing but their input. The plain prediction is another matter. Same seed, same times.
Samples draw_samples(std::span<Simulation* const> recordings, int count, std::uint64_t seed,
                     const CountDone& progress = {});

// One line.
std::string text_of(const Samples& samples);
// A report in JSON with "samples" added.
std::string with_samples(const std::string& report, const Samples& samples);

}  // namespace foretrace::cli
