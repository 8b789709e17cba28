#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare_groups.hpp"
#include "analysis/profile.hpp"
#include "analysis/traffic.hpp"
#include "analysis/waiting.hpp"
#include "cli/simulate/baseline.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/any_trace.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/compared_runs.hpp"
#include "cli/traces/damage.hpp"
#include "trace/trace.hpp"
#include "views/report/html_report.hpp"
#include "views/report/report.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::cli {
namespace report_command {
namespace {

struct Options {
  std::string trace;
  std::string baseline;
  std::string output;
  std::vector<std::string> against;
  bool json = false;
  bool timeline = true;
};

// The page, and the time line that it leads to.
int write_pages(const Options& options, Time baseline) {
  ending_of(options.output, "report", {".html"});
  const trace::TellPlace tell = place_teller();
  trace::Trace trace = trace::read_trace(as_trace(options.trace));
  analysis::Profile profile = analysis::profile_trace(trace, tell);
  if (!options.baseline.empty()) analysis::set_baseline(profile, baseline);
  analysis::fill_waits(trace);
  std::string link;
  if (options.timeline) {
    const std::string timeline = timeline_beside(options.output);
    write_output(timeline, views::render_html_timeline(trace, tell));
    link = std::filesystem::path(timeline).filename().string();
  }
  int status = tell_damage(options.trace, profile.damage);
  std::optional<analysis::GroupComparison> against;
  if (!options.against.empty())
    against = analysis::compare_groups(read_group(options.against, "A", nullptr, status),
                                       {analysis::group_run(options.trace, trace)});
  write_output(options.output, views::render_html_report(profile, analysis::traffic_of(trace), link,
                                                         against ? &*against : nullptr));
  return status;
}

int report(const Options& options) {
  const Time baseline = options.baseline.empty() ? Time() : read_baseline(options.baseline);
  if (!options.output.empty()) return write_pages(options, baseline);
  analysis::Profile profile = analysis::profile_file(as_trace(options.trace), place_teller());
  if (!options.baseline.empty()) analysis::set_baseline(profile, baseline);
  const std::string text =
      options.json ? views::render_json_report(profile) : views::render_text_report(profile);
  std::fputs(text.c_str(), stdout);
  return tell_damage(options.trace, profile.damage);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "The trace")->required();
  app.add_option("--baseline", options->baseline, kBaselineHelp);
  CLI::Option* json = app.add_flag("--json", options->json, "Print one JSON object");
  CLI::Option* output = app.add_option("-o,--output", options->output,
                                       "Write a page, FILE.html, and the time line that it leads "
                                       "to, FILE-timeline.html");
  output->excludes(json);
  app.add_option("--against", options->against,
                 "Other runs of the program, measured or predicted, that the page sets beside this "
                 "one")
      ->needs(output);
  app.add_flag("!--no-timeline", options->timeline, "Write the page alone")->needs(output);
  return [options] { return report(*options); };
}

}  // namespace
}  // namespace report_command

const Subcommand kReport{
    "report", "Tell times, speed-up and utilisation of a trace", report_command::declare,
    "foretrace report run.ftr\n"
    "foretrace report run.ftr --json\n"
    "foretrace report run.ftr -o report.html\n"
    "foretrace report predicted.ftr -o report.html --against measured-*.ftr\n"};

}  // namespace foretrace::cli
