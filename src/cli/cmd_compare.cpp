#include <cstdio>
#include <map>
#include <memory>

#include "analysis/compare.hpp"
#include "cli/subcommand.hpp"
#include "trace/trace.hpp"
#include "views/comparison.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string a;
  std::string b;
  std::string level = "states";
  bool json = false;
};

int compare(const Options& options) {
  const analysis::CompareLevel level = options.level == "events"  ? analysis::CompareLevel::events
                                       : options.level == "ranks" ? analysis::CompareLevel::ranks
                                                                  : analysis::CompareLevel::states;
  const analysis::Comparison comparison =
      analysis::compare_traces(trace::read_trace(options.a), trace::read_trace(options.b), level);
  const std::string text = options.json ? views::render_json_comparison(comparison, level)
                                        : views::render_text_comparison(comparison, level);
  std::fputs(text.c_str(), stdout);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("a", options->a, "The first trace")->required();
  app.add_option("b", options->b, "The second trace; ratios are B / A")->required();
  app.add_option("--level", options->level, "events (A), ranks (B) or states (C)")
      ->check(CLI::IsMember({"events", "ranks", "states"}))
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return compare(*options); };
}

}  // namespace

const Subcommand kCompare{"compare", "Compare two traces of the same program", declare};

}  // namespace foretrace::cli
