// LiveSource: how ranks come to their ends, and how it is told that they do not go on.
#include <algorithm>
#include <cstring>
#include <ranges>

#include "live/live_source.hpp"
#include "shared/looks.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

std::string describe(const Ended& end) {
  if (end.signal != 0)
    return "killed by signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
  return "exited with status " + std::to_string(end.status) + " without MPI_Finalize";
}

}  // namespace

// The last of the processes has ended, and MPI was no part of any.
void LiveSource::end_if_none_came() {
  if (any_started() || processes_.started() < processes_.wanted() ||
      !std::ranges::all_of(states_ | std::views::take(processes_.wanted()), &Rank::gone))
    return;
  throw RunEnded{std::max(first_failure(), 1),
                 "no rank came to MPI_Init; does the program use the MPI that --mpi names?"};
}

// The end of a process: of its stream if it finalised or never came to MPI,
// else the end of the run. Programs that leave with status 0 have done what they wanted.
bool LiveSource::end_of(WorldRank rank, sim::Operation& operation) {
  Rank& of = state(rank);
  end_if_none_came();
  if (of.reported || !went(rank)) return false;
  of.reported = true;
  of.record = Record();
  of.site = 0;
  operation = sim::Operation();
  if (!died(rank)) {
    operation.kind = EventKind::finalize;
    operation.name = name_number("MPI_Finalize");
    of.finalized = true;
    without_finalize_.push_back(rank);
    return true;
  }
  operation.kind = EventKind::aborted;
  operation.code = of.end.signal != 0 ? of.end.signal : -of.end.status - 1;
  of.record.kind = static_cast<std::uint8_t>(EventKind::aborted);
  of.record.code = of.end.signal != 0 ? 128 + of.end.signal : std::max(of.end.status, 1);
  message_ = "rank " + std::to_string(rank.value) + ": " + describe(of.end);
  operation.name = name_number("MPI_Abort");
  return true;
}

// Loops that look also read the clock.
bool LiveSource::reads_clock(const sim::Operation& operation) const {
  return operation.kind == EventKind::call && name(operation.name) == "MPI_Wtime";
}

// What an operation that is over says of whether the run goes on.
void LiveSource::note_end(WorldRank rank, const sim::Operation& operation, bool found) {
  if (operation.kind == EventKind::finalize) return standstill_.leaves(rank);
  if (is_look(state(rank).record)) {
    if (found) return standstill_.goes_on(rank);
    const Record& record = state(rank).record;
    std::uint32_t looks = record.posting == Posting::vain_looks ? record.list_count : 1;
    for (; looks > 0; --looks)
      if (standstill_.looks_in_vain(rank) && tell_standstill_) tell_standstill_();
  } else if (!reads_clock(operation)) {
    standstill_.goes_on(rank);
  }
}

std::string LiveSource::end_reason(WorldRank rank) const {
  const Rank& of = states_[static_cast<std::size_t>(rank.value)];
  if (!of.initialized) return "it ended without MPI_Init";
  return of.gone && !of.finalized ? describe(of.end) : std::string();
}

std::string LiveSource::last_call(WorldRank rank) const {
  const Rank& of = states_[static_cast<std::size_t>(rank.value)];
  if (!of.initialized) return {};
  const std::string place = describe_site(of.last_site);
  return std::string(name(of.last_name)) + (place.empty() ? "" : " at " + place);
}

bool LiveSource::is_finalized(WorldRank rank) const {
  return states_[static_cast<std::size_t>(rank.value)].finalized;
}

std::string LiveSource::left_without_finalize() const {
  if (without_finalize_.empty()) return {};
  const int first = std::ranges::min(without_finalize_).value;
  const std::size_t others = without_finalize_.size() - 1;
  return "rank " + std::to_string(first) +
         (others == 0 ? ""
                      : " and " + std::to_string(others) + (others == 1 ? " other" : " others")) +
         " ended without MPI_Finalize";
}

bool LiveSource::any_started() const {
  return std::ranges::any_of(states_, &Rank::initialized);
}

int LiveSource::first_failure() const {
  for (const Rank& of : states_)
    if (of.end.signal != 0 || of.end.status != 0)
      return of.end.signal != 0 ? 128 + of.end.signal : of.end.status;
  return 0;
}

}  // namespace foretrace::live
