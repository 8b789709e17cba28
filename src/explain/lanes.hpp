// Lanes: many what-ifs of one kind in one pass over the graph of a run.
//
// As time_with() of what_if.hpp, where the graph is fixed to the picosecond; elsewhere an
// estimate in which every message takes as long as it did.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "explain/edits.hpp"
#include "explain/run.hpp"

namespace foretrace::explain {

// By how many times the curves of a region make its computation faster; the last is
// infinite: it takes no time.
inline constexpr std::array<double, 7> kSpeedUps = {1.1, 1.25, 1.5, 2, 4, 10, 0};

// The run time with the computation of the calls so many times as fast, as speed_up(); 0: it
// takes no time. At most kMostLanes factors.
inline constexpr std::size_t kMostLanes = 16;
std::vector<Time> times_faster(const Run& run, const CallSet& of, std::span<const double> factors);

// The run time with shares of `edits`, each from 0 to 1: of the difference that they make to
// each computation; each wait that they take away is shorter by at most that share of the
// longest of them (longest_wait()). At most kMostLanes shares.
std::vector<Time> times_with_shares(const Run& run, const Edits& edits, Time longest,
                                    std::span<const double> shares);
// Of the waits that `edits` take away.
Time longest_wait(const Run& run, const Edits& edits);

// The run time at each latency of messages, on network loggps, every port taking its messages
// in the order of the run as it is. `as_is`: the run's own latency, above 0.
std::vector<Time> times_at_latencies(const Run& run, Time as_is, std::span<const Time> latencies);

}  // namespace foretrace::explain
