#include "cli/standstill.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "cli/call_places.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {
namespace {

constexpr std::chrono::seconds kBetweenLooks{5};
constexpr int kLooks = 4;  // that are alike
constexpr int kMostTold = 16;

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
    if (alike == kLooks) return tell();
  }
}

std::vector<std::uint64_t> StandstillWatch::look() const {
  try {
    const trace::TraceReader reader(trace_);
    std::vector<std::uint64_t> written;
    for (int r = 0; r < reader.ranks(); ++r) {
      if (!reader.is_in_call(WorldRank(r))) return {};
      written.push_back(reader.bytes(WorldRank(r)));
    }
    return written;
  } catch (const Error&) {  // not there yet, or not any more
    return {};
  }
}

void StandstillWatch::tell() const {
  try {
    trace::TraceReader reader(trace_);
    std::string text = "foretrace: no rank has gone on for " +
                       std::to_string((kLooks - 1) * std::chrono::seconds(kBetweenLooks).count()) +
                       " seconds:\n";
    for (int r = 0; r < std::min(reader.ranks(), kMostTold); ++r) {
      const WorldRank rank(r);
      trace::Event event;
      std::uint64_t events = 1;
      while (reader.next(rank, event)) ++events;
      const std::string* call = reader.open_call(rank);
      if (!call) return;  // it has gone on
      const trace::Site* site = reader.open_site(rank);
      text += "foretrace:   rank " + std::to_string(r) + " is in " + *call + " (event " +
              std::to_string(events) + ")" + (site ? " at " + place_teller()(*site) : "") + "\n";
    }
    if (reader.ranks() > kMostTold)
      text += "foretrace:   and so are " + std::to_string(reader.ranks() - kMostTold) + " more\n";
    text += "foretrace: calls that do not belong together wait for ever; Ctrl-C ends the run\n";
    std::fputs(text.c_str(), stderr);
  } catch (const Error&) {  // the run has just ended
  }
}

}  // namespace foretrace::cli
