#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "analysis/call_profile.hpp"
#include "analysis/compare.hpp"
#include "analysis/waiting.hpp"
#include "base/error.hpp"
#include "cli/any_trace.hpp"
#include "cli/damage.hpp"
#include "cli/subcommand.hpp"
#include "trace/counters_file.hpp"
#include "trace/trace.hpp"
#include "views/report/comparison.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string a;
  std::string b;
  std::string level = "states";
  bool json = false;
};

bool is_profile(const std::string& path) {
  return std::filesystem::path(path).extension() == ".fprof";
}

// `status` becomes 1 where the trace is damaged.
trace::Trace read_run(const std::string& path, int& status) {
  trace::Trace trace = trace::read_trace(as_trace(path));
  status = std::max(status, tell_damage(path, trace.damage));
  analysis::fill_waits(trace);
  return trace;
}

analysis::RunTimes times_of(const std::string& path, int& status) {
  if (!is_profile(path)) return analysis::run_times(read_run(path, status));
  // Only functions are compared: nobody asks for places.
  const auto nowhere = [](const std::string&, std::uint64_t) { return analysis::CallFrame(); };
  return analysis::run_times(analysis::make_call_profile(trace::read_counters(path), nowhere));
}

analysis::Comparison compare_files(const Options& options, analysis::CompareLevel level,
                                   int& status) {
  if (!is_profile(options.a) && !is_profile(options.b)) {
    const trace::Trace a = read_run(options.a, status);
    return analysis::compare_traces(a, read_run(options.b, status), level);
  }
  if (level == analysis::CompareLevel::events || level == analysis::CompareLevel::phases)
    throw UsageError("compare: --level " + options.level + " needs two traces; " +
                     (is_profile(options.a) ? options.a : options.b) +
                     " is a profile, which knows no " +
                     (level == analysis::CompareLevel::events ? "single calls" : "phases"));
  const analysis::RunTimes a = times_of(options.a, status);
  return analysis::compare_runs(a, times_of(options.b, status));
}

int compare(const Options& options) {
  const analysis::CompareLevel level = options.level == "events"   ? analysis::CompareLevel::events
                                       : options.level == "ranks"  ? analysis::CompareLevel::ranks
                                       : options.level == "phases" ? analysis::CompareLevel::phases
                                                                   : analysis::CompareLevel::states;
  int status = 0;
  const analysis::Comparison comparison = compare_files(options, level, status);
  const std::string text = options.json ? views::render_json_comparison(comparison, level)
                                        : views::render_text_comparison(comparison, level);
  std::fputs(text.c_str(), stdout);
  return status;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("a", options->a, "The first run: a trace (.ftr), or a profile (.fprof)")
      ->required();
  app.add_option("b", options->b, "The second run; ratios are B / A, differences B - A")
      ->required();
  app.add_option("--level", options->level, "events (A), ranks (B), states (C) or phases")
      ->check(CLI::IsMember({"events", "ranks", "states", "phases"}))
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return compare(*options); };
}

}  // namespace

const Subcommand kCompare{"compare", "Compare two runs of the same program: traces or profiles",
                          declare,
                          "foretrace compare a.ftr b.ftr\n"
                          "foretrace compare a.ftr b.ftr --level events\n"};

}  // namespace foretrace::cli
