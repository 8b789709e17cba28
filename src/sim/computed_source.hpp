// ComputedSource: the operations of another source, with the time of their
// computation found anew by a rule (a table of regions, an earlier run).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/rule.hpp"
#include "sim/source.hpp"

namespace foretrace::sim {

class ComputedSource : public Source {
 public:
  // `source` must live as long.
  ComputedSource(Source& source, const compute::RuleMaker& make) : source_(&source) {
    for (int r = 0; r < source.ranks(); ++r) rules_.push_back(make(WorldRank(r)));
  }
  ComputedSource(std::unique_ptr<Source> source, const compute::RuleMaker& make)
      : ComputedSource(*source, make) {
    own_ = std::move(source);
  }

  int ranks() const override { return source_->ranks(); }
  void begin(const ClockRules& rules) override {
    ClockRules own = rules;
    own.by_rule = true;
    source_->begin(own);
  }
  bool next(WorldRank rank, Operation& operation) override {
    if (!source_->next(rank, operation)) return false;
    // A look that only waits computes nothing.
    if (operation.idle && operation.kind == trace::EventKind::call) return true;
    const Time recorded = operation.compute;
    operation.compute =
        rule(rank).before({operation.kind, source_->name(operation.name), operation.compute,
                           operation.steps, std::max(operation.count, 1U), operation.count == 0});
    // Other threads are as much faster or slower as the one that calls.
    if (operation.joins) {
      factors_.resize(rules_.size());
      factors_[static_cast<std::size_t>(rank.value)] =
          recorded > Time() ? operation.compute.seconds() / recorded.seconds() : 1;
    }
    // A recorded test that is an event of its own has found something.
    if (!source_->reactive() && operation.kind == trace::EventKind::complete)
      rule(rank).looked(true);
    return true;
  }
  Joining joining(WorldRank rank) const override {
    Joining joining = source_->joining(rank);
    const double factor = factors_[static_cast<std::size_t>(rank.value)];
    joining.after = joining.after.scaled(factor);
    joining.after_second = joining.after_second.scaled(factor);
    joining.held = joining.held.scaled(factor);
    return joining;
  }
  bool starts(WorldRank rank) const override { return source_->starts(rank); }
  std::vector<WorldRank> take_started() override { return source_->take_started(); }
  bool ready(WorldRank rank) const override { return source_->ready(rank); }
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override {
    rule(rank).looked(operation.kind == trace::EventKind::complete && !outcome.completions.empty());
    source_->completed(rank, operation, interval, outcome);
  }
  bool reactive() const override { return source_->reactive(); }
  bool races() const override { return source_->races(); }
  bool posts_collectives() const override { return source_->posts_collectives(); }
  bool messages_race() const override { return source_->messages_race(); }
  std::string_view name(trace::NameId id) const override { return source_->name(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return source_->comm(id); }
  std::vector<trace::CommId> take_freed() override { return source_->take_freed(); }
  const trace::Site& site(trace::SiteId id) const override { return source_->site(id); }
  std::string describe_site(trace::SiteId id) const override { return source_->describe_site(id); }
  std::string place(WorldRank rank) const override { return source_->place(rank); }
  std::string end_reason(WorldRank rank) const override { return source_->end_reason(rank); }

 private:
  compute::Rule& rule(WorldRank rank) { return *rules_[static_cast<std::size_t>(rank.value)]; }

  std::unique_ptr<Source> own_;
  Source* source_;
  std::vector<std::unique_ptr<compute::Rule>> rules_;
  std::vector<double> factors_;  // by rank, of what computed last before it joined
};

}  // namespace foretrace::sim
