#include "cli/pages/watcher.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "analysis/running.hpp"
#include "base/error.hpp"
#include "cli/system/process.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/words/option_values.hpp"
#include "views/watch/watch_view.hpp"
#include "watch/picture.hpp"
#include "watch/processes.hpp"
#include "watch/server.hpp"

namespace foretrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(400);
// A look at very many ranks takes long: it has this part of the time. What the page asks for, and
// the search for stopped processes, take as much again.
constexpr int kPause = 40;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Threads that are made meanwhile get no signals: these are for whoever waits for the run.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void add_watcher_details(CLI::App& app, WatcherOptions& options, CLI::Option* watch) {
  CLI::Option* const details[] = {
      app.add_option("--every", options.every, "Watching: seconds between lines in the terminal")
          ->check(in_range(0.1, 86400.0))
          ->capture_default_str(),
      app.add_flag("!--no-browser", options.browser,
                   "Watching: say lines in the terminal only, and serve no page"),
      app.add_option("--picture", options.picture,
                     "Watching: show this picture on the page, a file that the program writes "
                     "anew or goes on with (PNG, JPEG, PGM, PPM, ...)")};
  for (CLI::Option* const one : details)
    if (watch) one->needs(watch);
}

void add_watcher_options(CLI::App& app, WatcherOptions& options) {
  CLI::Option* const watch = app.add_flag(
      "--watch", options.on,
      "Show meanwhile what the ranks do, in the terminal and on a page, as foretrace watch does");
  add_watcher_details(app, options, watch);
}

struct Watcher::Impl {
  std::string output;  // absolute
  WatcherOptions options;
  std::function<RankProcesses()> processes;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  views::WatchState state;
  std::optional<watch::Server> server;
  std::thread thread;
  std::unique_ptr<analysis::RunLook> file;  // the thread's own

  // What the page is told.
  std::string answer() {
    const std::lock_guard lock(mutex);
    return views::watch_json(state);
  }

  void look(const trace::TellPlace& tell) {
    views::WatchState now;
    now.seconds = seconds_since(start);
    const std::map<int, watch::RankProcess> found =
        processes ? watch::look_at_processes(processes()) : watch::find_processes(output);
    for (const auto& [rank, process] : found)
      if (process.stopped()) now.stopped[rank] = process.process;
    if (!options.picture.empty()) now.picture = watch::version_of_picture(options.picture);
    try {
      if (!file) file = analysis::open_run(output + ".part", tell);
      now.run = file->take();
    } catch (const Error&) {
      // Not there yet, or no more.
      file.reset();
      const std::lock_guard lock(mutex);
      now.run = state.run;
    }
    const std::lock_guard lock(mutex);
    state = std::move(now);
  }

  void watch() {
    const trace::TellPlace tell = place_teller();
    std::map<int, int> stopped;
    double said = -options.every;
    std::unique_lock lock(mutex);
    while (!stop) {
      lock.unlock();
      const auto began = Clock::now();
      look(tell);
      const auto took = Clock::now() - began;
      lock.lock();
      // What stopped is said at once.
      if (state.stopped != stopped || state.seconds - said >= options.every) {
        std::fprintf(stderr, "foretrace: %s\n", views::watch_line(state).c_str());
        said = state.seconds;
        stopped = state.stopped;
      }
      wake.wait_for(lock, std::max<Clock::duration>(kLook, took * kPause), [this] { return stop; });
    }
  }
};

Watcher::Watcher(const std::string& output, const WatcherOptions& options,
                 std::function<RankProcesses()> processes)
    : impl_(std::make_unique<Impl>()) {
  Impl* const own = impl_.get();
  own->output = std::filesystem::absolute(output).string();
  own->options = options;
  own->processes = std::move(processes);
  const NoSignals quiet;
  if (options.browser && !views::watch_page().empty()) {
    watch::Answers answers;
    answers.state = [own] { return own->answer(); };
    if (!options.picture.empty())
      answers.data["picture"] = [path = options.picture](const watch::Query&) {
        return watch::read_picture(path);
      };
    own->server.emplace(library_directory(), std::string(views::watch_page()), std::move(answers));
    std::fprintf(stderr, "foretrace: watch at %s\n", own->server->address().c_str());
  }
  own->thread = std::thread([own] { own->watch(); });
}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
    impl_->state.ended = true;
  }
  impl_->wake.notify_all();
  impl_->thread.join();
}

}  // namespace foretrace::cli
