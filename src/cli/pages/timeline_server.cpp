#include "cli/pages/timeline_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "cli/system/process.hpp"
#include "cli/traces/any_trace.hpp"
#include "cli/traces/call_places.hpp"
#include "pyramid/pyramid.hpp"
#include "views/timeline/timeline.hpp"
#include "watch/server.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostEvents = 400'000;  // of a window
constexpr std::size_t kMostArrangements = 8;    // that are remembered
constexpr std::uint64_t kMostTime = std::numeric_limits<std::int64_t>::max();

// Signals that end the server wait from here on, in all threads that are started later.
class Ending {
 public:
  Ending() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void wait() const {
    int signal = 0;
    ::sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
};

template <typename Number>
Number number_in(const watch::Query& query, const char* name, Number most) {
  const auto found = query.find(name);
  Number value = 0;
  if (found != query.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value <= most) return value;
  }
  throw Error(std::string("expected a number ") + name);
}

std::uint64_t number_in(const watch::Query& query, const char* name) {
  return number_in<std::uint64_t>(query, name, kMostTime);
}
double moment_in(const watch::Query& query, const char* name) {
  return number_in<double>(query, name, static_cast<double>(kMostTime));
}

// The rows that pages have asked for last, by numbers of their own.
class Arrangements {
 public:
  using Shared = std::shared_ptr<const pyramid::Arrangement>;

  std::uint64_t keep(pyramid::Arrangement rows) {
    const std::lock_guard lock(mutex_);
    kept_[++last_] = std::make_shared<const pyramid::Arrangement>(std::move(rows));
    if (kept_.size() > kMostArrangements) kept_.erase(kept_.begin());
    return last_;
  }
  // Those that the query names in "rows"; none if it does not.
  Shared of(const watch::Query& query) {
    if (query.find("rows") == query.end()) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(number_in(query, "rows"));
    if (found == kept_.end()) throw Error("these rows are forgotten; load the page again");
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, Shared> kept_;
  std::uint64_t last_ = 0;
};

// What the page asks for.
watch::Answers answers_of(const pyramid::Pyramid& shown, Arrangements& rows) {
  using watch::Query;
  watch::Answers answers;
  answers.data["tile"] = [&](const Query& query) {
    const auto arranged = rows.of(query);
    return shown.tile(number_in(query, "time"), number_in(query, "column"),
                      number_in(query, "ranks"), number_in(query, "row"), arranged.get());
  };
  answers.data["events"] = [&](const Query& query) {
    return shown.events(static_cast<std::int64_t>(number_in(query, "from")),
                        static_cast<std::int64_t>(number_in(query, "to")),
                        number_in(query, "first"), number_in(query, "last"), kMostEvents);
  };
  answers.data["alike"] = [&](const Query& query) {
    return shown.alike(moment_in(query, "from"), moment_in(query, "to"));
  };
  answers.data["ranks"] = [&](const Query& query) {
    return shown.ranks(moment_in(query, "from"), moment_in(query, "to"));
  };
  answers.data["under-way"] = [&](const Query& query) {
    return shown.under_way(moment_in(query, "from"), moment_in(query, "to"),
                           number_in(query, "columns"));
  };
  answers.actions["rows"] = [&](const std::string& body) {
    return std::to_string(rows.keep(pyramid::Arrangement::parse(body, shown.rank_count())));
  };
  return answers;
}

void make_view(const std::string& trace, const std::string& view) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  int told = -1;
  std::fprintf(stderr, "foretrace: making %s, once\n", view.c_str());
  pyramid::build_pyramid(trace, view, place_teller(), [&](double part) {
    const int percent = static_cast<int>(100 * part);
    if (percent == told || (!terminal && percent / 10 == told / 10)) return;
    told = percent;
    std::fprintf(stderr, terminal ? "\rforetrace: %3d %%" : "foretrace: %3d %%\n", percent);
  });
  if (terminal) std::fputc('\n', stderr);
}

// The view as it stands in the file, if it is that of the trace.
std::unique_ptr<pyramid::Pyramid> open_view(const std::string& trace, const std::string& view) {
  if (!fs::exists(view) || pyramid::is_other_version(view)) return nullptr;
  auto found = std::make_unique<pyramid::Pyramid>(view);
  return found->is_of(trace) ? std::move(found) : nullptr;
}

}  // namespace

int serve_timeline(const std::string& trace, std::string view) {
  if (as_trace(trace) != trace)
    throw UsageError("timeline --serve: " + trace +
                     " is not in our format; first: foretrace convert " + trace + " RUN.ftr");
  if (view.empty()) view = trace + ".view";
  auto opened = open_view(trace, view);
  if (!opened) {
    make_view(trace, view);
    opened = std::make_unique<pyramid::Pyramid>(view);
  }
  const pyramid::Pyramid& shown = *opened;
  Arrangements rows;
  const Ending ending;
  const watch::Server server(library_directory(), views::render_html_runs({{"", shown.head(), ""}}),
                             answers_of(shown, rows));
  std::printf("foretrace: %s at %s (end with Ctrl+C)\n", trace.c_str(), server.address().c_str());
  std::fflush(stdout);
  ending.wait();
  return 0;
}

}  // namespace foretrace::cli
