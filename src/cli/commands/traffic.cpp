#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "architecture/elaborate.hpp"
#include "architecture/flat_fabric.hpp"
#include "architecture/traffic.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/architecture_file.hpp"
#include "cli/words/option_values.hpp"
#include "topology/builders.hpp"
#include "topology/shape.hpp"
#include "views/architecture/traffic_report.hpp"

namespace foretrace::cli {
namespace traffic_command {
namespace {

struct Options {
  std::string architecture;
  std::string pattern = "uniform";
  std::string loads;
  std::string output;
  ArchitectureOptions chosen;
  int packet_flits = 1;
  std::int64_t warm_up = 5000;
  std::int64_t cycles = 20'000;
  std::uint64_t seed = 1;
  double burst = 0;
  double burst_rate = 1;
  // Of a topology: what its switches are.
  int vcs = 0;
  int buffer = 8;
  std::string allocation = "joint";
  std::string routing = "own";
  std::string level = "vc";
  bool json = false;
};

architecture::Routing routing_called(const std::string& name, architecture::Routing own) {
  return name == "table"             ? architecture::Routing::table
         : name == "random"          ? architecture::Routing::random_minimal
         : name == "adaptive"        ? architecture::Routing::adaptive
         : name == "dimension-order" ? architecture::Routing::dimension_order
         : name == "up-down"         ? architecture::Routing::up_down
                                     : own;
}

// All links of a topology take a flit a cycle here.
void tell_of_speeds(const machine::Topology& topology) {
  for (int link = 0; link < topology.links(); ++link) {
    const machine::LinkSpeed& speed = topology.speed(machine::LinkId(link));
    if (!speed.latency && !speed.bytes_per_second) continue;
    std::fputs(
        "foretrace: the topology says how fast its links are; traffic takes no notice, and every "
        "link takes a flit a cycle\n",
        stderr);
    return;
  }
}

architecture::FlatFabric fabric_of_topology(const Options& options) {
  const machine::Topology topology = machine::make_topology(options.architecture);
  tell_of_speeds(topology);
  const machine::Shape& shape = topology.shape();
  architecture::SwitchSettings settings;
  settings.level = options.level == "crossbar" ? architecture::SwitchLevel::crossbar
                                               : architecture::SwitchLevel::queued;
  settings.allocation = options.allocation == "joint" ? architecture::Allocation::joint
                        : options.allocation == "speculative"
                            ? architecture::Allocation::speculative
                            : architecture::Allocation::sequential;
  settings.routing = routing_called(options.routing, architecture::own_routing(shape.kind));
  const bool rings = machine::is_grid(shape) && machine::grid_wraps(shape);
  settings.vcs = options.vcs > 0 ? options.vcs : rings ? 2 : 1;
  settings.buffer = options.buffer;
  architecture::FlatFabric made;
  made.fabric = architecture::make_fabric(topology, settings);
  return made;
}

// As --topology takes it elsewhere; else a description.
bool is_topology_file(const std::string& path) {
  const std::string text = "\n" + read_if_possible(path);
  return text.find("\n[topology]") != std::string::npos;
}

architecture::FlatFabric fabric_of_file(const Options& options) {
  if (options.vcs > 0)
    throw UsageError("--vcs is for topologies; a description says it in its switches' parameters");
  const auto description = read_architecture(options.architecture);
  return architecture::fabric_of(architecture::elaborate(description, choices_of(options.chosen)));
}

std::vector<double> parse_loads(const std::string& text) {
  std::vector<double> loads;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    double load = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + comma, load);
    if (error != std::errc() || end != rest.data() + comma || !(load > 0 && load <= 1))
      throw UsageError(
          "--load must be loads above 0, up to 1 flit a cycle, with commas between, found '" +
          text + "'");
    loads.push_back(load);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  std::ranges::sort(loads);
  return loads;
}

std::string name_of(const architecture::Fabric& fabric, int router) {
  const auto number = static_cast<std::size_t>(router);
  return number < fabric.names.size() ? fabric.names[number] : "switch " + std::to_string(router);
}

void add_hottest(const architecture::Fabric& fabric, views::TrafficReport& report) {
  const auto& points = report.curve.points;
  const auto last =
      std::find_if(points.rbegin(), points.rend(), [](const auto& p) { return p.stable; });
  if (last == points.rend()) return;
  for (std::size_t r = 0; r < last->link_load.size(); ++r)
    for (std::size_t p = 0; p < last->link_load[r].size(); ++p) {
      const architecture::Channel& out = fabric.ports[r][p].out;
      if (out.router < 0) continue;
      report.hottest.emplace_back(
          name_of(fabric, static_cast<int>(r)) + " -> " + name_of(fabric, out.router),
          last->link_load[r][p]);
    }
  std::ranges::stable_sort(report.hottest, std::greater<>(),
                           &std::pair<std::string, double>::second);
  report.hottest.resize(std::min<std::size_t>(5, report.hottest.size()));
}

int traffic(const Options& options) {
  if (!options.output.empty()) ending_of(options.output, "traffic", {".svg", ".json"});
  const std::vector<double> loads = parse_loads(options.loads);
  const bool is_file =
      options.architecture.ends_with(".toml") && !is_topology_file(options.architecture);
  const architecture::FlatFabric made =
      is_file ? fabric_of_file(options) : fabric_of_topology(options);
  const architecture::Pattern pattern = architecture::parse_pattern(options.pattern, made.fabric);
  architecture::TrafficOptions run;
  run.packet_flits = options.packet_flits;
  run.warm_up = options.warm_up;
  run.measured = options.cycles;
  run.seed = options.seed;
  run.burst = options.burst;
  run.burst_rate = options.burst_rate;
  views::TrafficReport report;
  report.name = options.architecture;
  report.pattern = options.pattern;
  report.terminals = made.fabric.terminals();
  report.routers = made.fabric.routers();
  report.packet_flits = options.packet_flits;
  report.cycle_seconds = static_cast<double>(made.cycle) * 1e-12;
  report.flit_bytes = static_cast<double>(made.flit_bytes);
  report.curve = architecture::traffic_curve(made.fabric, pattern, loads, run);
  add_hottest(made.fabric, report);
  const std::string text =
      options.json ? views::render_json_traffic(report) : views::render_text_traffic(report);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!options.output.empty())
    write_output(options.output, options.output.ends_with(".svg")
                                     ? views::render_svg_traffic(report)
                                     : views::render_json_traffic(report));
  return 0;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("architecture", options->architecture,
                 "MACHINE.arch.toml, or a topology: mesh:8x8, a TOML file; or the name of one that "
                 "comes with Foretrace")
      ->transform(topology_or_architecture_name())
      ->required();
  app.add_option("--pattern", options->pattern,
                 "Who sends to whom: " + architecture::pattern_words())
      ->check(offers(without_spaces(architecture::pattern_words())));
  app.add_option("--load", options->loads,
                 "Loads in flits a cycle and terminal, with commas between (12 up to saturation)");
  app.add_option("--packet", options->packet_flits, "Flits of a packet (1)")
      ->check(in_range(1, 4096));
  app.add_option("--warm-up", options->warm_up, "Cycles before the measured ones (5000)")
      ->check(in_range(std::int64_t{0}, std::int64_t{100'000'000}));
  app.add_option("--cycles", options->cycles, "Cycles that are measured (20000)")
      ->check(in_range(std::int64_t{100}, std::int64_t{1'000'000'000}));
  app.add_option("--seed", options->seed, "Of the random numbers (1)");
  app.add_option("--burst", options->burst,
                 "Sources create packets in bursts of that many cycles on average")
      ->check(in_range(1.0, 1e9));
  app.add_option("--burst-rate", options->burst_rate, "Flits a cycle within a burst (1)")
      ->check(in_range(1e-6, 1.0));
  app.add_option("--vcs", options->vcs, "A topology's switches: virtual channels")
      ->check(in_range(1, 32));
  app.add_option("--buffer", options->buffer, "A topology's switches: flits of each (8)")
      ->check(in_range(1, 4096));
  app.add_option("--allocation", options->allocation, "A topology's switches (joint)")
      ->check(CLI::IsMember({"joint", "speculative", "sequential"}));
  app.add_option("--routing", options->routing, "A topology's switches (own)")
      ->check(CLI::IsMember({"own", "table", "random", "adaptive", "dimension-order", "up-down"}));
  app.add_option("--switch", options->level, "A topology's switches: vc or ideal crossbar (vc)")
      ->check(CLI::IsMember({"vc", "crossbar"}));
  add_architecture_options(app, options->chosen, "A description: ");
  app.add_option("-o,--output", options->output, "Draw the curve (FILE.svg), or write FILE.json");
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return traffic(*options); };
}

}  // namespace
}  // namespace traffic_command

const Subcommand kTraffic{
    "traffic", "Latency over load of a network under synthetic traffic, and where it saturates",
    traffic_command::declare,
    "foretrace traffic mesh:8x8 --vcs 4\n"
    "foretrace traffic machine.arch.toml --pattern hotspot:0:0.1 -o curve.svg\n"};

}  // namespace foretrace::cli
