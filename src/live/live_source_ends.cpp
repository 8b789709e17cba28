// LiveSource: how ranks come to their ends, and how it is told that they do not go on.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ranges>

#include "live/live_source.hpp"
#include "shared/looks.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

volatile std::sig_atomic_t stop_signal = 0;
constexpr std::array kPassedOn{SIGUSR1, SIGUSR2};
std::array<std::atomic<bool>, 2> asked_to_pass;  // those, since the last heed_signals()

// "rank 3", "ranks 3 and 5", "rank 3 and 2 others"; of one at least.
std::string first_and_others(const std::vector<WorldRank>& ranks) {
  const auto [first, last] = std::ranges::minmax(ranks);
  const std::string name = std::to_string(first.value);
  if (ranks.size() == 1) return "rank " + name;
  if (ranks.size() == 2) return "ranks " + name + " and " + std::to_string(last.value);
  return "rank " + name + " and " + std::to_string(ranks.size() - 1) + " others";
}

}  // namespace

void take_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    if (signal == SIGUSR1 || signal == SIGUSR2)
      asked_to_pass[signal == kPassedOn[1] ? 1 : 0] = true;
    else
      stop_signal = signal;
    ring_bell();
  };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  for (const int signal : kPassedOn) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    // What is ignored stays so, in the ranks as well.
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

// Whether the rank's process ended before MPI_Finalize.
bool LiveSource::went(WorldRank rank) const {
  Slot& line = slot(rank);
  const std::uint32_t posted = line.posted.load(std::memory_order_acquire);
  return states_[static_cast<std::size_t>(rank.value)].gone &&
         (posted == 0 ||
          static_cast<EventKind>(line.posting(posted - 1).kind) != EventKind::finalize);
}

// Whether that was an error.
bool LiveSource::died(WorldRank rank) const {
  const Ended& end = states_[static_cast<std::size_t>(rank.value)].end;
  return went(rank) && (end.signal != 0 || end.status != 0);
}

// Whether the rank has come to MPI_Init.
bool LiveSource::came(WorldRank rank) const {
  return slot(rank).posted.load(std::memory_order_acquire) > 0;
}

bool LiveSource::some_came() const {
  for (int r = 0; r < ranks_; ++r)
    if (came(WorldRank(r))) return true;
  return false;
}

bool LiveSource::all_gone() const {
  return processes_.started() == processes_.wanted() &&
         std::ranges::all_of(states_ | std::views::take(processes_.wanted()), &Rank::gone);
}

// "killed by signal 11 (Segmentation fault)"
std::string LiveSource::describe_end(WorldRank rank) const {
  const Ended& end = states_[static_cast<std::size_t>(rank.value)].end;
  const std::string missing = came(rank) ? " without MPI_Finalize" : " without MPI_Init";
  if (end.signal == 0) return "exited with status " + std::to_string(end.status) + missing;
  return "killed by signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")" +
         (came(rank) ? "" : " before MPI_Init");
}

void LiveSource::heed_signals() {
  for (std::size_t i = 0; i < kPassedOn.size(); ++i)
    if (asked_to_pass[i] && asked_to_pass[i].exchange(false)) processes_.signal(kPassedOn[i]);
  if (stop_signal != 0) throw RunEnded{128 + stop_signal, "interrupted"};
  if (SharedMemory::header().refusal.load() == Refusal::said) throw RunEnded{kRefused, {}, true};
}

// A rank has failed before MPI_Init. If all do, the program may be none for this MPI.
void LiveSource::await_others() {
  while (!some_came() && !all_gone()) {
    const std::uint32_t bell = SharedMemory::header().bell.load(std::memory_order_acquire);
    look_after_processes();
    heed_signals();
    if (std::chrono::steady_clock::now() - *died_ >= kGrace) return;
    sleep(bell, kGrace);
  }
}

// The last of the processes has ended, and MPI was no part of any.
void LiveSource::end_if_none_came() {
  if (some_came() || !all_gone()) return;
  const int status = first_failure();
  const std::string what =
      status == 0 ? "no rank came to MPI_Init"
                  : "the ranks ended with status " + std::to_string(status) + " before MPI_Init";
  throw RunEnded{std::max(status, 1), what + (hint_.empty() ? "" : "; " + hint_)};
}

// The end of a process: of its stream if it finalised, or never came to MPI and did not fail;
// else the end of the run. Programs that leave with status 0 have done what they wanted.
bool LiveSource::end_of(WorldRank rank, sim::Operation& operation) {
  Rank& of = state(rank);
  if (died(rank) && !came(rank)) await_others();
  end_if_none_came();
  if (of.reported || !went(rank) || (!died(rank) && !came(rank))) return false;
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
  message_ = "rank " + std::to_string(rank.value) + ": " + describe_end(rank);
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
  return of.gone && !of.finalized ? describe_end(rank) : std::string();
}

std::string LiveSource::last_call(WorldRank rank) {
  const Rank& of = state(rank);
  if (!of.initialized) return {};
  const Slot& line = slot(rank);
  const std::uint32_t call = line.last_call.load();
  const std::uint32_t function = call & ~Slot::kLeft;
  const std::string place =
      describe_site(function == 0 ? of.last_site : site_number(line.last_site.load()));
  return (call == function ? "in " : "after ") +
         std::string(name(function == 0 ? of.last_name : function - 1)) +
         (place.empty() ? "" : " at " + place);
}

bool LiveSource::is_finalized(WorldRank rank) const {
  return states_[static_cast<std::size_t>(rank.value)].finalized;
}

std::uint64_t LiveSource::freed_requests(WorldRank rank) const {
  return states_[static_cast<std::size_t>(rank.value)].freed_requests;
}

std::string LiveSource::left_without_finalize() const {
  if (without_finalize_.empty()) return {};
  return first_and_others(without_finalize_) +
         " ended without MPI_Finalize; what was computed there after the last call of MPI is left "
         "out";
}

// The engine is done, and ranks are left that wait for those that never came to MPI.
void LiveSource::end_if_some_wait() {
  std::vector<WorldRank> missing;
  bool waits = false;
  for (int r = 0; r < processes_.wanted(); ++r) {
    const Rank& of = state(WorldRank(r));
    if (!of.initialized)
      missing.emplace_back(r);
    else if (!of.finalized)
      waits = true;
  }
  if (waits)
    throw RunEnded{1, "deadlock on the target: " + first_and_others(missing) +
                          " ended without MPI_Init, and the run waits for it"};
}

int LiveSource::first_failure() const {
  for (const Rank& of : states_)
    if (of.end.signal != 0 || of.end.status != 0)
      return of.end.signal != 0 ? 128 + of.end.signal : of.end.status;
  return 0;
}

}  // namespace foretrace::live
