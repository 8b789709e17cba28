// Finding to the byte where something changes with the message size.
//
// The caller answers questions about single sizes; nothing here knows how. No
// MPI, no clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace foretrace::measure {

// How often a finding has to be confirmed, without a single contradiction.
inline constexpr int kConfirmations = 3;

// The last size from 0 to `most` for which `holds`, which no larger one does;
// -1 if it does not hold for 0. Nothing: it holds up to `most`, or the answers
// contradict each other too often, or one was not given (out of time).
std::optional<std::int64_t> last_that_holds(
    const std::function<std::optional<bool>(std::int64_t)>& holds, std::int64_t most);

// Time of a call against its message size, at one size.
struct CurvePoint {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

struct Interval {
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  bool operator==(const Interval&) const = default;
};

// Neighbouring sizes of an ascending curve between which the time may jump by
// more than the share `least`: where it changes by so much more than the
// intervals around would let expect. Largest change first.
std::vector<Interval> jump_candidates(std::span<const CurvePoint> curve, double least);

// Halves the interval, which holds whole numbers of `step`s, until one step is
// left, always towards the larger change, and returns the size below it if the
// time there changes by more than the share `least`, in the same direction, in
// all confirmations. `seconds` may answer with nothing: out of time.
std::optional<std::uint64_t> find_jump(
    const std::function<std::optional<double>(std::uint64_t)>& seconds, Interval interval,
    std::uint64_t step, double least);
// The confirmations alone: whether the time jumps between `below` and the next size.
bool confirm_jump(const std::function<std::optional<double>(std::uint64_t)>& seconds,
                  std::uint64_t below, std::uint64_t step, double least);

struct FoundJumps {
  std::set<std::uint64_t> jumps;  // last sizes before them
  // Sizes within intervals of an eighth and more where the time changes twice as much
  // as a jump must, and none was found; three for each: it moves, or there are several.
  std::set<std::uint64_t> between;
};

// Looks into every candidate of `curve`, three times where need be: next to a power
// of two at its ends first, where libraries change protocol, then by halving.
FoundJumps search_jumps(const std::function<std::optional<double>(std::uint64_t)>& seconds,
                        std::span<const CurvePoint> curve, const std::set<std::uint64_t>& known,
                        std::uint64_t step, double least);

}  // namespace foretrace::measure
