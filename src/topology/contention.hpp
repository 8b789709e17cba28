// Contention: what the stations of a medium did that they contend for (Ethernet).
//
// Counted by the network that simulates it (architecture/ethernet.hpp), shown with the medium's
// load by `simulate --links`.
#pragma once

#include <cstdint>

namespace foretrace::machine {

struct Contention {
  std::uint64_t frames = 0;      // that got through
  std::uint64_t deferred = 0;    // of these, found the medium busy when they were ready
  std::uint64_t collisions = 0;  // attempts that ended in one, of all stations
  std::uint64_t given_up = 0;    // times that a station gave a frame up after its last attempt
  int most_attempts = 0;         // that a frame needed
};

}  // namespace foretrace::machine
