// What `foretrace watch` shows of a run under way: a line for the terminal, JSON for the page.
// Draws only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analysis/running.hpp"

namespace foretrace::views {

struct WatchState {
  double seconds = 0;  // since the run was started
  bool ended = false;
  std::map<int, int> stopped;  // ranks that a signal has stopped, with their processes
  std::string picture;         // its version; empty: there is none
  analysis::RunningRun run;    // empty: nothing is known yet
};

// One line without its end: who computes, who is in which call, who is stopped, whom most wait
// for.
std::string watch_line(const WatchState& state);

// One object: seconds, ended, line, clock, picture, compute (seconds), functions (array of name,
// calls, seconds), messages (array of from, to, messages, bytes; those that moved most), ranks
// (array of rank, doing, call, place, phase, calls, sent, bytes, waits, waits_for, guessed, unread,
// process where it is stopped).
std::string watch_json(const WatchState& state);

// The page, which asks for "state" beside it. Empty when this build has no page. Defined in
// a generated source (web/CMakeLists.txt).
std::string_view watch_page();

}  // namespace foretrace::views
