#include "cli/watcher.hpp"

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
#include "cli/call_places.hpp"
#include "views/watch/watch_view.hpp"
#include "watch/processes.hpp"
#include "watch/server.hpp"

namespace foretrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(400);
// A look at very many ranks takes long: it has this part of the time.
constexpr int kPause = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

struct Watcher::Impl {
  std::string output;  // absolute
  double every = 2;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  views::WatchState state;
  std::optional<watch::Server> server;
  std::thread thread;
  std::optional<analysis::RunLook> file;  // the thread's own

  // What the page is told.
  std::string answer() {
    const std::lock_guard lock(mutex);
    return views::watch_json(state);
  }

  void look(const trace::TellPlace& tell) {
    views::WatchState now;
    now.seconds = seconds_since(start);
    for (const auto& [rank, process] : watch::find_processes(output))
      if (process.stopped()) now.stopped[rank] = process.process;
    try {
      if (!file) file.emplace(output + ".part", tell);
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
    double said = -every;
    std::unique_lock lock(mutex);
    while (!stop) {
      lock.unlock();
      const auto began = Clock::now();
      look(tell);
      const auto took = Clock::now() - began;
      lock.lock();
      // What stopped is said at once.
      if (state.stopped != stopped || state.seconds - said >= every) {
        std::fprintf(stderr, "foretrace: %s\n", views::watch_line(state).c_str());
        said = state.seconds;
        stopped = state.stopped;
      }
      wake.wait_for(lock, std::max<Clock::duration>(kLook, took * kPause), [this] { return stop; });
    }
  }
};

Watcher::Watcher(const std::string& output, double every, bool serves)
    : impl_(std::make_unique<Impl>()) {
  impl_->output = std::filesystem::absolute(output).string();
  impl_->every = every;
  if (serves && !views::watch_page().empty()) {
    impl_->server.emplace(
        std::string(views::watch_page()),
        watch::Answers{[own = impl_.get()] { return own->answer(); }, {}, {}, {}});
    std::fprintf(stderr, "foretrace: watch at %s\n", impl_->server->address().c_str());
  }
  impl_->thread = std::thread([own = impl_.get()] { own->watch(); });
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
