#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "architecture/convert.hpp"
#include "architecture/elaborate.hpp"
#include "architecture/entity_run.hpp"
#include "base/error.hpp"
#include "base/time_text.hpp"
#include "cli/pages/architecture_editor.hpp"
#include "cli/pages/watch_output.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/architecture_file.hpp"
#include "cli/words/named_files.hpp"
#include "topology/builders.hpp"
#include "views/architecture/drawing.hpp"

namespace foretrace::cli {
namespace architecture_command {
namespace {

struct Options {
  std::string action;
  std::string file;
  std::string output;
  ArchitectureOptions chosen;
  WatchOptions watch;
  std::string second;
  std::string until = "1s";
  std::string patience = "10s";
  bool boxes = false;
  bool json = false;
};

std::string parameters_of(const std::vector<architecture::ParameterSpec>& all) {
  std::string text;
  for (const architecture::ParameterSpec& one : all)
    text += (text.empty() ? "; parameters " : ", ") + one.name;
  return text;
}

void list_boxes(const architecture::Description& description,
                const architecture::FlatArchitecture& flat) {
  for (const architecture::Box& box : flat.boxes) {
    const std::string parameters =
        parameters_of(description.composites.find(box.composite)->second.parameters);
    if (!box.path.empty() || !parameters.empty())
      std::printf("  %s: %s%s\n", box.path.empty() ? "the machine" : box.path.c_str(),
                  box.composite.c_str(), parameters.c_str());
  }
  for (const architecture::FlatEntity& entity : flat.entities)
    std::printf(
        "  %s: %s, level %s%s\n", entity.path.c_str(), std::string(entity.behaviour_name()).c_str(),
        entity.level.c_str(),
        parameters_of(entity.behaviour ? entity.behaviour->parameters : entity.kind->parameters)
            .c_str());
}

int check(const Options& options) {
  const auto description = read_architecture(options.file);
  const auto flat = architecture::elaborate(description, choices_of(options.chosen));
  std::map<std::string, std::map<std::string, int>> kinds;
  for (const architecture::FlatEntity& entity : flat.entities)
    ++kinds[std::string(entity.behaviour_name())][entity.level];
  if (options.json) {
    nlohmann::ordered_json all;
    all["name"] = flat.name;
    all["entities"] = flat.entities.size();
    all["links"] = flat.links.size();
    all["boxes"] = flat.boxes.size();
    for (const auto& [kind, levels] : kinds)
      for (const auto& [level, count] : levels) all["kinds"][kind][level] = count;
    std::printf("%s\n", all.dump(2).c_str());
    return 0;
  }
  std::printf("%s\n  entities  %zu\n  links     %zu\n  boxes     %zu\n", flat.name.c_str(),
              flat.entities.size(), flat.links.size(), flat.boxes.size());
  for (const auto& [kind, levels] : kinds)
    for (const auto& [level, count] : levels)
      std::printf("  %6d %s (level %s)\n", count, kind.c_str(), level.c_str());
  if (options.boxes) list_boxes(description, flat);
  return 0;
}

void print_json(const architecture::EntityRunResult& result) {
  nlohmann::ordered_json all;
  all["end"] = static_cast<double>(result.end) * 1e-12;
  all["events"] = result.events;
  if (!result.failure.empty()) all["failure"] = result.failure;
  auto& entities = all["entities"] = nlohmann::ordered_json::array();
  for (const architecture::EntityReport& one : result.entities)
    entities.push_back({{"path", one.path},
                        {"behaviour", one.behaviour},
                        {"received", one.received},
                        {"sent", one.sent},
                        {"in_system", one.in_system},
                        {"most_in_system", one.most_in_system},
                        {"utilisation", one.utilisation},
                        {"stay", one.stay}});
  std::printf("%s\n", all.dump(2).c_str());
}

int run(const Options& options) {
  const auto until = parse_seconds(options.until);
  if (!until || *until > 1e6)
    throw UsageError("--until must be a time such as 10s, found '" + options.until + "'");
  const auto patience = parse_seconds(options.patience);
  if (!patience || *patience > 1e6)
    throw UsageError("--patience must be a time such as 10s, found '" + options.patience + "'");
  const auto description = read_architecture(options.file);
  const auto flat = architecture::elaborate(description, choices_of(options.chosen));
  const auto recording = recording_of(options.watch, flat, "architecture run --watch");
  const auto result = architecture::run_entities(flat, std::llround(*until * 1e12), nullptr,
                                                 *patience, recording.get());
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s, %.9g s, %llu events\n", flat.name.c_str(),
                static_cast<double>(result.end) * 1e-12,
                static_cast<unsigned long long>(result.events));
    std::printf("  %-20s %10s %10s %9s %6s %6s  %s\n", "entity", "received", "sent", "inside",
                "most", "busy", "stay");
    for (const architecture::EntityReport& one : result.entities)
      std::printf("  %-20s %10llu %10llu %9.4f %6lld %5.1f%%  %.6g s\n", one.path.c_str(),
                  static_cast<unsigned long long>(one.received),
                  static_cast<unsigned long long>(one.sent), one.in_system,
                  static_cast<long long>(one.most_in_system), one.utilisation * 100, one.stay);
  }
  if (recording) write_watch(options.watch, flat, *recording, {}, result.end, flat.name);
  if (result.failure.empty()) return 0;
  std::fflush(stdout);
  throw Error(result.failure + "; the run ended there");
}

int draw(const Options& options) {
  if (options.output.empty()) throw UsageError("architecture draw needs -o FILE.svg");
  ending_of(options.output, "architecture draw", {".svg"});
  const auto description = read_architecture(options.file);
  write_output(options.output,
               views::render_svg_architecture(
                   architecture::elaborate(description, choices_of(options.chosen)), {}));
  return 0;
}

int convert(const Options& options) {
  if (options.output.empty()) throw UsageError("architecture convert needs -o FILE.arch.toml");
  ending_of(options.output, "architecture convert", {".toml"});
  const machine::Topology topology =
      machine::make_topology(find_named(Named::topology, options.file));
  const bool regular = topology.shape().kind != machine::TopologyKind::arbitrary;
  write_output(options.output,
               architecture::description_of(
                   topology, regular ? machine::format_shape(topology.shape()) : std::string()));
  return 0;
}

int beside(const Options& options) {
  if (options.second.empty() || options.output.empty())
    throw UsageError("architecture beside needs two pages and -o BOTH.html");
  ending_of(options.output, "architecture beside", {".html"});
  write_beside(options.file, options.second, options.output);
  return 0;
}

int build(const Options& options) {
  if (options.output.empty()) throw UsageError("architecture build needs -o FILE.so");
  ending_of(options.output, "architecture build", {".so"});
  const char* compiler = std::getenv("CXX");
  const std::vector<std::string> command = {compiler && *compiler ? compiler : "c++",
                                            "-std=c++20",
                                            "-O2",
                                            "-fPIC",
                                            "-shared",
                                            "-Wall",
                                            "-I" + include_directory(),
                                            options.file,
                                            "-o",
                                            options.output};
  const int status = run_and_wait(command);
  if (status != 0) throw Error(options.file + ": the compiler refused it; see its messages above");
  tell_written(options.output);
  return 0;
}

int architecture_command(const Options& options) {
  if (options.action != "beside" && !options.second.empty())
    throw UsageError("architecture " + options.action + " takes one file, found '" +
                     options.second + "', too");
  if (options.action != "run" && !options.watch.file.empty())
    throw UsageError(
        "--watch is for architecture run; a program's messages are shown by foretrace "
        "simulate --network arch:FILE --watch PAGE.html");
  if (options.action == "check") return check(options);
  if (options.action == "run") return run(options);
  if (options.action == "draw") return draw(options);
  if (options.action == "edit") edit_architecture(options.file);
  if (options.action == "convert") return convert(options);
  if (options.action == "beside") return beside(options);
  return build(options);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("action", options->action,
                 "check a description, draw it, edit it on a page, run its queues, convert a "
                 "topology into one, "
                 "build a plug-in, put two pages of --watch beside each other")
      ->check(CLI::IsMember({"check", "draw", "edit", "run", "convert", "build", "beside"}))
      ->required();
  app.add_option("file", options->file,
                 "MACHINE.arch.toml; convert: a topology; build: the plug-in's source; beside: a "
                 "page")
      ->required();
  app.add_option("second", options->second, "beside: the other page");
  add_architecture_options(app, options->chosen);
  add_watch_options(app, options->watch);
  app.add_option("--until", options->until, "run: how much virtual time (1s)");
  app.add_option("--patience", options->patience,
                 "run: processor time that an entity may need for one event (10s; 0s: any)");
  app.add_flag("--boxes", options->boxes,
               "check: list every box and entity, with their parameters");
  app.add_flag("--json", options->json, "Print one JSON object");
  app.add_option("-o,--output", options->output, "draw, convert, build, beside: the file to write");
  return [options] { return architecture_command(*options); };
}

}  // namespace
}  // namespace architecture_command

const Subcommand kArchitecture{"architecture",
                               "Draw a machine from parts, check it, and run its queues",
                               architecture_command::declare,
                               "foretrace architecture check mesh.arch.toml --boxes\n"
                               "foretrace architecture draw mesh.arch.toml -o mesh.svg\n"
                               "foretrace architecture edit mesh.arch.toml\n"
                               "foretrace architecture run queue.arch.toml --until 10s\n"
                               "foretrace architecture beside a.html b.html -o both.html\n"
                               "foretrace architecture convert torus:4x4 -o torus.arch.toml\n"
                               "foretrace architecture build backoff.cpp -o backoff.so\n"};

}  // namespace foretrace::cli
