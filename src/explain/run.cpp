#include "explain/run.hpp"

#include <algorithm>

#include "mpi_api/groups.hpp"

namespace foretrace::explain {

using trace::EventKind;

RunSink::RunSink(const sim::Source& source, Run& run)
    : source_(&source),
      run_(&run),
      open_(static_cast<std::size_t>(source.ranks())),
      finalized_(static_cast<std::size_t>(source.ranks())),
      walked_on_(static_cast<std::size_t>(source.ranks())) {
  run.calls.assign(static_cast<std::size_t>(source.ranks()), {});
  run.phases.assign(1, "");
  run.meetings.assign(static_cast<std::size_t>(source.ranks()), {});
  run.walked.assign(static_cast<std::size_t>(source.ranks()), {});
}

namespace {

bool all_wait_for_all(const Call& call) {
  return call.kind == EventKind::collective &&
         machine::dependence_of(call.collective) == machine::Dependence::all_for_all;
}

Slots find_slots(const sim::Dependences& graph, const std::vector<sim::MomentId>& ends) {
  const auto each_before = [&graph](sim::MomentId id, const auto& what) {
    for (const sim::Link& link : graph.links(id)) what(link.from);
    if (const sim::Moment moment = graph[id]; moment.kind == sim::MomentKind::leave)
      what(moment.enter);
  };
  std::vector<sim::MomentId, SpillAllocator<sim::MomentId>> last(graph.size());  // that needs it
  for (sim::MomentId id = 0; id < graph.size(); ++id) {
    last[id] = id;
    each_before(id, [&](sim::MomentId before) { last[before] = id; });
  }
  for (const sim::MomentId end : ends)
    if (end != sim::kNoMoment) last[end] = sim::kNoMoment;
  Slots slots;
  std::vector<std::uint32_t> free;
  for (sim::MomentId id = 0; id < graph.size(); ++id) {
    if (free.empty()) free.push_back(slots.count());
    slots.add(free.back());
    free.pop_back();
    const auto let_go = [&](sim::MomentId one) {
      if (last[one] != id) return;
      free.push_back(slots.of(one));
      last[one] = sim::kNoMoment;
    };
    each_before(id, let_go);
    let_go(id);
  }
  return slots;
}

}  // namespace

std::optional<Call> Run::call_begun(sim::MomentId id, const sim::Moment& moment) const {
  if (moment.kind != sim::MomentKind::enter) return std::nullopt;
  const Calls& mine = calls[static_cast<std::size_t>(moment.rank.value)];
  // What follows MPI_Finalize has no call; nobody waits for it.
  if (moment.operation >= mine.size() || mine.enter(moment.operation) != id) return std::nullopt;
  return mine[moment.operation];
}

Time Run::first_leave(const sim::Moment& moment) const {
  const auto& mine = walked[static_cast<std::size_t>(moment.rank.value)];
  const auto found = std::ranges::lower_bound(mine, moment.operation, {}, &Walked::operation);
  const bool walks = found != mine.end() && found->operation == moment.operation;
  return walks ? first_leaves[found->instance] : Time::max();
}

void RunSink::note_walked(std::size_t rank, const sim::Operation& operation, const Call& call) {
  if (!all_wait_for_all(call)) return;
  const sim::Moment& left = run_->graph[call.leave];
  if (left.enter == call.enter) return;  // one operation
  const std::uint32_t number = walked_on_[rank][operation.comm]++;
  const auto [entry, added] = instances_.try_emplace(
      {operation.comm, number}, static_cast<std::uint32_t>(run_->first_leaves.size()));
  if (added)
    run_->first_leaves.push_back(left.at);
  else
    run_->first_leaves[entry->second] = std::min(run_->first_leaves[entry->second], left.at);
  run_->walked[rank].push_back(
      {static_cast<std::uint32_t>(run_->calls[rank].size()), entry->second});
}

// As one operation.
bool RunSink::meets_all(const Call& call) const {
  if (!all_wait_for_all(call)) return false;
  for (const sim::Link& link : run_->graph.links(call.leave))
    if (link.kind == sim::LinkKind::collective)
      return run_->graph.links(link.from).size() == run_->calls.size();
  return false;
}

// Those that are carried out as messages: only at the end it is known how many took part.
void RunSink::add_walked_meetings() {
  std::vector<std::size_t> members(run_->first_leaves.size());
  for (const auto& mine : run_->walked)
    for (const Walked& one : mine) ++members[one.instance];
  for (std::size_t r = 0; r < run_->walked.size(); ++r) {
    for (const Walked& one : run_->walked[r])
      if (members[one.instance] == run_->calls.size()) run_->meetings[r].push_back(one.operation);
    std::ranges::sort(run_->meetings[r]);
  }
}

PhaseId RunSink::phase_named(trace::NameId name) {
  if (name >= phase_numbers_.size()) phase_numbers_.resize(name + std::size_t{1});
  PhaseId& number = phase_numbers_[name];
  if (number != 0) return number;
  const std::string text(source_->name(name));
  const auto found = std::ranges::find(run_->phases, text);
  number = static_cast<PhaseId>(found - run_->phases.begin());
  if (found == run_->phases.end()) run_->phases.push_back(text);
  return number;
}

PlaceId RunSink::number_of(const PlaceKey& key) {
  const auto [entry, added] =
      place_numbers_.try_emplace(key, static_cast<PlaceId>(run_->places.size()));
  if (!added) return entry->second;
  // Calls to one function from one line are one place, as in a report.
  PlaceKey shown = key;
  const std::string text = key.site == 0 ? std::string() : source_->describe_site(key.site);
  if (!text.empty()) shown.site = shown_sites_.try_emplace(text, key.site).first->second;
  if (shown != key) return entry->second = number_of(shown);
  static const mpi_api::Group* const io = mpi_api::find_group("io");
  run_->places.push_back(key);
  run_->in_files.push_back(mpi_api::is_in(*io, source_->name(key.name)));
  return entry->second;
}

void RunSink::follow_phase(std::size_t rank, const sim::Operation& operation) {
  const PhaseId phase = phase_named(operation.name);
  if (operation.kind == EventKind::phase_begin)
    open_[rank].begin(phase);
  else
    open_[rank].end(phase, !run_->phases[phase].empty());
}

void RunSink::finished(WorldRank rank, const sim::Operation& operation,
                       const sim::Interval& interval) {
  const auto r = static_cast<std::size_t>(rank.value);
  if (finalized_[r]) return;
  finalized_[r] = operation.kind == EventKind::finalize;
  const bool receives = operation.kind == EventKind::recv || operation.kind == EventKind::irecv ||
                        operation.kind == EventKind::sendrecv;
  if (receives && operation.recv.any_source) ++run_->wildcards;
  Call call;
  call.kind = operation.kind;
  call.collective = operation.collective;
  call.place = number_of({operation.name, operation.site, open_[r].innermost(0)});
  call.compute = interval.compute;
  call.enter = run_->graph.last_enter(rank);
  call.leave = run_->graph.last_leave(rank);
  if (meets_all(call))
    run_->meetings[r].push_back(static_cast<std::uint32_t>(run_->calls[r].size()));
  note_walked(r, operation, call);
  run_->calls[r].push_back(call);
  if (operation.kind == EventKind::phase_begin || operation.kind == EventKind::phase_end)
    follow_phase(r, operation);
}

void RunSink::finish() {
  run_->ends.assign(run_->calls.size(), sim::kNoMoment);
  run_->time = Time();
  for (std::size_t r = 0; r < run_->calls.size(); ++r) {
    if (run_->calls[r].empty()) continue;
    const Call last = run_->calls[r].back();
    run_->ends[r] = last.kind == EventKind::finalize ? last.enter : last.leave;
    run_->time = std::max(run_->time, run_->graph[run_->ends[r]].at);
  }
  run_->graph.finish();
  add_walked_meetings();
  for (auto& calls : run_->calls) calls.shrink_to_fit();
  run_->slots = find_slots(run_->graph, run_->ends);
}

}  // namespace foretrace::explain
