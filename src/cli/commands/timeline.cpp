#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "analysis/run_events.hpp"
#include "analysis/waiting.hpp"
#include "base/error.hpp"
#include "cli/pages/timeline_server.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/any_trace.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/collective_rounds.hpp"
#include "cli/traces/damage.hpp"
#include "cli/words/option_values.hpp"
#include "topology/builders.hpp"
#include "topology/placement.hpp"
#include "trace/trace.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::cli {
namespace timeline_command {
namespace {

struct Options {
  std::vector<std::string> traces;
  std::string output;
  std::string topology;
  std::string placement;
  int width = 0;
  bool serve = false;
  std::string view;
};

// "torus:4x4" of the words "... topology=torus:4x4 ..." that a simulated trace says of itself.
std::string word_of(const std::string& options, const std::string& key) {
  std::istringstream words(options);
  for (std::string word; words >> word;)
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  return "";
}

// The network for the animation: as given, else the one that the run was simulated on, where
// that can be made again of what the trace says.
std::optional<machine::Topology> topology_of(const Options& options, const trace::Trace& trace,
                                             machine::Placement& placement) {
  const int ranks = static_cast<int>(trace.ranks.size());
  const bool given = !options.topology.empty();
  const std::string what = given ? options.topology : word_of(trace.info.options, "topology");
  if (what.empty()) return std::nullopt;
  std::string where = given ? options.placement : word_of(trace.info.options, "placement");
  if (where.empty()) where = "block";
  try {
    machine::Topology topology = machine::make_topology(what);
    if (topology.ranks() < ranks)
      throw UsageError("--topology " + what + " has room for " + std::to_string(topology.ranks()) +
                       " ranks, and the run has " + std::to_string(ranks));
    placement = machine::make_placement(where, topology, ranks);
    return topology;
  } catch (const std::exception&) {
    if (given) throw;
    return std::nullopt;
  }
}

// Columns of the terminal, 100 where there is none.
int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

// What the runs are called: their files' names without folder and ending where those tell
// them apart, else the paths.
std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths)
    names.push_back(std::filesystem::path(path).stem().string());
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? names : paths;
}

int write_page(const Options& options) {
  const std::vector<std::string> names = names_of(options.traces);
  const trace::TellPlace tell = place_teller();
  std::vector<views::TimelineRun> runs;
  int status = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    trace::Trace trace = trace::read_trace(as_trace(options.traces[i]));
    analysis::fill_waits(trace);
    machine::Placement placement;
    const auto topology = topology_of(options, trace, placement);
    std::optional<views::RunNetwork> network;
    if (topology) network.emplace(*topology, std::move(placement));
    runs.push_back(
        views::encode_run(names[i], trace, tell, network ? &*network : nullptr,
                          collective_rounds(trace, word_of(trace.info.options, "collectives"))));
    status = std::max(status, tell_damage(options.traces[i], trace.damage));
  }
  write_output(options.output, views::render_html_runs(runs));
  return status;
}

int write_text(const Options& options) {
  const std::string& path = options.traces.front();
  const std::string file = as_trace(path);
  views::TextTimelineOptions how;
  how.width = options.width > 0 ? options.width : terminal_width();
  analysis::RunEvents run(file);
  const std::string text = views::render_text_timeline(run, how);
  if (options.output.empty())
    std::fputs(text.c_str(), stdout);
  else
    write_output(options.output, text);
  return tell_damage(path, run.damage());
}

int serve(const Options& options) {
  if (!options.output.empty() || !options.topology.empty() || options.width > 0)
    throw UsageError("timeline: --serve shows the page itself; leave out -o, --topology, --width");
  if (options.traces.size() > 1)
    throw UsageError("timeline: --serve shows one run; several are a page (-o FILE.html)");
  return serve_timeline(options.traces.front(), options.view);
}

int timeline(const Options& options) {
  if (options.serve) return serve(options);
  if (!options.view.empty()) throw UsageError("timeline: --view is for --serve");
  std::string ending;
  if (!options.output.empty()) ending = ending_of(options.output, "timeline", {".html", ".txt"});
  if (!options.placement.empty() && options.topology.empty())
    throw UsageError("timeline: --placement is for --topology");
  if (ending == ".html") return write_page(options);
  if (!options.topology.empty())
    throw UsageError("timeline: --topology is drawn by the page; give -o FILE.html");
  if (options.traces.size() > 1)
    throw UsageError("timeline: several runs over each other are a page; give -o FILE.html");
  return write_text(options);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->traces,
                 "The trace; of several a page shows them over each other")
      ->required();
  app.add_option("-o,--output", options->output,
                 "Write a page (FILE.html), or the text (FILE.txt)");
  app.add_option("--topology", options->topology,
                 "The network that the page's animation draws, as for simulate; default: the one "
                 "that the run was simulated on")
      ->transform(topology_name());
  app.add_option("--placement", options->placement, "With --topology: as for simulate")
      ->check(offers("block,round-robin,random:,recorded,FILE"));
  app.add_option("--width", options->width, "Columns of the text; default: the terminal's")
      ->check(in_range(40, 10000));
  app.add_flag("--serve", options->serve,
               "Show a trace of any size in the browser, from a server on this machine");
  app.add_option("--view", options->view,
                 "With --serve: where the pages that it makes of the trace are kept; default: "
                 "TRACE.view");
  return [options] { return timeline(*options); };
}

}  // namespace
}  // namespace timeline_command

const Subcommand kTimeline{"timeline", "Draw what each rank did when, as text or as a page",
                           timeline_command::declare,
                           "foretrace timeline run.ftr\n"
                           "foretrace timeline run.ftr -o run.html\n"
                           "foretrace timeline big.ftr --serve\n"
                           "foretrace timeline before.ftr after.ftr -o both.html\n"};

}  // namespace foretrace::cli
