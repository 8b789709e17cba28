// Recursive doubling among any number of ranks in place, without a fold: whom a
// rank talks to, move by move.
//
// In the round of distance m the ranks are in aligned groups of m, and each
// group swaps what it has with the group m away. Where p is no power of two the
// last group may be short; those of its partner group that have no partner
// are then told by those that have, in a binomial tree within the group (Thakur,
// Rabenseifner and Gropp 2005). What the groups have is the caller's business.
#pragma once

#include <cstdint>

#include "sim/collectives/parts.hpp"

namespace foretrace::sim::collectives {

struct DoublingMove {
  enum class Kind : std::uint8_t {
    swap,  // both ways with `partner`
    tell,  // to `partner`, what came from the other group
    hear,  // from `partner`
  };
  Kind kind = Kind::swap;
  int partner = 0;
  int distance = 0;
  int own_group = 0;    // its first rank
  int other_group = 0;  // distance away; the group may be short
};

// Move `index` of rank v of p; false after the last. O(1) for powers of two,
// else O(log^2 p).
inline bool doubling_move(int v, int p, std::uint32_t index, DoublingMove& move) {
  using Kind = DoublingMove::Kind;
  const int rounds = ceil_log2(p);
  const auto set = [&](Kind kind, int partner, int m) {
    move = {kind, partner, m, v & -m, (v & -m) ^ m};
    return true;
  };
  if (is_power_of_two(p)) {
    const int m = 1 << (index & 31);
    return index < static_cast<std::uint32_t>(rounds) && set(Kind::swap, v ^ m, m);
  }
  for (int m = 1; m < p; m *= 2) {
    if ((v ^ m) < p && index-- == 0) return set(Kind::swap, v ^ m, m);
    const int other = (v & -m) ^ m;
    const int partners = p - other;  // ranks of the other group
    if (other < v || partners <= 0 || partners >= m) continue;
    for (int half = m / 2; half > 0; half /= 2) {
      const int at = v & (2 * half - 1);
      if (at < std::min(half, partners) && at + half >= partners) {
        if (index-- == 0) return set(Kind::tell, v + half, m);
      } else if (at >= std::max(half, partners) && at - half < partners) {
        if (index-- == 0) return set(Kind::hear, v - half, m);
      }
    }
  }
  return false;
}

}  // namespace foretrace::sim::collectives
