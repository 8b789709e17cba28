#include "cli/simulate/run.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/links.hpp"
#include "analysis/profile.hpp"
#include "base/error.hpp"
#include "cli/simulate/progress.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/damage.hpp"
#include "cli/traces/left_messages.hpp"
#include "trace/told.hpp"
#include "views/report/link_report.hpp"
#include "views/report/report.hpp"

namespace foretrace::cli {
namespace {

void print_text(const sim::SimulateResult& result, const Simulation& simulation,
                const RunOptions& options) {
  Time serial;
  for (const sim::RankResult& rank : result.ranks) serial += rank.compute;
  const double time = result.time.seconds();
  if (options.baseline) serial = *options.baseline;
  const double speedup = time > 0 ? serial.seconds() / time : 0;
  std::printf("predicted time %.6g s on %zu %s%s%s\n", time, result.ranks.size(),
              result.ranks.size() == 1 ? "rank" : "ranks", simulation.where().c_str(),
              simulation.sealed() ? "" : ", as far as the run came");
  // Where nothing computes there is nothing to speed up.
  if (serial > Time())
    std::printf("%s %.6g s, speed-up %.4g, efficiency %.1f %%\n",
                options.baseline ? "baseline" : "serial time", serial.seconds(), speedup,
                100 * speedup / static_cast<double>(result.ranks.size()));
  if (options.samples) std::fputs(text_of(*options.samples).c_str(), stdout);
  if (!options.stats) return;
  const sim::Stats& stats = result.stats;
  std::printf(
      "replayed %llu operations, %llu messages in %.3g s (%.3g million operations, %.3g million "
      "messages a second), %zu bytes at most\n",
      static_cast<unsigned long long>(stats.operations),
      static_cast<unsigned long long>(stats.messages), stats.seconds,
      stats.seconds > 0 ? static_cast<double>(stats.operations) / stats.seconds * 1e-6 : 0,
      stats.seconds > 0 ? static_cast<double>(stats.messages) / stats.seconds * 1e-6 : 0,
      stats.peak_bytes);
}

// A deadlock's report has a line for each blocked rank; the error's own line
// is the first.
template <class Run>
auto explain_deadlock(Run run) {
  try {
    return run();
  } catch (const sim::Deadlock& deadlock) {
    std::fprintf(stderr, "%s", deadlock.report().c_str());
    throw;
  }
}

// What the simulated links carried; nothing where messages do not share any.
std::optional<analysis::LinksProfile> profile_of_links(const sim::SimulateResult& result,
                                                       const machine::Topology* topology) {
  if (!result.links) return std::nullopt;
  analysis::NetworkUse use;
  use.time = result.time;
  use.bin_width = result.links->bin_width();
  for (const sim::LinkLoad& load : result.links->loads())
    use.links.push_back(
        {load.link, load.messages, load.bytes, load.busy, result.links->history(load.link), {}});
  for (const auto& [carrier, contention] : result.contention)
    for (analysis::LinkUse& link : use.links)
      if (link.carrier == carrier) link.contention = contention;
  return analysis::profile_links(use, topology);
}

// Of a program that runs live.
void tell_what_is_left(const sim::SimulateResult& result) {
  tell_left_messages(result.left_messages, result.left_message_count);
  for (std::size_t rank = 0; rank < result.left_requests.size(); ++rank)
    if (result.left_requests[rank] > 0)
      std::fprintf(stderr, "foretrace: rank %zu left %llu %s without MPI_Wait or MPI_Test\n", rank,
                   static_cast<unsigned long long>(result.left_requests[rank]),
                   result.left_requests[rank] == 1 ? "request" : "requests");
}

// What is to be known of the times wherever they go.
std::vector<std::string> notes_to_keep(const Simulation& simulation,
                                       const sim::SimulateResult& result) {
  std::vector<std::string> notes = simulation.notes_of_model();
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  return notes;
}

// Several sinks as one.
class AllSinks final : public sim::Sink {
 public:
  // `sink` may be nullptr: none.
  void add(sim::Sink* sink) {
    if (sink) sinks_.push_back(sink);
  }
  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override {
    for (sim::Sink* const sink : sinks_) sink->finished(rank, operation, interval);
  }

