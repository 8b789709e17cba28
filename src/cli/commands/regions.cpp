#include <cstdio>
#include <memory>

#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/any_trace.hpp"
#include "compute/table_of_trace.hpp"
#include "trace/damage.hpp"

namespace foretrace::cli {
namespace regions_command {
namespace {

struct Options {
  std::string trace;
  std::string per = "visit";
  std::string output;
};

int regions(const Options& options) {
  ending_of(options.output, "regions", {".toml"});
  trace::TraceReader trace(as_trace(options.trace));
  // A table of what is left would be wrong, and so would be the reason why there is none.
  trace::look_through(trace);
  trace::refuse_damaged(trace);
  for (const std::string& note : trace.info().notes)
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  const compute::TraceTable result = compute::table_of_trace(
      trace, options.per == "step" ? compute::Per::step : compute::Per::visit);
  write_text_file(options.output, machine::format_compute_table(result.table));
  const double inside = result.in_regions.seconds();
  const double all = inside + result.elsewhere.seconds();
  std::printf("%zu %s with %.1f %% of the computation -> %s\n", result.table.regions.size(),
              result.table.regions.size() == 1 ? "region" : "regions",
              all > 0 ? 100 * inside / all : 0, options.output.c_str());
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "A trace of the program on the target")->required();
  app.add_option("--per", options->per,
                 "What a region's time is given for: each visit, or each step that it announces")
      ->check(CLI::IsMember({"visit", "step"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "The compute table to write (TOML)")->required();
  return [options] { return regions(*options); };
}

}  // namespace
}  // namespace regions_command

const Subcommand kRegions{"regions",
                          "Write what the phases of a run computed, for --compute table:FILE",
                          regions_command::declare, "foretrace regions run.ftr -o phases.toml\n"};

}  // namespace foretrace::cli
