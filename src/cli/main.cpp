#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <string>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/completion.hpp"
#include "cli/words/mistake.hpp"
#include "cli/words/nearest.hpp"

namespace {

using foretrace::cli::Subcommand;

constexpr const Subcommand* kSubcommands[] = {
    // One a line:
    // clang-format off
    &foretrace::cli::kMeasure,
    &foretrace::cli::kImport,
    &foretrace::cli::kMachines,
    &foretrace::cli::kCalc,
    &foretrace::cli::kModel,
    &foretrace::cli::kStudy,
    &foretrace::cli::kResults,
    &foretrace::cli::kFit,
    &foretrace::cli::kProfile,
    &foretrace::cli::kRecord,
    &foretrace::cli::kPredict,
    &foretrace::cli::kSimulate,
    &foretrace::cli::kReport,
    &foretrace::cli::kRegions,
    &foretrace::cli::kTimeline,
    &foretrace::cli::kWatch,
    &foretrace::cli::kExplain,
    &foretrace::cli::kValidate,
    &foretrace::cli::kCompare,
    &foretrace::cli::kConvert,
    &foretrace::cli::kTopology,
    &foretrace::cli::kArchitecture,
    &foretrace::cli::kTraffic,
    &foretrace::cli::kCoverage,
    &foretrace::cli::kDatasheet,
    &foretrace::cli::kWrap,
    // clang-format on
};

std::string name_of(const Subcommand* subcommand) {
  return subcommand->name;
}

int report_usage(const std::string& message) {
  std::fprintf(stderr, "foretrace: %s\n", message.c_str());
  return 2;
}

[[noreturn]] void refuse_command(const std::string& name) {
  std::vector<std::string> known{"help"};
  for (const Subcommand* subcommand : kSubcommands) known.emplace_back(subcommand->name);
  throw foretrace::UsageError("unknown command '" + name + "'" +
                              foretrace::cli::did_you_mean(name, known) +
                              "; foretrace help lists them");
}

// foretrace help [COMMAND].
int print_help(CLI::App& app, int argc, char** argv) {
  if (argc > 3) return report_usage("help: one command at a time");
  std::string text;
  try {
    text = argc == 3 ? app.get_subcommand(argv[2])->help(app.get_name()) : app.help();
  } catch (const CLI::OptionNotFound&) {
    refuse_command(argv[2]);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

void describe(CLI::App& app) {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("foretrace ") + FORETRACE_VERSION);
  // A flag in the parser's eyes; handled before it.
  app.add_flag_callback(
      "--cflags", [] {}, "Print what a compiler needs to find foretrace.h");
  app.footer(
      "Examples:\n"
      "  foretrace record -n 8 -o run.ftr -- ./app             log one run of a program\n"
      "  foretrace simulate run.ftr --machine cray-t3d         how long it takes on a machine\n"
      "  foretrace machines                                    which machines there are\n"
      "\nforetrace help COMMAND tells the options of a command, man foretrace-COMMAND all of it.");
}

std::string indented(const char* lines) {
  std::string text;
  for (const char* at = lines; *at; ++at) {
    if (at == lines || at[-1] == '\n') text += "  ";
    text += *at;
  }
  return text;
}

bool names_output(const CLI::Option& option) {
  return option.check_lname("output") || option.check_lname("better-placement") ||
         option.get_name(true) == "out";
}

void check_outputs(const CLI::App& command) {
  std::vector<std::string> words;
  std::vector<std::string> outputs;
  for (const CLI::Option* option : command.get_options()) {
    std::vector<std::string>& names = names_output(*option) ? outputs : words;
    names.insert(names.end(), option->results().begin(), option->results().end());
  }
  foretrace::cli::check_inputs_stay(command.get_name(), words, outputs);
  // Before a command reads and computes; that one makes the folders it needs.
  if (command.get_name() == "datasheet") return;
  for (const std::string& output : outputs)
    if (!output.empty()) foretrace::cli::check_folder(output);
}

int run(int argc, char** argv) {
  CLI::App app("Foretrace tells what an MPI program will do on a machine before it runs there.",
               "foretrace");
  describe(app);
  const std::string first = argc > 1 ? argv[1] : "";
  // All options of all commands take longer than some commands do.
  const bool names_one = std::ranges::find(kSubcommands, first, name_of) != std::end(kSubcommands);
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Subcommand* subcommand : kSubcommands) {
    if (names_one && first != subcommand->name) continue;
    CLI::App* sub = app.add_subcommand(subcommand->name, subcommand->summary);
    actions[sub] = subcommand->declare(*sub);
    if (*subcommand->examples) sub->footer("Examples:\n" + indented(subcommand->examples));
  }
  if (first == "help") return print_help(app, argc, argv);
  if (first == "--cflags") {
    std::printf("-I%s\n", foretrace::cli::include_directory().c_str());
    return 0;
  }
  if (first == "--completion-data") {
    std::fputs(foretrace::cli::completion_data(app).c_str(), stdout);
    return 0;
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
    if (chosen.empty() && !first.empty() && first[0] != '-') refuse_command(first);
    return report_usage(foretrace::cli::mistake_of(error, chosen.empty() ? app : *chosen.front()));
  }
  const CLI::App* const chosen = app.get_subcommands().front();
  if (const std::string misplaced = foretrace::cli::misplaced_machine(*chosen); !misplaced.empty())
    return report_usage(misplaced);
  check_outputs(*chosen);
  return actions.at(chosen)();
}

int run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const foretrace::UsageError& error) {
    return report_usage(error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "foretrace: %s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  foretrace::cli::open_standard_streams();
  foretrace::cli::remove_unfinished_if_interrupted();
  const int status = run_guarded(argc, argv);
  // Whoever was interrupted ends by that signal, so that a shell's loop ends too.
  if (status != 0) foretrace::cli::end_by_signal_if_interrupted();
  // What could not be printed is an error as well.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "foretrace: cannot write the output: %s\n", std::strerror(errno));
  return status == 0 ? 1 : status;
}