 private:
  std::vector<sim::Sink*> sinks_;
};

}  // namespace

void run_once(const Simulation& simulation, sim::Source& source, const RunOptions& options,
              const std::function<sim::Stats()>& replay) {
  sim::SimulateResult result;
  std::string json;
  std::exception_ptr unwritten;  // why no trace is there: what was computed is told all the same
  const auto try_to_write = [&unwritten](const auto& write) {
    try {
      write();
    } catch (const Error&) {
      unwritten = std::current_exception();
    }
  };
  if (options.ranks) options.ranks->follow(source);
  const auto run = [&](sim::Sink& sink) {
    AllSinks all;
    all.add(&sink);
    all.add(options.ranks);
    Replay how;
    if (!options.live)
      how.tell = replay_progress(
          [reader = simulation.recorded()] { return reader ? reader->share_read() : 0; });
    auto simulated =
        explain_deadlock([&] { return simulation.run(source, options.ranks ? all : sink, how); });
    if (options.simulated) options.simulated(simulated);
    return simulated;
  };
  if (options.json) {
    // The report needs the events; they are kept in memory.
    sim::MemorySink sink(source, simulation.info());
    result = run(sink);
    trace::Trace predicted = sink.take();
    predicted.sealed = simulation.sealed();
    std::ranges::move(notes_to_keep(simulation, result), std::back_inserter(predicted.info.notes));
    if (replay) result.stats = replay();
    std::optional<views::ReplayStats> stats;
    if (options.stats)
      stats = views::ReplayStats{result.stats.operations, result.stats.messages,
                                 result.stats.seconds, result.stats.peak_bytes};
    const auto links = options.links ? profile_of_links(result, simulation.topology())
                                     : std::optional<analysis::LinksProfile>();
    analysis::Profile profile = analysis::profile_trace(predicted, place_teller());
    if (options.baseline) analysis::set_baseline(profile, *options.baseline);
    json = views::render_json_report(profile, stats, links ? &*links : nullptr);
    if (!options.output.empty())
      try_to_write([&] { trace::write_trace(predicted, options.output); });
  } else if (!options.output.empty()) {
    sim::FileSink sink(source, simulation.info(), options.output);
    if (options.opened) options.opened(sink);
    try {
      result = run(sink);
    } catch (const sim::Deadlock&) {
      sink.leave_unfinished();
      tell_what_is_there(options.output);
      throw;
    } catch (...) {
      if (options.live) sink.leave_unfinished();
      throw;
    }
    try_to_write([&] {
      sink.finish(simulation.sealed());
      trace::keep_notes(options.output, notes_to_keep(simulation, result));
    });
    if (replay) result.stats = replay();
  } else {
    sim::NullSink sink;
    result = run(sink);
  }
  for (const std::string& note : result.notes)
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (options.live) tell_what_is_left(result);
  // Such a trace tells more than the operations that were made of it.
  if (simulation.recorded() && result.left_message_count > 0)
    tell_left_messages(*simulation.recorded());
  if (options.links && !result.links)
    std::fprintf(stderr, "foretrace: --links: messages share links on bus, flow and packet only\n");
  if (options.json) {
    if (options.samples) json = with_samples(json, *options.samples);
    std::fputs(json.c_str(), stdout);
  } else {
    print_text(result, simulation, options);
    if (options.links)
      if (const auto links = profile_of_links(result, simulation.topology()))
        std::fputs(views::render_text_links(*links).c_str(), stdout);
  }
  if (unwritten) std::rethrow_exception(unwritten);
}

}  // namespace foretrace::cli
