// What messages take of a rank's port, by the data sheet's gap.
#include "machine/port.hpp"

#include <algorithm>

#include "machine/pair.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {

Time Timing::gap(Bytes bytes) const {
  return has_gap() ? cost(Cost::gap, kPair, bytes) : Time();
}

// By so much a receive ends later if its rank sends as well.
Time Timing::sending_takes(Bytes bytes) const {
  if (!has_gap()) return Time();
  const Time both = cost(Cost::sendrecv, kPair, bytes);
  return std::max(both - recv_transfer(bytes), Time());
}

// A message in each direction takes gap.
Time Timing::receiving_takes(Bytes bytes) const {
  return std::max(gap(bytes) - sending_takes(bytes), Time());
}

}  // namespace foretrace::machine
