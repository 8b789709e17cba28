// Rewrites: calls of a run that are left out, replaced or made elsewhere, and the source
// that hands the engine the operations that come of it.
//
// A rewrite is found in one or more passes over the operations (merge_messages.hpp,
// posting.hpp, and those below); what it brings only a simulation tells. Rewrites can be
// laid over each other: each reads the operations that the ones before it made.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/explanation.hpp"
#include "explain/open_phases.hpp"
#include "sim/source.hpp"

namespace foretrace::explain {

// Opens the operations from their beginning. They have the same numbers for names,
// communicators and sites each time.
using Open = std::function<std::unique_ptr<sim::Source>()>;
// Which calls are meant.
using PlaceSet = std::function<bool(const Place&)>;

// An operation with the storage of its completions.
struct Made {
  Made() = default;
  explicit Made(const sim::Operation& from)
      : operation(from), completions(from.completions.begin(), from.completions.end()) {}

  sim::Operation operation;
  std::vector<trace::Completion> completions;
};

// What becomes of one call.
struct Change {
  std::vector<Made> early;  // made before the computation that precedes the call
  std::vector<Made> late;   // after it, before the call
  bool gone = false;        // the call itself is not made
};

class Rewrites {
 public:
  explicit Rewrites(int ranks) : changes_(static_cast<std::size_t>(ranks)) {}

  using Changes = std::map<std::uint32_t, Change>;  // by number of the call on its rank
  Change& at(WorldRank rank, std::uint32_t call) {
    return changes_[static_cast<std::size_t>(rank.value)][call];
  }
  const Changes& of(WorldRank rank) const { return changes_[static_cast<std::size_t>(rank.value)]; }
  void note_change() { ++changed_; }
  // How many calls were changed: left out, replaced, or made otherwise.
  std::uint64_t changed() const { return changed_; }

 private:
  std::vector<Changes> changes_;  // by rank
  std::uint64_t changed_ = 0;
};

// The operations of `source`, rewritten.
class RewrittenSource : public sim::Source {
 public:
  // `rewrites` must live as long.
  RewrittenSource(std::unique_ptr<sim::Source> source, const Rewrites& rewrites);

  int ranks() const override { return source_->ranks(); }
  bool next(WorldRank rank, sim::Operation& operation) override;
  bool races() const override { return source_->races(); }
  // The steps that stand before a call that is gone are there as time alone.
  bool tells_all_computation() const override { return false; }
  bool posts_collectives() const override { return source_->posts_collectives(); }
  bool messages_race() const override { return source_->messages_race(); }
  std::string_view name(trace::NameId id) const override { return source_->name(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return source_->comm(id); }
  const trace::Site& site(trace::SiteId id) const override { return source_->site(id); }
  std::string describe_site(trace::SiteId id) const override { return source_->describe_site(id); }
  std::string place(WorldRank rank) const override { return source_->place(rank); }
  std::string end_reason(WorldRank rank) const override { return source_->end_reason(rank); }

 private:
  struct Stream {
    std::uint32_t call = 0;  // of `source_`, the next
    Rewrites::Changes::const_iterator change;
    std::deque<Made> ready;
    Made current;
    Time carried;  // computation before calls that are gone
  };
  void apply(Stream& stream, const Change& change, const sim::Operation& operation);

  std::unique_ptr<sim::Source> source_;
  const Rewrites* rewrites_;
  std::vector<Stream> streams_;
};

// Says of each operation whether it is meant. To be asked of a rank's operations in their
// order.
class Chooser {
 public:
  Chooser(const sim::Source& source, PlaceSet places)
      : source_(&source), places_(std::move(places)) {}
  void begin_rank() { open_.clear(); }
  bool chooses(const sim::Operation& operation);

 private:
  const sim::Source* source_;
  PlaceSet places_;
  OpenPhases<trace::NameId> open_;
  std::map<std::tuple<trace::NameId, trace::SiteId, trace::NameId>, bool> known_;
};

// Whether a call of that function is MPI_Barrier. Fences, and calls on windows, files and
// communicators in which all members wait for all, cost as much as one, and are none.
bool is_barrier(trace::EventKind kind, machine::Cost collective, std::string_view function);

// Without any MPI_Barrier.
Rewrites without_barriers(sim::Source& source);

// Says of a rank's calls, each with its number, whether they are meant; asked of all of them in
// their order.
using CallChoice = std::function<bool(WorldRank, std::uint32_t, const sim::Operation&)>;

// Collectives carried out by the algorithm of that name. A collective is meant if any of
// its members' calls is. Throws UsageError for a name that one of them has no algorithm of.
// Uses one source after the other.
Rewrites with_algorithm(const Open& open, const CallChoice& meant, const std::string& algorithm);
// Those whose calls are made at the places.
Rewrites with_algorithm_at(const Open& open, const PlaceSet& places, const std::string& algorithm);

}  // namespace foretrace::explain
