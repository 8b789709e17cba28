#include "measure/experiments/plan.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/sent_data.hpp"
#include "measure/core/options.hpp"

namespace foretrace::measure {
namespace {

// What each rank may use for the buffers of a family with parts.
constexpr std::uint64_t kMaxBuffer = 256 << 20;

std::uint64_t whole_doubles(std::uint64_t bytes) {
  return bytes > 4 ? (bytes + 4) / 8 * 8 : bytes;
}

std::set<std::uint64_t> few_sizes(const PlanSizes& limits) {
  const std::uint64_t factor = limits.per_octave == 1 ? 16 : 4;
  std::set<std::uint64_t> sizes{limits.max_bytes};
  for (std::uint64_t bytes = 1; bytes < limits.max_bytes; bytes *= factor) sizes.insert(bytes);
  return sizes;
}

std::vector<std::uint64_t> followed_sizes(const PlanSizes& limits) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = SentData::kLeast; bytes <= std::min(kMostCached, limits.max_bytes);
       bytes *= limits.per_octave == 1 ? 4 : 2)
    sizes.push_back(bytes);
  return sizes;
}

// Whole doubles for each rank.
std::vector<std::uint64_t> block_sizes(const PlanSizes& limits, int ranks) {
  const std::uint64_t each = 8 * static_cast<std::uint64_t>(ranks);
  std::set<std::uint64_t> sizes;
  for (const std::uint64_t bytes : few_sizes(limits))
    if (bytes / each > 0) sizes.insert(bytes / each * each);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::uint64_t> pieces_sizes(const PlanSizes& limits) {
  constexpr std::uint64_t kMost = 256 << 10;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 64; bytes <= std::min(kMost, limits.max_bytes);
       bytes *= limits.per_octave == 1 ? 4 : 2)
    sizes.push_back(bytes);
  return sizes;
}

std::vector<std::uint64_t> file_sizes(const PlanSizes& limits) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t bytes : {8, 4096, 65536, 1 << 20, 4 << 20})
    if (bytes <= limits.max_bytes) sizes.push_back(bytes);
  return sizes;
}

std::vector<PlanPoint> points_of(const Plan& plan, std::size_t family, std::size_t group,
                                 const PlanSizes& limits) {
  std::vector<PlanPoint> points;
  const Family& of = plan.families[family];
  const int ranks = plan.groups[group].ranks;
  for (const std::uint64_t bytes : sizes_of(of.sizes, limits, ranks)) {
    const std::uint64_t parts = of.parts ? static_cast<std::uint64_t>(ranks) : 1;
    if (bytes <= of.most_bytes && bytes * parts <= kMaxBuffer)
      points.push_back({family, group, bytes, false});
  }
  for (std::uint64_t bytes = 2 * limits.max_bytes; of.long_ones && bytes <= limits.long_bytes;
       bytes *= 2)
    if (bytes * (of.parts ? static_cast<std::uint64_t>(ranks) : 1) <= kMaxBuffer)
      points.push_back({family, group, bytes, true});
  return points;
}

std::vector<PlanPoint> untouched_points_of(const Plan& plan, std::size_t family, std::size_t group,
                                           const PlanSizes& limits) {
  const Family& of = plan.families[family];
  const std::uint64_t parts = of.parts ? static_cast<std::uint64_t>(plan.groups[group].ranks) : 1;
  std::vector<PlanPoint> points;
  for (const std::uint64_t bytes : followed_sizes(limits))
    if (bytes <= of.most_bytes && bytes * parts <= kMaxBuffer)
      points.push_back({family, group, bytes, false, true});
  return points;
}

// Whether the group's ranks share a memory, and no larger one of its kind does.
bool is_largest_within(const Plan& plan, std::size_t group, bool one_host) {
  const PlanGroup& own = plan.groups[group];
  if (own.prefix.empty() && !one_host) return false;
  return std::ranges::none_of(plan.groups, [&](const PlanGroup& other) {
    return other.scope == own.scope && other.prefix == own.prefix && other.ranks > own.ranks;
  });
}

// All ranks list the same points, also those that they have no part in. Within a node the
// main functions are enough: they stand in for the others.
std::vector<PlanPoint> all_points(const Plan& plan, const PlanSizes& sizes) {
  std::vector<PlanPoint> points;
  for (std::size_t family = 0; family < plan.families.size(); ++family)
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
      if (plan.groups[group].scope == plan.families[family].scope &&
          (plan.groups[group].prefix.empty() || plan.families[family].main))
        std::ranges::copy(points_of(plan, family, group, sizes), std::back_inserter(points));
  return points;
}

// Of the family's groups within a node the largest.
std::vector<PlanPoint> all_untouched_points(const Plan& plan, const PlanSizes& sizes,
                                            bool one_host) {
  std::vector<PlanPoint> points;
  for (std::size_t family = 0; family < plan.families.size(); ++family)
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
      if (plan.families[family].untouched &&
          plan.groups[group].scope == plan.families[family].scope &&
          is_largest_within(plan, group, one_host))
        std::ranges::copy(untouched_points_of(plan, family, group, sizes),
                          std::back_inserter(points));
  return points;
}

