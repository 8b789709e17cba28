// Traffic: synthetic packets on a fabric, and what they suffer: latency over load, saturation.
//
// Each terminal creates packets by chance, independently of the network's state; those created in
// the measured cycles count. docs/traffic.md has the patterns and the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/fabric.hpp"

namespace foretrace::architecture {

enum class PatternKind : std::uint8_t {
  uniform,
  hotspot,
  transpose,
  complement,
  reverse,
  shuffle,
  tornado,
  neighbour,
  permutation,
  asymmetric,
  diagonal,
  file,
};

struct Pattern {
  PatternKind kind = PatternKind::uniform;
  std::vector<std::int32_t> targets;  // hotspot: the spots; permutation, file: by terminal
  double share = 0;                   // hotspot: of the packets that go to the spots
  int side = 0;                       // tornado, neighbour: of the grid
  int dimensions = 0;
  int terminals = 0;

  std::int32_t destination(std::int32_t from, entity::Random& random) const;
};

// "uniform", "transpose", "hotspot:0,5:0.2", "permutation:SEED", "file:PATH" (one destination a
// line). Throws UsageError for other words and where the pattern needs another number of terminals.
Pattern parse_pattern(const std::string& text, const Fabric& fabric);
// The words, for help and errors.
std::string pattern_words();

struct TrafficOptions {
  int packet_flits = 1;
  std::int64_t warm_up = 5000;     // cycles
  std::int64_t measured = 20'000;  // cycles; packets created then count
  std::uint64_t seed = 1;
  // Bursts: a source is on for `burst` cycles on average, and creates its packets then alone, at
  // `burst_rate` flits a cycle; 0: no bursts.
  double burst = 0;
  double burst_rate = 1;
};

// One load.
struct TrafficPoint {
  double offered = 0;   // flits a terminal and cycle
  double created = 0;   // what chance made of it, in the measured cycles
  double accepted = 0;  // flits ejected in the measured cycles
  bool stable = true;
  double latency = 0;  // cycles from creation to the last flit's ejection, mean
  // Half of the 95 % interval of the mean, from 10 batches; nothing: one of them is empty.
  std::optional<double> error;
  double network_latency = 0;  // from the first flit's entry
  double hops = 0;             // routers passed
  std::int64_t most = 0;       // the longest latency
  std::uint64_t packets = 0;
  std::uint64_t events = 0;                    // of entities, and
  double seconds = 0;                          // the time that the simulation took
  std::vector<double> occupancy;               // by router: flits in it, mean
  std::vector<std::vector<double>> link_load;  // by router and port: flits a cycle
};

struct TrafficCurve {
  std::vector<TrafficPoint> points;
  // Latency at a load of 0.5 % of a flit a cycle, the mean of 1,000 packets at least.
  double zero_load = 0;
  // The load at which the mean latency is three times that without load; nothing: not up to 1.
  std::optional<double> saturation;
  double throughput = 0;  // accepted when 1 flit a cycle is offered
};

// Throws Error for loads outside 0..1.
TrafficPoint simulate_traffic(const Fabric& fabric, const Pattern& pattern, double offered,
                              const TrafficOptions& options);
// `loads` rising; empty: 12 up to saturation.
TrafficCurve traffic_curve(const Fabric& fabric, const Pattern& pattern, std::vector<double> loads,
                           const TrafficOptions& options);

}  // namespace foretrace::architecture
