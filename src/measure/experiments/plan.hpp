// Plan: every point that a launch measures, family by family, and the groups of
// ranks that measure them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "measure/core/hosts.hpp"
#include "measure/experiments/families.hpp"
#include "measure/experiments/group.hpp"

namespace foretrace::measure {

struct PlanPoint {
  std::size_t family;  // index into Plan::families
  std::size_t group;   // index into Plan::groups
  std::uint64_t bytes;
  bool is_long = false;    // beyond PlanSizes::max_bytes
  bool untouched = false;  // with data left so, and with other data beside it
};

// Who measures together.
struct PlanGroup {
  Group group;  // no communicator: this rank has no part
  Scope scope = Scope::pair;
  int ranks = 0;
  std::string prefix;  // before the functions' names: kNodePrefix within a node
};

struct PlanSizes {
  std::uint64_t max_bytes = 0;
  std::uint64_t long_bytes = 0;  // of families with long ones, powers of two up to here
  int per_octave = 3;            // of the families that get the whole grid
  // The last size before each threshold: it and the next one are measured
  // beside the grid.
  std::set<std::uint64_t> thresholds;
};

struct Plan {
  std::vector<Family> families;
  // The pair, then one for each number of ranks, of the outer path; the same of the inner one,
  // if there is one.
  std::vector<PlanGroup> groups;
  std::vector<PlanPoint> points;
};

// The sizes of a family on `ranks` ranks, ascending.
std::vector<std::uint64_t> sizes_of(Sizes sizes, const PlanSizes& limits, int ranks);

// The communicator of these ranks of `world`, in this order; collective.
Group group_of_ranks(const Group& world, const std::vector<int>& ranks);
// Makes the groups' communicators; collective over `world`.
Plan make_plan(const Group& world, const Hosts& hosts, const PlanSizes& sizes,
               const Facilities& facilities);
// The points that `more` has beyond those of `sizes`.
std::vector<PlanPoint> added_points(const Plan& plan, const PlanSizes& sizes,
                                    const PlanSizes& more);
void free_groups(Plan& plan);

// What a rank's buffers must hold for every point of the plan.
std::uint64_t largest_buffer(const Plan& plan, int world_size);

// The experiments of a point, on the members of its group.
std::vector<Experiment> experiments_of(const Plan& plan, const PlanPoint& point, Buffers& buffers);

}  // namespace foretrace::measure
