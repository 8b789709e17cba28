// The run time over a range of latencies (`explain --latencies 1us..100us`).
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/simulation.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

struct LatencyCurve {
  std::vector<Time> latencies;
  std::vector<Time> times;
  bool added = false;  // the latencies: to what the model's equations say
  // Whether each time is that of a simulation; else of the notes of one simulation, with every
  // port taking its messages in the order of that one.
  bool simulated = true;
  double deviation = 0;  // else: the largest difference at the ends, as a share of the simulated
};

// FROM..TO or FROM..TO:COUNT (20 without it): latencies in equal ratios, ends included. Throws
// UsageError.
std::vector<Time> parse_latencies(const std::string& text);

// `run` is that of `simulation`. Throws UsageError for networks without L.
LatencyCurve find_latency_curve(const Simulation& simulation, const explain::Run& run,
                                const std::vector<Time>& latencies);

std::string render_latency_curve(const LatencyCurve& curve, bool json);

}  // namespace foretrace::cli
