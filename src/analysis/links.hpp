// LinkProfile: how busy the links of a network were, which one most, and when.
//
// Computed from what a simulated network counted on its carriers
// (machine::Topology::carrier) and drawn by the views. Knows nothing of the
// network models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "topology/contention.hpp"
#include "topology/topology.hpp"

namespace foretrace::analysis {

// What one carrier has carried.
struct LinkUse {
  machine::LinkId carrier;
  std::uint64_t messages = 0;
  Bytes bytes;
  Time busy;
  // Busy time in [b, b + 1) * bin_width; may be empty: not known.
  std::vector<Time> history;
  std::optional<machine::Contention> contention = {};
};

struct NetworkUse {
  Time time;       // of the run, from 0
  Time bin_width;  // of all histories
  std::vector<LinkUse> links;
};

// A stretch of time and how busy the link was in it.
struct BusyStretch {
  Time from;
  Time to;
  double share = 0;  // busy / (to - from)
};

struct LinkProfile {
  std::string from;  // node; empty for a bus, which all its nodes share
  std::string to;
  std::uint64_t messages = 0;
  Bytes bytes;
  Time busy;
  double share = 0;  // busy / time of the run
  // Around the bin in which it was busiest (the first of several), as far as it
  // is at least half as busy; ends with the run.
  std::optional<BusyStretch> busiest;
  std::optional<machine::Contention> contention = {};  // of a medium whose stations collide
};

struct LinksProfile {
  Time time;
  std::int64_t carriers = 0;       // that the network has, used or not
  std::vector<LinkProfile> links;  // those used, the busiest first, then by number
};

// topology: nullptr for a bus without one, whose carrier is its only one.
LinksProfile profile_links(const NetworkUse& use, const machine::Topology* topology);

}  // namespace foretrace::analysis
