#include <cstdio>
#include <exception>
#include <map>

#include "base/error.hpp"
#include "cli/subcommand.hpp"

namespace {

using foretrace::cli::Subcommand;

constexpr const Subcommand* kSubcommands[] = {
    &foretrace::cli::kMeasure,  &foretrace::cli::kMachines, &foretrace::cli::kCalc,
    &foretrace::cli::kProfile,  &foretrace::cli::kRecord,   &foretrace::cli::kPredict,
    &foretrace::cli::kSimulate, &foretrace::cli::kReport,   &foretrace::cli::kRegions,
    &foretrace::cli::kTimeline, &foretrace::cli::kCompare,  &foretrace::cli::kConvert,
    &foretrace::cli::kTopology, &foretrace::cli::kCoverage, &foretrace::cli::kDatasheet,
    &foretrace::cli::kWrap};

int report_usage(const std::string& message) {
  std::fprintf(stderr, "foretrace: %s\n", message.c_str());
  return 2;
}

int run(int argc, char** argv) {
  CLI::App app("Foretrace tells what an MPI program will do on a machine before it runs there.",
               "foretrace");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("foretrace ") + FORETRACE_VERSION);
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Subcommand* subcommand : kSubcommands) {
    CLI::App* sub = app.add_subcommand(subcommand->name, subcommand->summary);
    actions[sub] = subcommand->declare(*sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    if (chosen.empty() && argc > 1 && argv[1][0] != '-')
      return report_usage(std::string("unknown sub-command '") + argv[1] +
                          "'; see foretrace --help");
    const std::string name = chosen.empty() ? "" : chosen.front()->get_name() + " ";
    return report_usage(std::string(error.what()) + "; see foretrace " + name + "--help");
  }
  return actions.at(app.get_subcommands().front())();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const foretrace::UsageError& error) {
    return report_usage(error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "foretrace: %s\n", error.what());
    return 1;
  }
}
