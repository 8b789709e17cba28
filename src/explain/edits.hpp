// Edits: a run with some of its calls changed; and the source that hands them to the
// engine, so that any what-if can be simulated afresh.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explain/run.hpp"
#include "sim/source.hpp"

namespace foretrace::explain {

struct Edits {
  // By rank and call: it need not wait. Empty: none.
  std::vector<std::vector<bool>> waitless;
  // By rank and call: the computation before it. Empty: as it was.
  std::vector<std::vector<Time>> compute;

  bool is_waitless(WorldRank rank, std::size_t call) const {
    if (waitless.empty()) return false;
    const auto& calls = waitless[static_cast<std::size_t>(rank.value)];
    return call < calls.size() && calls[call];
  }
  Time compute_before(const Run& run, WorldRank rank, std::size_t call) const {
    const auto r = static_cast<std::size_t>(rank.value);
    return compute.empty() ? run.calls[r].compute(call) : compute[r][call];
  }
};

// The computation as it was, to be changed.
void fill_compute(const Run& run, Edits& edits);

// The calls for which `of` holds: the computation before them is `factor` times as fast; they need
// not wait.
using CallSet = std::function<bool(const Call&)>;
void speed_up(const Run& run, const CallSet& of, double factor, Edits& edits);
void take_waits_away(const Run& run, const CallSet& of, Edits& edits);

// The operations of `source`, which is that of `run`, edited. To be simulated with
// ComputeMode::recorded and scale 1.
class EditedSource : public sim::Source {
 public:
  // `run` and `edits` must live as long.
  EditedSource(std::unique_ptr<sim::Source> source, const Run& run, const Edits& edits);

  int ranks() const override { return source_->ranks(); }
  bool next(WorldRank rank, sim::Operation& operation) override {
    if (!source_->next(rank, operation)) return false;
    const std::size_t call = next_[static_cast<std::size_t>(rank.value)]++;
    // What follows MPI_Finalize is no part of the run.
    const bool known = call < run_->calls[static_cast<std::size_t>(rank.value)].size();
    // As in the run, with what the rank waited for its own threads.
    operation.compute = known ? edits_->compute_before(*run_, rank, call) : Time();
    operation.joins = false;
    if (!alone_.empty()) renumber(rank, operation);
    operation.waitless = edits_->is_waitless(rank, call);
    if (operation.waitless && operation.locking == sim::Locking::none)
      operation.alone = alone_of(rank, call);
    return true;
  }
  bool races() const override { return source_->races(); }
  bool posts_collectives() const override { return source_->posts_collectives(); }
  bool messages_race() const override { return source_->messages_race(); }
  std::string_view name(trace::NameId id) const override { return source_->name(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return source_->comm(id); }
  const trace::Site& site(trace::SiteId id) const override { return source_->site(id); }
  std::string describe_site(trace::SiteId id) const override { return source_->describe_site(id); }
  std::string place(WorldRank rank) const override { return source_->place(rank); }
  std::string end_reason(WorldRank rank) const override { return source_->end_reason(rank); }

 private:
  // What the steps of waitless calls take if nobody is late, as in the run.
  struct Alone {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> first;  // call, index into `times`
    std::vector<Time> times;
  };
  // Requests of calls that do not wait stay open in the engine, so that their numbers must
  // not be used again.
  void renumber(WorldRank rank, sim::Operation& operation);
  struct Requests {
    std::unordered_map<std::uint64_t, std::uint64_t> open;  // to its number here
    std::uint64_t last = 0;
    std::vector<trace::Completion> completions;  // of the operation at hand
  };
  const Time* alone_of(WorldRank rank, std::size_t call) const;

  std::unique_ptr<sim::Source> source_;
  const Run* run_;
  const Edits* edits_;
  std::vector<std::size_t> next_;
  std::vector<Alone> alone_;        // by rank; empty: all calls wait
  std::vector<Requests> requests_;  // beside it
};

}  // namespace foretrace::explain
