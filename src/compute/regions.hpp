// Regions: a compute table bound to machines, and the rule that follows a rank's
// phases through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/node_ranks.hpp"
#include "compute/rule.hpp"
#include "machine/compute_costs.hpp"
#include "machine/compute_table.hpp"

namespace foretrace::compute {

// Whether another interval of a phase begins after such an event: those that are
// the same in every run of the program. `goes_on`: with the call of the event before, inside of
// which nothing begins.
bool ends_interval(trace::EventKind kind, std::string_view name, bool goes_on);

// A table with its scales and kernels worked out.
struct Regions {
  struct Region {
    std::string phase;
    machine::RegionTime time = machine::RegionTime::none;
    std::vector<double> seconds;  // with the scale
    double factor = 1;            // measured: seconds there for a second here
  };
  Region elsewhere;
  std::vector<Region> list;

  // Whether any region needs the CPU time, or steps.
  bool needs(machine::RegionTime time) const;
};

// How much longer a second of `here` takes on `target`: the mean of the kernels'
// ratios, weighted by the shares; without shares, of all kernels that both models
// have. Throws Error where there is none.
double kernel_ratio(const std::map<std::string, double, std::less<>>& shares,
                    const machine::ComputeCosts& here, const machine::ComputeCosts& target,
                    NodeRanks ranks);

// `here`: the model of the machine where CPU times are measured; nullptr: times
// there and here are alike but for the table's scales. Throws Error.
Regions bind_table(const machine::ComputeTable& table, const machine::ComputeCosts* here,
                   const machine::ComputeCosts& target, NodeRanks ranks);

// Follows one rank.
class RegionRule : public Rule {
 public:
  explicit RegionRule(std::shared_ptr<const Regions> regions) : regions_(std::move(regions)) {}
  Time before(const Interval& interval) override;

 private:
  struct Open {
    std::string phase;
    const Regions::Region* region = nullptr;  // nullptr: the table has none of that name
    std::size_t interval = 0;                 // of this visit
  };
  Time time_of(const Interval& interval, const Open* open, std::size_t ended) const;
  void follow(const Interval& interval);

  std::shared_ptr<const Regions> regions_;
  std::vector<Open> open_;  // innermost last
};

}  // namespace foretrace::compute
