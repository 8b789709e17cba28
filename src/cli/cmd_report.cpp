#include <cstdio>
#include <memory>

#include "analysis/profile.hpp"
#include "cli/baseline.hpp"
#include "cli/call_places.hpp"
#include "cli/damage.hpp"
#include "cli/subcommand.hpp"
#include "views/report.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string trace;
  std::string baseline;
  bool json = false;
};

int report(const Options& options) {
  const Time baseline = options.baseline.empty() ? Time() : read_baseline(options.baseline);
  analysis::Profile profile = analysis::profile_file(options.trace, place_teller());
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
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return report(*options); };
}

}  // namespace

const Subcommand kReport{"report", "Tell times, speed-up and utilisation of a trace", declare,
                         "foretrace report run.ftr\n"
                         "foretrace report run.ftr --json\n"};

}  // namespace foretrace::cli
