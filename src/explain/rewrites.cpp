#include "explain/rewrites.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::explain {

using trace::EventKind;

namespace {

// No phase: a name that no source has.
constexpr trace::NameId kNoPhase = UINT32_MAX;

}  // namespace

RewrittenSource::RewrittenSource(std::unique_ptr<sim::Source> source, const Rewrites& rewrites)
    : source_(std::move(source)),
      rewrites_(&rewrites),
      streams_(static_cast<std::size_t>(source_->ranks())) {
  for (std::size_t r = 0; r < streams_.size(); ++r)
    streams_[r].change = rewrites.of(WorldRank(static_cast<std::int32_t>(r))).begin();
}

void RewrittenSource::apply(Stream& stream, const Change& change, const sim::Operation& operation) {
  for (const Made& made : change.early) {
    stream.ready.push_back(made);
    stream.ready.back().operation.compute = Time();
  }
  Time before = operation.compute;
  for (const Made& made : change.late) {
    stream.ready.push_back(made);
    stream.ready.back().operation.compute = std::exchange(before, Time());
  }
  if (!change.gone) {
    stream.ready.emplace_back(operation);
    stream.ready.back().operation.compute = std::exchange(before, Time());
  }
  // What was carried on until here comes before all that is made here.
  if (!stream.ready.empty())
    stream.ready.front().operation.compute += std::exchange(stream.carried, Time());
  stream.carried += before;
}

bool RewrittenSource::next(WorldRank rank, sim::Operation& operation) {
  Stream& stream = streams_[static_cast<std::size_t>(rank.value)];
  const Rewrites::Changes& changes = rewrites_->of(rank);
  while (stream.ready.empty()) {
    if (!source_->next(rank, operation)) return false;
    const std::uint32_t call = stream.call++;
    if (stream.change == changes.end() || stream.change->first != call) {
      operation.compute += std::exchange(stream.carried, Time());
      return true;
    }
    apply(stream, (stream.change++)->second, operation);
  }
  stream.current = std::move(stream.ready.front());
  stream.ready.pop_front();
  operation = stream.current.operation;
  operation.completions = stream.current.completions;
  return true;
}

bool Chooser::chooses(const sim::Operation& operation) {
  const trace::NameId phase = open_.innermost(kNoPhase);
  const auto [entry, added] = known_.try_emplace({operation.name, operation.site, phase});
  if (added)
    entry->second =
        places_(Place{std::string(source_->name(operation.name)),
                      operation.site == 0 ? std::string() : source_->describe_site(operation.site),
                      phase == kNoPhase ? std::string() : std::string(source_->name(phase))});
  const bool chosen = entry->second;
  if (operation.kind == EventKind::phase_begin) open_.begin(operation.name);
  if (operation.kind == EventKind::phase_end)
    open_.end(operation.name, !source_->name(operation.name).empty());
  return chosen;
}

bool is_barrier(EventKind kind, machine::Cost collective, std::string_view function) {
  return kind == EventKind::collective && collective == machine::Cost::barrier &&
         mpi_api::is_in_any(function, {"barriers"});
}

Rewrites without_barriers(sim::Source& source) {
  Rewrites rewrites(source.ranks());
  for (int r = 0; r < source.ranks(); ++r) {
    const WorldRank rank(r);
    sim::Operation operation;
    for (std::uint32_t call = 0; source.next(rank, operation); ++call) {
      if (!is_barrier(operation.kind, operation.collective, source.name(operation.name))) continue;
      rewrites.at(rank, call).gone = true;
      rewrites.note_change();
    }
  }
  return rewrites;
}

namespace {

// A collective of all members: its number on its communicator.
using Instance = std::pair<trace::CommId, std::uint64_t>;

// Calls `visit(rank, call, operation, instance)` for each collective call.
template <class Visit>
void each_collective(sim::Source& source, Visit visit) {
  for (int r = 0; r < source.ranks(); ++r) {
    const WorldRank rank(r);
    std::map<trace::CommId, std::uint64_t> numbers;
    sim::Operation operation;
    for (std::uint32_t call = 0; source.next(rank, operation); ++call) {
      const bool collective =
          operation.kind == EventKind::collective || operation.kind == EventKind::icollective;
      visit(rank, call, operation,
            collective ? Instance(operation.comm, numbers[operation.comm]++) : Instance());
    }
  }
}

// Its number among those of the collective, from 1; 0: it has none of that name.
std::uint32_t number_of(machine::Cost collective, const std::string& name) {
  const auto& all = sim::algorithms_for(collective);
  const auto found = std::ranges::find(all, name, &sim::Algorithm::name);
  return found == all.end() ? 0 : static_cast<std::uint32_t>(found - all.begin()) + 1;
}

[[noreturn]] void refuse_algorithm(const std::set<machine::Cost>& collectives,
                                   const std::string& name) {
  std::string list;
  for (const machine::Cost collective : collectives) {
    list += (list.empty() ? "" : "; ") + std::string(machine::name_of(collective)) + ": ";
    std::string names;
    for (const sim::Algorithm& one : sim::algorithms_for(collective))
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    list += names.empty() ? "none" : names;
  }
  if (collectives.empty()) throw UsageError("--collective: there is no collective at that place");
  throw UsageError("--collective: no algorithm is called " + name + "; there is for " + list);
}

}  // namespace

Rewrites with_algorithm(const Open& open, const CallChoice& meant, const std::string& algorithm) {
  std::set<Instance> instances;
  each_collective(*open(), [&](WorldRank rank, std::uint32_t call, const sim::Operation& operation,
                               const Instance& instance) {
    if (meant(rank, call, operation) && operation.kind == EventKind::collective)
      instances.insert(instance);
  });
  const std::unique_ptr<sim::Source> source = open();
  Rewrites rewrites(source->ranks());
  std::set<machine::Cost> collectives;
  each_collective(*source, [&](WorldRank rank, std::uint32_t call, const sim::Operation& operation,
                               const Instance& instance) {
    if (operation.kind != EventKind::collective || !instances.contains(instance)) return;
    collectives.insert(operation.collective);
    const std::uint32_t number = number_of(operation.collective, algorithm);
    if (number == 0) return;
    Change& change = rewrites.at(rank, call);
    change.gone = true;
    Made made(operation);
    made.operation.algorithm = number;
    change.late.push_back(std::move(made));
    rewrites.note_change();
  });
  if (rewrites.changed() == 0) refuse_algorithm(collectives, algorithm);
  return rewrites;
}

Rewrites with_algorithm_at(const Open& open, const PlaceSet& places, const std::string& algorithm) {
  const std::unique_ptr<sim::Source> names = open();
  Chooser chooser(*names, places);
  std::int32_t last = -1;
  const CallChoice meant = [&](WorldRank rank, std::uint32_t, const sim::Operation& operation) {
    if (std::exchange(last, rank.value) != rank.value) chooser.begin_rank();
    return chooser.chooses(operation);
  };
  return with_algorithm(open, meant, algorithm);
}

}  // namespace foretrace::explain
