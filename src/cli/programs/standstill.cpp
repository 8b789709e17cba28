#include "cli/programs/standstill.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "cli/traces/call_places.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {
namespace {

constexpr std::chrono::seconds kBetweenLooks{5};
constexpr int kLooks = 4;  // that are alike
constexpr int kMostTold = 16;

// Where the rank is that does not go on; empty: it computes. Reads all that it has written.
std::string describe_rank(trace::TraceReader& reader, WorldRank rank) {
  trace::Event event;
  std::uint64_t events = 0;
  while (reader.next(rank, event)) ++events;
  const std::string who = "foretrace:   rank " + std::to_string(rank.value);
  if (const std::string* call = reader.open_call(rank)) {
    const trace::Site* site = reader.open_site(rank);
    return who + " is in " + *call + " (event " + std::to_string(events + 1) + ")" +
           (site ? " at " + place_teller()(*site) : "") + "\n";
  }
  if (events == 0 || event.kind != trace::EventKind::finalize) return {};
  return who + " has ended: its last call was " + reader.name(rank, event.name) + " (event " +
         std::to_string(events) + ")" +
         (event.site ? " at " + place_teller()(reader.site(rank, event.site)) : "") + "\n";
}

}  // namespace

StandstillWatch::StandstillWatch(std::string trace) : trace_(std::move(trace)) {
  // Signals are the other thread's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StandstillWatch::~StandstillWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StandstillWatch::run() {
  std::unique_lock lock(mutex_);
  std::vector<std::uint64_t> before;
  int alike = 0;
  while (!changed_.wait_for(lock, kBetweenLooks, [this] { return over_; })) {
    std::vector<std::uint64_t> now = look();
    alike = !now.empty() && now == before ? alike + 1 : 1;
    before = std::move(now);
    if (alike == kLooks && tell()) return;
  }
}

std::vector<std::uint64_t> StandstillWatch::look() const {
  try {
    const trace::TraceReader reader(trace_);
    std::vector<std::uint64_t> written;
    bool some_in_call = false;
    for (int r = 0; r < reader.ranks(); ++r) {
      some_in_call = some_in_call || reader.is_in_call(WorldRank(r));
      written.push_back(reader.bytes(WorldRank(r)));
    }
    return some_in_call ? written : std::vector<std::uint64_t>();
  } catch (const Error&) {  // not there yet, or not any more
    return {};
  }
}

bool StandstillWatch::tell() const {
  try {
    trace::TraceReader reader(trace_);
    std::string text = "foretrace: no rank has gone on for " +
                       std::to_string((kLooks - 1) * std::chrono::seconds(kBetweenLooks).count()) +
                       " seconds:\n";
    int told = 0;
    // Those that have ended first: the others may wait for them.
    for (const bool in_call : {false, true}) {
      for (int r = 0; r < reader.ranks(); ++r) {
        const WorldRank rank(r);
        if (reader.is_in_call(rank) != in_call || (in_call && told >= kMostTold)) continue;
        const std::string line = describe_rank(reader, rank);
        if (line.empty()) return false;
        if (told++ < kMostTold) text += line;
      }
    }
    if (reader.ranks() > kMostTold)
      text += "foretrace:   and " + std::to_string(reader.ranks() - kMostTold) + " more\n";
    text +=
        "foretrace: calls that wait for each other, or do not belong together, never return; "
        "Ctrl-C ends the run\n";
    std::fputs(text.c_str(), stderr);
    return true;
  } catch (const Error&) {  // the run has just ended
    return true;
  }
}

}  // namespace foretrace::cli
