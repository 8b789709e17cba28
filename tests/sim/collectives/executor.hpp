// Runs all ranks' steps of one collective against each other.
//
// An executor of its own, made to check the step functions and to time them in
// the simplest of models: a message of k bytes takes alpha + k beta from when
// both sides have begun it; a rank sends one at a time and receives one at a
// time. It follows who could have heard from whom. Times are whole numbers
// without unit.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collectives/algorithm.hpp"
#include "trace/counts.hpp"

namespace foretrace::sim::test {

// Ranks, of which there may be 256.
using Ranks = std::bitset<256>;

struct Costs {
  std::uint64_t alpha = 1;
  std::uint64_t beta = 0;
};

// When is a send over: at once, or when the receive is there?
enum class Sends { buffered, synchronous };

struct RankResult {
  std::uint64_t messages = 0;  // received
  std::uint64_t bytes = 0;     // received
  std::uint64_t sent = 0;      // bytes
  std::uint64_t reduced = 0;
  std::uint64_t time = 0;
  Ranks heard;  // ranks whose start it could know of, itself included
  // A message to be combined held something that the rank had already.
  bool combined_twice = false;
};

struct Result {
  std::string fault;  // empty: all went well
  std::vector<RankResult> ranks;

  std::uint64_t time() const;
  std::uint64_t messages() const;
  std::uint64_t bytes() const;
  std::uint64_t reduced() const;
};

// `call.rank` is not looked at. `counts`: of each rank's call, by rank; none: as in `call`.
Result execute(const Algorithm& algorithm, CollectiveCall call, Sends sends, Costs costs = {},
               const std::vector<trace::Counts>& counts = {});

// Throws std::logic_error if there is none.
const Algorithm& named(machine::Cost collective, std::string_view name);

}  // namespace foretrace::sim::test
