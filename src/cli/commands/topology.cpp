#include <charconv>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/words/option_values.hpp"
#include "topology/builders.hpp"
#include "topology/properties.hpp"
#include "views/topology/layout.hpp"
#include "views/topology/report.hpp"
#include "views/topology/svg.hpp"

namespace foretrace::cli {
namespace topology_command {
namespace {

struct Options {
  std::string topology;
  std::string output;
  std::string route;
  bool json = false;
};

views::TopologyRoute parse_route(const std::string& text, const machine::Topology& topology) {
  const auto rank_in = [&](std::string_view part) {
    std::int64_t rank = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), rank);
    if (error != std::errc() || end != part.data() + part.size() || rank < 0 ||
        rank >= topology.ranks() || rank > INT32_MAX)
      throw UsageError("--route must be FROM:TO with ranks from 0 to " +
                       std::to_string(topology.ranks() - 1) + ", found '" + text + "'");
    return WorldRank(static_cast<std::int32_t>(rank));
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all = text;
  views::TopologyRoute route;
  route.from = rank_in(all.substr(0, colon));
  route.to = rank_in(all.substr(std::min(colon + 1, text.size())));
  route.reachable =
      topology.route(topology.node_of(route.from), topology.node_of(route.to), route.links);
  return route;
}

int topology(const Options& options) {
  if (!options.output.empty()) ending_of(options.output, "topology", {".svg"});
  const machine::Topology topology = machine::make_topology(options.topology);
  std::optional<views::TopologyRoute> route;
  if (!options.route.empty()) route = parse_route(options.route, topology);
  // First what may refuse, so that nothing is printed or written then.
  std::string svg;
  if (!options.output.empty())
    svg = views::render_topology_svg(
        views::lay_out_topology(topology, route ? route->links : std::vector<machine::LinkId>()));
  const machine::TopologyProperties properties = machine::properties_of(topology);
  const std::string text = options.json ? views::render_json_topology(topology, properties, route)
                                        : views::render_text_topology(topology, properties, route);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!options.output.empty()) write_output(options.output, svg);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("topology", options->topology,
                 "KIND:SIZES[?KEY=VALUE&...], e.g. torus:4x4x4?latency=1us&bandwidth=1GB/s, or a "
                 "TOML file, or the name of one that comes with Foretrace")
      ->transform(topology_name())
      ->required();
  app.add_option("-o,--output", options->output, "Draw the topology (FILE.svg)");
  app.add_option("--route", options->route, "FROM:TO, two ranks: the way of their messages");
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return topology(*options); };
}

}  // namespace
}  // namespace topology_command

const Subcommand kTopology{"topology", "Tell the properties of a network topology, and draw it",
                           topology_command::declare,
                           "foretrace topology torus:4x4x4\n"
                           "foretrace topology fat-tree-64 -o tree.svg --route 0:15\n"};

}  // namespace foretrace::cli
