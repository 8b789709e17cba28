// The messages of a collective in rounds: who sends to whom in the first, the second, ...
//
// For those who look at an algorithm; the engine does not ask. A message is in the round after the
// last one that its sender has finished: sent in, or waited for. What a rank posts before it waits
// is one round. Knows no times.
#pragma once

#include <cstddef>
#include <vector>

#include "base/ids.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim {

struct RoundMessage {
  int round = 1;
  int from = 0, to = 0;  // local ranks
  Bytes bytes;

  bool operator==(const RoundMessage&) const = default;
};

// By round, then by sender, then as it sends them. `call.rank` is not looked at. Empty where there
// would be more than `most`.
std::vector<RoundMessage> rounds_of(const Algorithm& algorithm, CollectiveCall call,
                                    std::size_t most);

}  // namespace foretrace::sim
