// A network of LogGPS with round figures, in nanoseconds, for tests that follow its
// times by hand.
#pragma once

#include "sim/engine.hpp"

namespace foretrace::sim {

constexpr Time ns(std::int64_t n) {
  return Time::ns(n);
}

// L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns per byte, S = 1001 bytes.
inline SimulateOptions loggps() {
  SimulateOptions options;
  NetworkOptions& network = options.network;
  network.kind = NetworkKind::loggps;
  network.loggps.latency = ns(1000);
  network.loggps.overhead_send = ns(100);
  network.loggps.overhead_recv = ns(10);
  network.loggps.gap = ns(50);
  network.loggps.gap_per_byte = 0.5e-9;
  network.loggps.sync_threshold = Bytes(1001);
  return options;
}

}  // namespace foretrace::sim
