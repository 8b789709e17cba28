// What a rank tells another one of its part in a collective that it has posted.
#pragma once

#include <cstdint>

namespace foretrace::capture {

// Which collective: of a persistent one, which start.
struct StartKey {
  std::uint64_t comm;
  std::uint32_t number;  // among those posted on the communicator, from 1
  std::uint32_t round;
  auto operator<=>(const StartKey&) const = default;
};

struct StartLetter {
  StartKey key;
  std::int64_t start_ps;
  std::uint64_t bytes;
  std::int32_t rank;
  std::uint32_t function;
  std::int32_t root;
};

}  // namespace foretrace::capture
