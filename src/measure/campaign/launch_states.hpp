// Launches told apart by the state that the machine was in.
//
// Where the cores lie that a virtual machine got, and what else runs beside it,
// decides how long every message takes: launches in different states must not
// be pooled. Works on the facts that each launch left (fingerprint.hpp).
#pragma once

#include <string>
#include <vector>

#include "measure/core/samples.hpp"

namespace foretrace::measure {

// Launches whose cache lines bounce, or whose memory is copied, by more than
// these factors faster than another's were in another state. The bounce alone
// varies by 1.5 while all messages take as long as before.
inline constexpr double kBounceFactor = 2;
inline constexpr double kBandwidthFactor = 1.5;

struct LaunchState {
  int launch = 0;
  // The mean of before and after (geometric); 0 where it is not known.
  double bounce = 0;
  double bandwidth = 0;
  // The state changed while the launch was going on: it belongs to nobody.
  bool changed = false;
  // What else has to be the same: library, settings, clock source, binding.
  std::string surroundings;

  bool operator==(const LaunchState&) const = default;
};

// One launch's state, from the facts in its samples.
LaunchState state_of(const SampleSet& set, int launch);

bool same_state(const LaunchState& a, const LaunchState& b);

// The largest set of launches of which any two were in the same state, as far as
// they can be grouped in order: each joins the first group that takes it. Of
// two as large, the one that began first. Launch numbers, ascending.
std::vector<int> largest_group(const std::vector<LaunchState>& launches);

// "cache line 38 ns, copy 14 GB/s", for people.
std::string describe(const LaunchState& state);

// Marks the launches in the facts, launch_N_state: "used", or "left out: ..."
void mark_states(const std::vector<LaunchState>& launches, const std::vector<int>& used,
                 SampleSet& set);

}  // namespace foretrace::measure
