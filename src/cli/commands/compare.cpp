#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/compare.hpp"
#include "analysis/compare_groups.hpp"
#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/compared_runs.hpp"
#include "cli/traces/damage.hpp"
#include "views/report/comparison.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::cli {
namespace compare_command {
namespace {

using analysis::CompareLevel;

struct Options {
  std::vector<std::string> runs;
  std::vector<std::string> against;
  std::string level = "states";
  std::string output;
  bool json = false;
  bool timeline = true;
};

void check_level(const Options& options, CompareLevel level) {
  if (level != CompareLevel::events && level != CompareLevel::phases) return;
  for (const auto* side : {&options.runs, &options.against})
    for (const std::string& path : *side)
      if (is_profile(path))
        throw UsageError("compare: --level " + options.level + " needs traces; " + path +
                         " is a profile, which knows no " +
                         (level == CompareLevel::events ? "single calls" : "phases"));
}

analysis::Comparison compare_files(const std::string& a, const std::string& b, CompareLevel level,
                                   int& status) {
  if (!is_profile(a) && !is_profile(b)) {
    analysis::Comparison traces = analysis::compare_traces(events_of(a), events_of(b), level);
    status = std::max(tell_damage(a, traces.a_damage), tell_damage(b, traces.b_damage));
    return traces;
  }
  const analysis::RunTimes first = times_of(a, status);
  return analysis::compare_runs(first, times_of(b, status));
}

int compare_groups(const Options& options, CompareLevel level) {
  if (level == CompareLevel::events)
    throw UsageError("compare: --level events is of two traces; several runs have no event alike");
  const bool page = !options.output.empty();
  if (page) ending_of(options.output, "compare", {".html"});
  int status = 0;
  std::vector<views::TimelineRun> timelines;
  auto* const drawn = page && options.timeline ? &timelines : nullptr;
  analysis::RunGroup a = read_group(options.runs, "A", drawn, status);
  const analysis::GroupComparison both = analysis::compare_groups(
      std::move(a), read_group(options.against, "B", drawn, status), level);
  if (!page) {
    const std::string text = options.json ? views::render_json_groups(both, level)
                                          : views::render_text_groups(both, level);
    std::fputs(text.c_str(), stdout);
    return status;
  }
  std::string link;
  if (timelines.size() == 2) {
    const std::string timeline = timeline_beside(options.output);
    write_output(timeline, views::render_html_runs(timelines));
    link = std::filesystem::path(timeline).filename().string();
  }
  write_output(options.output, views::render_html_comparison(both, link));
  return status;
}

int compare(Options options) {
  if (options.against.empty()) {
    if (options.runs.size() != 2)
      throw UsageError(
          "compare: expected two runs, A and B; of several name those of one side, then --against "
          "and those of the other");
    options.against.push_back(options.runs.back());
    options.runs.pop_back();
  }
  const CompareLevel level = options.level == "events"   ? CompareLevel::events
                             : options.level == "ranks"  ? CompareLevel::ranks
                             : options.level == "phases" ? CompareLevel::phases
                                                         : CompareLevel::states;
  check_level(options, level);
  if (options.runs.size() + options.against.size() > 2 || !options.output.empty())
    return compare_groups(options, level);
  int status = 0;
  const analysis::Comparison comparison =
      compare_files(options.runs.front(), options.against.front(), level, status);
  const std::string text = options.json ? views::render_json_comparison(comparison, level)
                                        : views::render_text_comparison(comparison, level);
  std::fputs(text.c_str(), stdout);
  return status;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option(
         "run", options->runs,
         "A and B, or several runs of one side: traces (.ftr), or profiles (.fprof); ratios "
         "are B / A, differences B - A")
      ->required();
  app.add_option("--against", options->against,
                 "Several runs: those of the other side, B; means are compared, with intervals");
  app.add_option("--level", options->level, "events (A), ranks (B), states (C) or phases")
      ->check(CLI::IsMember({"events", "ranks", "states", "phases"}))
      ->capture_default_str();
  CLI::Option* json = app.add_flag("--json", options->json, "Print one JSON object");
  CLI::Option* output = app.add_option("-o,--output", options->output,
                                       "Write a page, FILE.html, and the time lines that it leads "
                                       "to, FILE-timeline.html");
  output->excludes(json);
  app.add_flag("!--no-timeline", options->timeline, "Write the page alone")->needs(output);
  return [options] { return compare(*options); };
}

}  // namespace
}  // namespace compare_command

const Subcommand kCompare{"compare", "Compare two runs of the same program: traces or profiles",
                          compare_command::declare,
                          "foretrace compare a.ftr b.ftr\n"
                          "foretrace compare a.ftr b.ftr --level events\n"
                          "foretrace compare a1.ftr a2.ftr a3.ftr --against b1.ftr b2.ftr b3.ftr "
                          "-o compared.html\n"};

}  // namespace foretrace::cli
