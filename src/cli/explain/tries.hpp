// What findings share that are found by trying: simulating the run with something changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "explain/explanation.hpp"

namespace foretrace::cli {

// A change that brings less is none: of the run time.
inline constexpr double kLeastTriedGain = 1e-3;

// How many simulations of a run one kind of change is worth: of 2 million calls in all.
inline std::uint64_t tries_of(const explain::Explanation& explanation) {
  return 2'000'000 / std::max<std::uint64_t>(explanation.calls, 1);
}

// Of what is told of a changed run, what was not told of the run as it is: `known`.
inline std::vector<std::string> new_notes(std::vector<std::string> notes,
                                          const std::vector<std::string>& known) {
  std::erase_if(notes, [&](const std::string& note) {
    return std::ranges::find(known, note) != known.end();
  });
  return notes;
}

}  // namespace foretrace::cli
