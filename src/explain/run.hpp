// Run: a simulated run as explain sees it: each rank's calls, their phases, and the
// graph of what determined their times.
//
// Filled by a simulation (sim::SimulateOptions::dependences, and RunSink as its
// sink). Everything else in this part reads it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "explain/open_phases.hpp"
#include "sim/dependences.hpp"
#include "sim/packed_rows.hpp"
#include "sim/sink.hpp"

namespace foretrace::explain {

// Index into Run::phases; 0 is what lies in no phase.
using PhaseId = std::uint32_t;

// All calls of one function at one call site in one phase.
using PlaceId = std::uint32_t;
struct PlaceKey {
  trace::NameId name = 0;
  trace::SiteId site = 0;
  PhaseId phase = 0;  // innermost one that is open before the call
  auto operator<=>(const PlaceKey&) const = default;
};

struct Call {
  trace::EventKind kind = trace::EventKind::call;
  machine::Cost collective = machine::Cost::kCount;
  PlaceId place = 0;
  Time compute;  // before it
  sim::MomentId enter = sim::kNoMoment;
  sim::MomentId leave = sim::kNoMoment;  // of its last step
};

// Those of a rank. A large run has many.
class Calls {
 public:
  class Iterator {
   public:
    Iterator(const Calls& calls, std::size_t at) : calls_(&calls), at_(at) {}
    Call operator*() const { return (*calls_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Calls* calls_;
    std::size_t at_;
  };

  std::size_t size() const { return rows_.size(); }
  bool empty() const { return size() == 0; }
  Call operator[](std::size_t i) const {
    Call call;
    call.kind = static_cast<trace::EventKind>(rows_.get(i, kKind));
    call.collective = static_cast<machine::Cost>(rows_.get(i, kCollective));
    call.place = static_cast<PlaceId>(rows_.get(i, kPlace));
    call.compute = compute(i);
    call.enter = enter(i);
    call.leave = call.enter + static_cast<sim::MomentId>(rows_.get(i, kLength));
    return call;
  }
  Time compute(std::size_t i) const {
    return Time::ps(static_cast<std::int64_t>(rows_.get(i, kCompute)));
  }
  sim::MomentId enter(std::size_t i) const {
    return static_cast<sim::MomentId>(rows_.get(i, kEnter));
  }
  Call back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  void push_back(const Call& call) {
    rows_.push_back({static_cast<std::uint64_t>(call.kind),
                     static_cast<std::uint64_t>(call.collective), call.place,
                     static_cast<std::uint64_t>(call.compute.count_ps()), call.enter,
                     call.leave - call.enter});
  }
  void shrink_to_fit() { rows_.shrink_to_fit(); }

 private:
  enum Column : std::size_t {
    kKind,
    kCollective,
    kPlace,
    kCompute,
    kEnter,
    kLength,  // moments from the enter to the leave
    kColumns
  };
  // Each rank has a block that is not packed yet.
  static constexpr std::size_t kRowsOfBlock = std::size_t{1} << 11;
  sim::PackedRows<kColumns, kRowsOfBlock> rows_;
};

// One collective in which all wait for all, carried out as messages.
struct Walked {
  std::uint32_t operation = 0;  // of the rank
  std::uint32_t instance = 0;   // index into Run::first_leaves
};

// Where a pass over the graph keeps what it knows of a moment: in a place that is free again
// after the last moment that depends on it, so that there are far fewer places than moments.
class Slots {
 public:
  std::uint32_t of(sim::MomentId id) const { return static_cast<std::uint32_t>(rows_.get(id, 0)); }
  // Of the next moment.
  void add(std::uint32_t slot) {
    rows_.push_back({slot});
    count_ = std::max(count_, slot + 1);
  }
  std::uint32_t count() const { return count_; }

 private:
  sim::PackedRows<1> rows_;
  std::uint32_t count_ = 0;
};

struct Run {
  sim::Dependences graph;
  std::vector<Calls> calls;         // by rank, up to MPI_Finalize
  std::vector<std::string> phases;  // 0: ""
  std::vector<PlaceKey> places;
  std::vector<bool> in_files;       // by place: its function is one of files
  std::vector<sim::MomentId> ends;  // by rank: when its program ends; kNoMoment: it has none
  Time time;                        // the latest of them
  std::uint64_t wildcards = 0;      // receives from any source
  Slots slots;                      // those of the ends are theirs alone
  // By rank: its calls in which all ranks wait for all.
  std::vector<std::vector<std::uint32_t>> meetings;
  std::vector<std::vector<Walked>> walked;  // by rank
  std::vector<Time> first_leaves;           // when the first of its members left

  int ranks() const { return static_cast<int>(calls.size()); }
  // The call to which a moment belongs; not for LinkKind::gather's target.
  Call call_of(const sim::Moment& moment) const {
    return calls[static_cast<std::size_t>(moment.rank.value)][moment.operation];
  }
  PhaseId phase_of(const Call& call) const { return places[call.place].phase; }
  // The call whose computation ends with the moment, unless it is none of the run.
  std::optional<Call> call_begun(sim::MomentId id, const sim::Moment& moment) const;
  // When the first member left the one of `walked` in which the moment lies; Time::max(): it
  // lies in none.
  Time first_leave(const sim::Moment& moment) const;
};

// Gives a Run its calls. After the simulation finish() settles the rest.
class RunSink : public sim::Sink {
 public:
  // Both must live as long.
  RunSink(const sim::Source& source, Run& run);
  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override;
  void finish();

 private:
  PhaseId phase_named(trace::NameId name);
  PlaceId number_of(const PlaceKey& key);
  bool meets_all(const Call& call) const;
  void add_walked_meetings();
  void note_walked(std::size_t rank, const sim::Operation& operation, const Call& call);
  void follow_phase(std::size_t rank, const sim::Operation& operation);

  const sim::Source* source_;
  Run* run_;
  std::vector<OpenPhases<PhaseId>> open_;  // by rank
  std::vector<bool> finalized_;
  std::vector<PhaseId> phase_numbers_;  // by name; 0: not known yet
  std::map<PlaceKey, PlaceId> place_numbers_;
  std::map<std::string, trace::SiteId> shown_sites_;  // by their words: the first of them
  // Of collectives that are carried out as messages: by rank and communicator how many,
  // and their number among those of all ranks.
  std::vector<std::map<trace::CommId, std::uint32_t>> walked_on_;
  std::map<std::pair<trace::CommId, std::uint32_t>, std::uint32_t> instances_;
};

}  // namespace foretrace::explain
