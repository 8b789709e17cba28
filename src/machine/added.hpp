// Added: what a what-if adds to the times of messages where they are equations, which have no
// L, o and G of their own (docs/explain.md, Network, says to which functions how often).
#pragma once

#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::machine {

enum class Cost : std::uint8_t;

struct Added {
  Time latency;         // to each message, and to each step of a collective
  Time overhead_send;   // to each of them at its sender
  Time overhead_recv;   // at its receiver
  double per_byte = 0;  // seconds for each byte

  // What of it `what` takes, rounded once.
  Time to(Cost what, int ranks, Bytes bytes) const;
};

}  // namespace foretrace::machine
