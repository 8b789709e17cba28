// Balance: how unevenly ranks compute, and the run with that made even.
#pragma once

#include <cstdint>
#include <vector>

#include "explain/edits.hpp"

namespace foretrace::explain {

// The computation of the calls for which `of` holds, equalised from one collective in which all
// ranks wait for all to the next, over the ranks that have any there: before each call, where
// they make the same calls in the same order, else altogether.
void equalise(const Run& run, const CallSet& of, Edits& edits);

// By rank: the number of its group, as of its node.
using Groups = std::vector<std::int32_t>;
// The same over the ranks of each group alone; or over the groups, each by its number of ranks,
// what its ranks do staying in proportion.
void equalise_within(const Run& run, const CallSet& of, const Groups& groups, Edits& edits);
void equalise_between(const Run& run, const CallSet& of, const Groups& groups, Edits& edits);

// What equalise() makes even.
struct Unevenness {
  Time above;  // by how much the longest computations are above the mean, in all
  // The fewest to which nine tenths is due of what lies at least half as far above the mean as the
  // longest, and those to whom half as much is due as to the first of them; ascending.
  std::vector<WorldRank> ranks;
  WorldRank worst;  // to whom the most is due
};
Unevenness unevenness(const Run& run, const CallSet& of);

struct Spread {
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(const std::vector<double>& values);

// From one collective in which all ranks wait for all to the next.
struct Round {
  std::size_t number = 0;  // from 0
  Time from;               // when its first rank begins
  Time mean;
  Time most;
  WorldRank slowest;
  double deviation = 0;  // standard deviation over the ranks, seconds

  Time above() const { return most - mean; }
};
// Those with the most above the mean first, at most so many; and how many there are.
std::vector<Round> uneven_rounds(const Run& run, std::size_t most, std::size_t& count);

}  // namespace foretrace::explain
