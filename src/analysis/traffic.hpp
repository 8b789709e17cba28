// Traffic: who sent whom how much, and how long calls and computations last: what the report's
// page draws beside the profile. Computes only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

struct TrafficPair {
  WorldRank from;
  WorldRank to;
  std::uint64_t messages = 0;  // point-to-point, sent
  Bytes bytes;
};

// Durations by powers of two: bin 0 holds what is shorter than 2 ns, bin k what lasts from
// 2^k ns to less than 2^(k+1) ns, the last everything longer. What takes no time at all is left
// out.
struct Durations {
  static constexpr std::size_t kBins = 48;
  std::string state;  // COMPUTE, or the function
  std::uint64_t count = 0;
  Time time;
  std::array<std::uint64_t, kBins> bins{};
};

struct Traffic {
  std::vector<TrafficPair> pairs;    // by sender, then receiver
  std::vector<Durations> durations;  // the state with the most time first
};

Traffic traffic_of(const trace::Trace& trace);

}  // namespace foretrace::analysis
