// Looks at a run while it is under way, from a thread of its own: what `watch` and --watch do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace foretrace::cli {

struct WatcherOptions {
  bool on = false;      // --watch
  double every = 2;     // seconds between lines in the terminal
  bool browser = true;  // serve the page
  std::string picture;  // a file that the program writes, to be shown on the page; empty: none
};

// --every, --no-browser and --picture, and `watch` before them where others need it.
void add_watcher_details(CLI::App& app, WatcherOptions& options, CLI::Option* watch = nullptr);
// --watch, and those.
void add_watcher_options(CLI::App& app, WatcherOptions& options);

// Ranks and their processes on this host.
using RankProcesses = std::map<int, int>;

class Watcher {
 public:
  // Of the run that writes `output`. Says a line on standard error now and then, and whenever a
  // rank is stopped or goes on. Serves the page too, where that is wanted; its address is said at
  // once. `processes`: whoever knows them; else they are looked for. Throws Error where the page
  // cannot be served.
  Watcher(const std::string& output, const WatcherOptions& options,
          std::function<RankProcesses()> processes = {});
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::cli
