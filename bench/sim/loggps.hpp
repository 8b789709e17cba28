// The LogGPS machine of all simulation benchmarks.
#pragma once

#include "sim/engine.hpp"

namespace foretrace::sim {

// L=2us, o=500ns, g=100ns, G=0.08ns, S=64KiB.
inline SimulateOptions loggps(const AlgorithmTable* algorithms = nullptr) {
  SimulateOptions options;
  options.network.kind = NetworkKind::loggps;
  options.network.loggps.latency = Time::ns(2000);
  options.network.loggps.overhead_send = options.network.loggps.overhead_recv = Time::ns(500);
  options.network.loggps.gap = Time::ns(100);
  options.network.loggps.gap_per_byte = 0.08e-9;
  options.network.loggps.sync_threshold = Bytes(65536);
  options.algorithms = algorithms;
  return options;
}

}  // namespace foretrace::sim
