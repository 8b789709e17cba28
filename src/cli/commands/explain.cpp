#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "cli/explain/calls.hpp"
#include "cli/explain/latencies.hpp"
#include "cli/explain/links.hpp"
#include "cli/explain/network.hpp"
#include "cli/explain/output.hpp"
#include "cli/explain/placement.hpp"
#include "cli/explain/rewrites.hpp"
#include "cli/explain/scaling.hpp"
#include "cli/explain/settings.hpp"
#include "cli/explain/tries.hpp"
#include "cli/explain/what_if.hpp"
#include "cli/simulate/options.hpp"
#include "cli/simulate/simulation.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/words/option_values.hpp"
#include "explain/explanation.hpp"
#include "explain/places.hpp"
#include "explain/what_if.hpp"
#include "trace/told.hpp"
#include "views/explain/report.hpp"

namespace foretrace::cli {
namespace explain_command {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string scaling;
  SimulationOptions simulation;
  explain::ExplainOptions explain;
  WhatIf what_if;
  ExplainOutput output;  // of a what-if: the predicted trace
  std::string latencies;
  std::string better_placement;  // a file
  std::string slack;             // the same
};

Replay replay_on(const Simulation& simulation, explain::Ideal ideal) {
  using explain::Ideal;
  Replay replay;
  replay.settled = true;
  const bool shared = simulation.network() == sim::NetworkKind::bus ||
                      simulation.network() == sim::NetworkKind::flow ||
                      simulation.network() == sim::NetworkKind::packet ||
                      simulation.network() == sim::NetworkKind::architecture;
  switch (ideal) {
    case Ideal::as_is:
      break;
    case Ideal::no_latency:
      replay.factors.latency = 0;
      replay.portion = machine::Portion::data;
      break;
    case Ideal::infinite_bandwidth:
      replay.factors.bandwidth = shared ? kVeryFast : std::numeric_limits<double>::infinity();
      replay.portion = machine::Portion::fixed;
      break;
    case Ideal::ideal:
      replay.portion = machine::Portion::nothing;
      break;
    case Ideal::no_files:
      replay.files_take_time = false;
      break;
    case Ideal::moving_always:
      replay.moves_always = true;
      break;
    case Ideal::ideal_no_files:
      replay.portion = machine::Portion::nothing;
      replay.files_take_time = false;
      break;
  }
  return replay;
}

// Whether ranks are taken up in the order of time, since messages act on each other.
bool in_order_of_time(const Simulation& simulation, const sim::Source& source) {
  return source.races() || simulation.moves_in_calls() ||
         (simulation.has_algorithms() && source.posts_collectives()) ||
         (simulation.network() != sim::NetworkKind::datasheet &&
          simulation.network() != sim::NetworkKind::hops);
}

// What is told of a part of a run is no success.
int status_of(const Simulation& simulation, int status) {
  return simulation.sealed() ? status : std::max(status, 1);
}

// A run out of the ordinary; its operations are written down, too, if there is a file. What is told
// of it alone goes to standard error.
Time run_edited(Simulation& simulation, sim::Source& edited, const Replay& replay,
                const std::string& path, const std::vector<std::string>& known_notes) {
  const auto tell = [&](const std::vector<std::string>& notes) {
    for (const std::string& note : new_notes(notes, known_notes))
      std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  };
  try {
    if (path.empty()) {
      sim::NullSink nothing;
      const sim::SimulateResult result = simulation.run(edited, nothing, replay);
      tell(result.notes);
      return result.time;
    }
    sim::FileSink sink(edited, simulation.info(), path);
    const sim::SimulateResult result = simulation.run(edited, sink, replay);
    sink.finish(simulation.sealed());
    trace::keep_notes(path, result.notes);
    tell(result.notes);
    return result.time;
  } catch (const sim::Deadlock& deadlock) {
    std::fprintf(stderr, "%s", deadlock.report().c_str());
    throw Error(std::string("the run with these changes does not end: ") + deadlock.what());
  }
}

int run_what_if(Simulation& simulation, const explain::Run& run, const sim::Source& names,
                const std::vector<std::string>& known_notes, const Options& options) {
  const WhatIf& what_if = options.what_if;
  const explain::Edits edits = edits_of(what_if, run, names);
  Replay replay = replay_on(simulation, explain::Ideal::as_is);
  if (!what_if.set.empty())
    if (const std::string note = set_parameters(simulation, what_if.set, replay); !note.empty())
      std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (!what_if.faster_link.empty())
    replay.faster_link = parse_faster_link(simulation, what_if.faster_link);
  if (!what_if.collective.empty() && !simulation.expands_collectives())
    throw UsageError(
        "--collective: collectives take what the model's equations say here; --collectives "
        "algorithm carries them out as messages");
  std::vector<std::string> told;
  Time time;
  if (what_if.rewrites()) {
    const RewrittenRun rewritten(simulation.open(), names, run, edits, what_if);
    told = rewritten.told();
    time = run_edited(simulation, *rewritten.open(), replay, options.output.path, known_notes);
  } else {
    explain::EditedSource edited(simulation.open(), run, edits);
    time = run_edited(simulation, edited, replay, options.output.path, known_notes);
  }
  for (const std::string& line : told) std::fprintf(stderr, "foretrace: %s\n", line.c_str());
  std::fputs(views::render_what_if(run.time, time, options.output.json).c_str(), stdout);
  return status_of(simulation, 0);
}

// Where nearly every what-if is a simulation, the operations are kept in memory, if they are not
// too many for that.
void keep_operations(Simulation& simulation, const explain::Run& run) {
  constexpr std::size_t kMostKept = 4'000'000;
  std::size_t calls = 0;
  for (const auto& all : run.calls) calls += all.size();
  if (!run.graph.fixed() && calls <= kMostKept) simulation.prepare_sharing();
}

// Writes the placement, and of the run with it the trace, if there is a file for it.
int run_placed(Simulation& simulation, const explain::Run& run,
               const std::vector<std::string>& known_notes, const Options& options) {
  keep_operations(simulation, run);
  const explain::BetterPlacement better = better_placement(simulation, run);
  write_output(options.better_placement,
               format_placement(better.placement, *simulation.topology()));
  const explain::Edits none;
  explain::EditedSource source(simulation.open_shared(), run, none);
  Replay replay = replay_on(simulation, explain::Ideal::as_is);
  replay.placement = &better.placement;
  const Time time = run_edited(simulation, source, replay, options.output.path, known_notes);
  std::fputs(views::render_what_if(run.time, time, options.output.json).c_str(), stdout);
  return status_of(simulation, 0);
}

int write_slacks(const Simulation& simulation, const explain::Run& run, const sim::Source& names,
                 const std::string& path) {
  const explain::Places places(run, names);
  std::vector<explain::Place> described;
  for (explain::PlaceId id = 0; id < run.places.size(); ++id)
    described.push_back(places.describe(id));
  write_output(path, views::render_slacks(run, described, explain::slacks(run)));
  return status_of(simulation, 0);
}

int explain_run(const Options& options) {
  const bool placing = !options.better_placement.empty();
  if (!options.slack.empty()) {
    if (placing || options.what_if.any() || !options.latencies.empty() ||
        !options.output.path.empty() || !options.output.baseline.empty())
      throw UsageError(
          "--slack stands alone; leave out the what-if, --better-placement, --latencies, -o and "
          "--baseline");
    check_writable(options.slack);
  }
  if (placing && (options.what_if.any() || !options.latencies.empty()))
    throw UsageError("--better-placement stands alone; leave out the what-if and --latencies");
  if (options.what_if.any() || placing) {
    if (placing) check_writable(options.better_placement);
    if (!options.output.path.empty()) check_trace_output(options.output.path, "explain");
    if (!options.output.baseline.empty())
      throw UsageError("--baseline is compared with a run as it is; leave out the what-if");
  } else {
    check_explain_output(options.output);
  }
  std::vector<Time> latencies;
  if (!options.latencies.empty()) {
    if (options.what_if.any() || !options.output.path.empty() || !options.output.baseline.empty())
      throw UsageError("--latencies stands alone; leave out the what-if, -o and --baseline");
    latencies = parse_latencies(options.latencies);
  }
  Simulation simulation(options.simulation);
  for (const std::string& note : simulation.notes())
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  const std::unique_ptr<sim::Source> source = simulation.open();
  explain::Run run;
  explain::RunSink sink(*source, run);
  Replay first;
  first.dependences = &run.graph;
  const sim::SimulateResult result = simulation.run(*source, sink, first);
  sink.finish();
  for (const std::string& note : result.notes)
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (!options.slack.empty()) return write_slacks(simulation, run, *source, options.slack);
  if (options.what_if.any()) return run_what_if(simulation, run, *source, result.notes, options);
  if (placing) return run_placed(simulation, run, result.notes, options);
  if (!latencies.empty()) {
    const LatencyCurve curve = find_latency_curve(simulation, run, latencies);
    std::fputs(render_latency_curve(curve, options.output.json).c_str(), stdout);
    return status_of(simulation, 0);
  }
  explain::ExplainOptions explain_options = options.explain;
  explain_options.estimate_waits = in_order_of_time(simulation, *source);
  explain_options.moves_in_calls = simulation.moves_in_calls();
  explain_options.nodes = simulation.nodes();
  keep_operations(simulation, run);
  const explain::Simulate again = [&](const explain::Edits& edits, explain::Ideal ideal,
                                      sim::Sink& sink) {
    explain::EditedSource edited(simulation.open_shared(), run, edits);
    return simulation.run(edited, sink, replay_on(simulation, ideal)).time;
  };
  explain::Explanation explanation = explain::explain(run, *source, again, explain_options);
  find_better_algorithms(simulation, run, *source, explanation);
  find_better_calls(simulation, run, *source, result.notes, explanation);
  find_faster_links(simulation, run, result, explanation);
  add_better_placement(simulation, run, explanation);
  std::ranges::stable_sort(explanation.findings, std::ranges::greater(), &explain::Finding::gain);
  if (explanation.findings.size() > explain_options.most_findings)
    explanation.findings.resize(explain_options.most_findings);
  for (const explain::Finding& finding : explanation.findings)
    for (const std::string& note : finding.notes)
      explanation.notes.push_back((finding.check.empty() ? finding.kind : finding.check) + ": " +
                                  note);
  add_sensitivities(simulation, run, explain_options.estimate_waits, explanation);
  for (const std::string& note : result.notes) explanation.notes.push_back(note);
  return status_of(simulation, put_explanation(options.output, explanation, run, simulation));
}

int explain_runs(Options& options) {
  if (options.scaling.empty()) {
    if (options.inputs.size() > 1)
      throw UsageError("several runs: expected --scaling strong or weak, which compares them");
    options.simulation.input = options.inputs.front();
    return explain_run(options);
  }
  if (options.what_if.any() || !options.better_placement.empty() || !options.latencies.empty() ||
      !options.slack.empty() || !options.output.baseline.empty())
    throw UsageError("--scaling stands alone; leave out the what-if, --latencies and --baseline");
  return explain_scaling(options.scaling, options.inputs, options.simulation, options.output);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("input", options->inputs,
                 "A trace made by record, predict or simulate, a text program (FILE.goal), or a "
                 "time-independent trace of SimGrid (FILE.ti)")
      ->required();
  add_simulation_options(app, options->simulation);
  app.add_flag("--verify", options->explain.verify, "Simulate the ten best findings afresh");
  app.add_option("--findings", options->explain.most_findings, "How many findings to tell")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const auto several = [&app](const char* name, std::vector<std::string>& into, const char* what) {
    app.add_option(name, into, what)->type_size(1)->allow_extra_args(false);
  };
  several("--zero-wait", options->what_if.zero_wait,
          "What if: nobody waits at this call site (halo.c:37), function or phase");
  several(
      "--balance", options->what_if.balance,
      "What if: the computation of this phase (or before this call site) is equal on all ranks");
  several(
      "--speed", options->what_if.speed,
      "What if: NAME=FACTOR, the computation of a phase (or before a call site) is so much faster");
  several("--collective", options->what_if.collective,
          "What if: SITE=ALGORITHM, the collectives of a call site, function or phase are carried "
          "out so (docs/collectives.md)");
  several("--merge-messages", options->what_if.merge,
          "What if: messages sent from here to the same rank, one after the other, are one");
  several("--nonblocking", options->what_if.nonblocking,
          "What if: blocking sends and receives of here are posted as early and waited for as "
          "late as MPI's rules allow");
  app.add_flag("--remove-barriers", options->what_if.remove_barriers,
               "What if: there is no MPI_Barrier");
  app.add_option("--set", options->what_if.set,
                 "What if: other parameters, as --loggps: L=1us,G=0.1ns; or more of them: L=+1us");
  app.add_option("--faster-link", options->what_if.faster_link,
                 "What if: A,B=FACTOR, bytes on the link between two nodes of the topology are so "
                 "much faster, both ways");
  app.add_option("--better-placement", options->better_placement,
                 "What if: the ranks run where their messages have short ways; writes FILE, for "
                 "--placement FILE");
  app.add_option("--slack", options->slack,
                 "Write FILE with a line for each call: by how much it may begin later");
  app.add_option("--latencies", options->latencies,
                 "The run time over a range of latencies: FROM..TO[:COUNT], as 1us..100us");
  app.add_option("--scaling", options->scaling,
                 "Compare the efficiencies of several runs of a program: strong (one problem on "
                 "more ranks) or weak (as much for each rank)")
      ->check(offers("strong,weak"));
  app.add_option("--baseline", options->output.baseline,
                 "Tell what got worse since --json wrote this file; status 1 if the run did");
  app.add_option("--within", options->output.within,
                 "With --baseline: by so much the run may be longer, such as 5%")
      ->capture_default_str();
  app.add_option(
      "-o,--output", options->output.path,
      "Write a page (FILE.html), or FILE.json or FILE.txt; with a what-if the predicted trace");
  app.add_flag("--json", options->output.json, "Print one JSON object");
  return [options] { return explain_runs(*options); };
}

}  // namespace
}  // namespace explain_command

const Subcommand kExplain{"explain",
                          "Tell what limits a run, what to change first and what it would bring",
                          explain_command::declare,
                          "foretrace explain run.ftr --machine cray-t3d\n"
                          "foretrace explain run.ftr --machine cray-t3d -o explain.html\n"};

}  // namespace foretrace::cli