// One for each number of the ranks, the first of `order`.
void add_counts(const Group& world, const std::vector<int>& order, bool others,
                const std::string& prefix, Plan& plan) {
  for (const int ranks : rank_counts(static_cast<int>(order.size()), others))
    plan.groups.push_back({group_of_ranks(world, {order.begin(), order.begin() + ranks}),
                           Scope::counts, ranks, prefix});
}

}  // namespace

std::vector<std::uint64_t> sizes_of(Sizes sizes, const PlanSizes& limits, int ranks) {
  if (sizes == Sizes::none) return {0};
  if (sizes == Sizes::blocks) return block_sizes(limits, ranks);
  if (sizes == Sizes::files) return file_sizes(limits);
  if (sizes == Sizes::pieces) return pieces_sizes(limits);
  if (sizes == Sizes::followed) return followed_sizes(limits);
  std::set<std::uint64_t> chosen;
  if (sizes == Sizes::few) {
    chosen = few_sizes(limits);
  } else {
    const auto grid = message_sizes(limits.max_bytes, limits.per_octave);
    chosen = {grid.begin(), grid.end()};
  }
  if (sizes != Sizes::few) {
    for (const std::uint64_t last : limits.thresholds) {
      chosen.insert(last);
      chosen.insert(last + 1);
    }
  }
  if (sizes == Sizes::all) {
    chosen.insert(0);
    return {chosen.begin(), chosen.end()};
  }
  std::set<std::uint64_t> whole;
  for (const std::uint64_t bytes : chosen) whole.insert(whole_doubles(bytes));
  // Both sides of a threshold in whole doubles.
  if (sizes == Sizes::doubles) {
    for (const std::uint64_t last : limits.thresholds) {
      whole.insert(last / 8 * 8);
      whole.insert(last / 8 * 8 + 8);
    }
    whole.erase(0);
  }
  return {whole.begin(), whole.end()};
}

Group group_of_ranks(const Group& world, const std::vector<int>& ranks) {
  const auto place = std::ranges::find(ranks, world.rank);
  const bool member = place != ranks.end();
  MPI_Comm comm;
  MPI_Comm_split(world.comm, member ? 0 : MPI_UNDEFINED, static_cast<int>(place - ranks.begin()),
                 &comm);
  return member ? group_of(comm) : Group{};
}

Plan make_plan(const Group& world, const Hosts& hosts, const PlanSizes& sizes,
               const Facilities& facilities) {
  Plan plan{families(facilities), {}, {}};
  const bool others = sizes.per_octave > 1;
  plan.groups.push_back({group_of_ranks(world, outer_pair(hosts)), Scope::pair, 2, ""});
  add_counts(world, spread_order(hosts), others, "", plan);
  if (has_two_paths(hosts)) {
    const std::vector<int> here = first_host(hosts);
    plan.groups.push_back(
        {group_of_ranks(world, {here.front(), here.back()}), Scope::pair, 2, kNodePrefix});
    add_counts(world, here, others, kNodePrefix, plan);
  }
  plan.points = all_points(plan, sizes);
  const bool one_host = std::ranges::count(hosts, hosts.front()) == std::ssize(hosts);
  std::ranges::copy(all_untouched_points(plan, sizes, one_host), std::back_inserter(plan.points));
  return plan;
}

std::vector<PlanPoint> added_points(const Plan& plan, const PlanSizes& sizes,
                                    const PlanSizes& more) {
  const auto key = [](const PlanPoint& p) { return std::tuple(p.family, p.group, p.bytes); };
  std::set<std::tuple<std::size_t, std::size_t, std::uint64_t>> known;
  for (const PlanPoint& point : all_points(plan, sizes)) known.insert(key(point));
  std::vector<PlanPoint> added;
  for (const PlanPoint& point : all_points(plan, more))
    if (!known.contains(key(point))) added.push_back(point);
  return added;
}

void free_groups(Plan& plan) {
  for (PlanGroup& each : plan.groups)
    if (each.group.comm != MPI_COMM_NULL) MPI_Comm_free(&each.group.comm);
}

std::uint64_t largest_buffer(const Plan& plan, int world_size) {
  std::uint64_t most = 64;
  for (const PlanPoint& point : plan.points) {
    const std::uint64_t parts =
        plan.families[point.family].parts ? static_cast<std::uint64_t>(world_size) : 1;
    most = std::max(most, point.bytes * parts);
  }
  return std::min(most, kMaxBuffer) + 4096;
}

std::vector<Experiment> experiments_of(const Plan& plan, const PlanPoint& point, Buffers& buffers) {
  return plan.families[point.family].experiments(plan.groups[point.group].group, point.bytes,
                                                 buffers);
}

}  // namespace foretrace::measure
