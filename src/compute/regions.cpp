#include "compute/regions.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::compute {

using machine::RegionTime;
using trace::EventKind;

namespace {

std::string names_of(const machine::ComputeCosts& model) {
  std::string list;
  for (const auto& [name, time] : model.kernels) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

double kernel_time(const machine::ComputeCosts& model, const std::string& kernel, int ranks) {
  const auto found = model.kernels.find(kernel);
  if (found == model.kernels.end())
    throw Error("the machine model '" + model.machine + "' has no kernel '" + kernel +
                "'; it has " + names_of(model));
  return kernel_seconds(found->second, ranks);
}

Regions::Region bind(const machine::ComputeRegion& from, const machine::ComputeCosts* here,
                     const machine::ComputeCosts& target, NodeRanks ranks) {
  Regions::Region region;
  region.phase = from.phase;
  region.time = from.time;
  region.seconds = from.seconds;
  for (double& seconds : region.seconds) seconds *= from.scale;
  region.factor = from.scale;
  if (from.time != RegionTime::measured) return region;
  if (here)
    region.factor *= kernel_ratio(from.kernels, *here, target, ranks);
  else if (!from.kernels.empty())
    throw Error(
        "the compute table compares kernels; say --scale-from HERE.toml, the model of the "
        "machine that measures");
  return region;
}

}  // namespace

bool ends_interval(EventKind kind, std::string_view name, bool goes_on) {
  if (goes_on || kind == EventKind::mark || mpi_api::is_poll(name)) return false;
  // Accesses to windows and files are calls that are not local.
  static const mpi_api::Group* const with_others = mpi_api::find_group("with_others");
  return kind != EventKind::call || mpi_api::is_in(*with_others, name);
}

double kernel_ratio(const std::map<std::string, double, std::less<>>& shares,
                    const machine::ComputeCosts& here, const machine::ComputeCosts& target,
                    NodeRanks ranks) {
  double weights = 0;
  double sum = 0;
  const auto add = [&](const std::string& kernel, double share) {
    sum += share * kernel_time(target, kernel, ranks.there) / kernel_time(here, kernel, ranks.here);
    weights += share;
  };
  for (const auto& [kernel, share] : shares) add(kernel, share);
  if (shares.empty())
    for (const auto& [kernel, time] : here.kernels)
      if (target.kernels.contains(kernel)) add(kernel, 1);
  if (weights == 0)
    throw Error("the machine models '" + here.machine + "' (kernels: " + names_of(here) +
                ") and '" + target.machine + "' (" + names_of(target) +
                ") have no kernel in common; foretrace measure writes them ([[compute.kernel]])");
  return sum / weights;
}

bool Regions::needs(RegionTime time) const {
  return elsewhere.time == time || std::ranges::find(list, time, &Region::time) != list.end();
}

Regions bind_table(const machine::ComputeTable& table, const machine::ComputeCosts* here,
                   const machine::ComputeCosts& target, NodeRanks ranks) {
  Regions regions;
  regions.elsewhere = bind(table.elsewhere, here, target, ranks);
  for (const machine::ComputeRegion& region : table.regions)
    regions.list.push_back(bind(region, here, target, ranks));
  return regions;
}

Time RegionRule::before(const Interval& interval) {
  // The innermost phase that the table knows.
  const auto known = std::find_if(open_.rbegin(), open_.rend(),
                                  [](const Open& open) { return open.region != nullptr; });
  Open* open = known == open_.rend() ? nullptr : &*known;
  std::size_t ended = 0;
  if (open && ends_interval(interval.kind, interval.name, interval.goes_on)) ended = interval.count;
  const Time time = time_of(interval, open, ended);
  if (open) open->interval += ended;
  follow(interval);
  return time;
}

Time RegionRule::time_of(const Interval& interval, const Open* open, std::size_t ended) const {
  const Regions::Region& region = open ? *open->region : regions_->elsewhere;
  Time sum;
  switch (region.time) {
    case RegionTime::none:
      break;
    case RegionTime::measured:
      return interval.measured.scaled(region.factor);
    case RegionTime::step:
      return Time::from_seconds(interval.steps * region.seconds[0]);
    case RegionTime::visit:
      // Calls that every run makes in another number get nothing.
      for (std::size_t i = 0; i < ended && open->interval + i < region.seconds.size(); ++i)
        sum += Time::from_seconds(region.seconds[open->interval + i]);
  }
  return sum;
}

void RegionRule::follow(const Interval& interval) {
  if (interval.kind == EventKind::phase_begin) {
    const auto region = std::ranges::find(regions_->list, interval.name, &Regions::Region::phase);
    open_.push_back(
        {std::string(interval.name), region == regions_->list.end() ? nullptr : &*region, 0});
  } else if (interval.kind == EventKind::phase_end) {
    const auto closed = std::find_if(open_.rbegin(), open_.rend(),
                                     [&](const Open& open) { return open.phase == interval.name; });
    if (closed != open_.rend()) open_.erase(std::prev(closed.base()));
  }
}

}  // namespace foretrace::compute
