// Launches, and their blocks, told apart by the state that the machine was in.
//
// Where the cores lie that a virtual machine got, and what else runs beside it,
// decides how long every message takes: what was measured in different states must not
// be pooled. Works on the facts that each launch left (fingerprint.hpp), and on what a cache line
// took beside each block.
#pragma once

#include <string>
#include <vector>

#include "base/cache_line.hpp"
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
  // Its blocks know what a cache line took beside each of them: that takes the place of `bounce`.
  bool blocks_know = false;
  // What else has to be the same: library, settings, clock source, binding.
  std::string surroundings;

  bool operator==(const LaunchState&) const = default;
};

// One launch's state, from the facts in its samples.
LaunchState state_of(const SampleSet& set, int launch);

// Seconds that a cache line takes in the state that counts: kCacheLine, or of files that do not say
// it the geometric mean over the launches that are used; 0: not known.
double cache_line_of(const SampleSet& set);

bool same_state(const LaunchState& a, const LaunchState& b);

// Launches that can be pooled. They are grouped in order: each joins the first group in
// which any two were in the same state. The largest group, of two as large the one that began
// first; but one with three launches or more and a quarter of all of them, whose cache lines were
// faster by kBounceFactor, goes before it. Measuring keeps all cores busy for minutes, which
// seems to make a hypervisor part them; short programs mostly find them near each other. Launch
// numbers, ascending.
std::vector<int> chosen_group(const std::vector<LaunchState>& launches);

// Of the times that a cache line took beside each block, the middle of the state that most blocks
// were measured in: of a factor kBounceFactor that holds most of them. A faster state by that
// factor that holds a quarter goes before it, as above. 0: none is known.
double chosen_cache_line(std::vector<double> cache_lines);

// What a model is made of.
struct StateChoice {
  std::vector<int> used;    // launches; ascending
  std::vector<int> others;  // in other states throughout: fewer than a tenth of their blocks count
  double cache_line = 0;    // seconds, of the state that counts; 0: not known
};
StateChoice choose_state(const std::vector<LaunchState>& launches,
                         const std::vector<Sample>& samples);

// "cache line 38 ns, copy 14 GB/s", for people.
std::string describe(const LaunchState& state);

// Writes it into the facts: launch_N_state is "used", "another state: ..." or "left out: ...", and
// kCacheLine.
void mark_states(const std::vector<LaunchState>& launches, const StateChoice& choice,
                 SampleSet& set);

}  // namespace foretrace::measure
