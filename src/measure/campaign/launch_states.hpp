// Launches told apart by the state that the machine was in.
//
// Where the cores lie that a virtual machine got, and what else runs beside it,
// decides how long every message takes: launches in different states must not
// be pooled. Works on the facts that each launch left (fingerprint.hpp).
#pragma once

#include <string>
#include <vector>

#include "measure/core/cache_line.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// Launches whose memory is copied by more than this factor faster than another's were in
// another state; or whose cache lines bounce faster by kBounceFactor.
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

// Seconds that a cache line took in the launches that are used (`kStateUsed`), the geometric mean;
// 0: not known.
double cache_line_of(const SampleSet& set);

bool same_state(const LaunchState& a, const LaunchState& b);

// The launches that a model is made of. They are grouped in order: each joins the first group in
// which any two were in the same state. The largest group, of two as large the one that began
// first; but one with three launches or more and a quarter of all of them, whose cache lines were
// faster by kBounceFactor, goes before it. Measuring keeps all cores busy for minutes, which
// seems to make a hypervisor part them; short programs mostly find them near each other. Launch
// numbers, ascending.
std::vector<int> chosen_group(const std::vector<LaunchState>& launches);

// "cache line 38 ns, copy 14 GB/s", for people.
std::string describe(const LaunchState& state);

// Marks the launches in the facts, launch_N_state: "used", or "left out: ...", and says how long a
// cache line took in those that are used (kCacheLine).
void mark_states(const std::vector<LaunchState>& launches, const std::vector<int>& used,
                 SampleSet& set);

}  // namespace foretrace::measure
