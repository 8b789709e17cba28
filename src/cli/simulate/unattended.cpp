#include "cli/simulate/unattended.hpp"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "trace/trace_reader.hpp"

namespace foretrace::cli {

bool has_attended_sends(const machine::MachineModel& model) {
  return machine::attended_from(model).has_value();
}

namespace {

constexpr double kLeastShare = 0.05;  // of the run

// By the rules of `timing`, which has to stay, with the ranks placed so.
analysis::UnattendedSends::IsAttended attended_by(const machine::Timing& timing,
                                                  machine::RankPaths paths) {
  const Bytes least = machine::attended_from(timing.model()).value_or(Bytes(UINT64_MAX));
  return [&timing, least, paths = std::move(paths)](WorldRank from, WorldRank to,
                                                    machine::SendMode mode, Bytes bytes) {
    if (bytes < least && mode != machine::SendMode::synchronous) return false;
    return timing.on(paths.between(from, to)).is_attended(mode, bytes);
  };
}

// One line, of a run that takes `all`; empty where it is not worth one. `place` may be empty.
std::string note_of(const analysis::Unattended& found, Time all, std::string_view function,
                    const std::string& place) {
  if (found.early.seconds() < kLeastShare * all.seconds()) return {};
  return fmt::format(
      "rank {}'s sends are over here before their receivers come to MPI, by {:.3g} s in all, "
      "most in {}{} for rank {}; the measured MPI ends sends of this size only while the receiver "
      "is in a call (P in the machine model): the run may take longer by that, or by little where "
      "ranks only shift against each other",
      found.rank.value, found.early.seconds(), function, place.empty() ? "" : " at " + place,
      found.receiver.value);
}

}  // namespace

// The ranks' events in turn, by time, so that little has to be kept.
std::string note_of_unattended(const std::string& path, const machine::Timing& timing, Time all,
                               const trace::TellPlace& tell) {
  if (!has_attended_sends(timing.model())) return {};
  trace::TraceReader reader(path);
  machine::Placement placement;
  for (const std::int32_t node : reader.info().nodes) placement.emplace_back(node);
  const auto name_of = [&reader](WorldRank rank, trace::NameId name) -> std::string_view {
    return reader.name(rank, name);
  };
  analysis::UnattendedSends sends(
      reader.ranks(), attended_by(timing, machine::RankPaths(std::move(placement))), name_of);
  using Turn = std::pair<Time, std::int32_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::int32_t rank = 0; rank < reader.ranks(); ++rank) turns.emplace(Time(), rank);
  trace::Event event;
  while (!turns.empty()) {
    const WorldRank rank(turns.top().second);
    turns.pop();
    if (!reader.next(rank, event)) continue;
    sends.add(rank, event, event.enter, event.leave, event.wait, event.completions);
    turns.emplace(event.leave, rank.value);
  }
  const auto found = sends.most(all);
  if (!found) return {};
  return note_of(*found, all, reader.name(found->rank, found->name),
                 found->site ? tell(reader.site(found->rank, found->site)) : std::string());
}

UnattendedSink::UnattendedSink(const sim::Source& source, const machine::MachineModel& model,
                               const machine::Placement& placement)
    : source_(source),
      timing_(model, machine::Bound::avg),
      sends_(source.ranks(), attended_by(timing_, machine::RankPaths(placement)),
             [&source](WorldRank, trace::NameId name) { return source.name(name); }) {}

void UnattendedSink::finished(WorldRank rank, const sim::Operation& operation,
                              const sim::Interval& interval) {
  sends_.add(rank, operation, interval.enter, interval.leave, interval.wait, operation.completions);
}

std::string UnattendedSink::note(Time all, const trace::TellPlace& tell) const {
  const auto found = sends_.most(all);
  if (!found) return {};
  return note_of(*found, all, source_.name(found->name),
                 found->site ? tell(source_.site(found->site)) : std::string());
}

}  // namespace foretrace::cli
