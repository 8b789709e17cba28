#include "views/topology/report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "views/draw/json_text.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using machine::DegreeRange;
using machine::Finding;
using machine::LinkId;
using machine::LinkSpeed;
using machine::NodeId;
using machine::Topology;
using machine::TopologyProperties;
using json = nlohmann::ordered_json;

std::string format_rate(double bytes_per_second) {
  if (std::isinf(bytes_per_second)) return "no limit";
  const char* const kUnits[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  while (bytes_per_second >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes_per_second, kUnits[unit]);
}

std::string format_speed(const LinkSpeed& speed) {
  return (speed.latency ? format_time(*speed.latency) : "latency not given") + ", " +
         (speed.bytes_per_second ? format_rate(*speed.bytes_per_second) : "bandwidth not given") +
         (speed.burst ? fmt::format(", burst {} B", *speed.burst) : "");
}

std::string format_degrees(const DegreeRange& range) {
  return range.min == range.max ? std::to_string(range.min)
                                : fmt::format("{} to {}", range.min, range.max);
}

// The least and greatest of the links' values; links out of a bus are part of
// the way into it.
std::string format_links_speed(const Topology& topology) {
  const LinkSpeed* first = nullptr;
  bool differ = false;
  for (int l = 0; l < topology.links(); ++l) {
    const LinkId link(l);
    if (topology.kind(topology.from(link)) == machine::NodeKind::bus) continue;
    if (!first) first = &topology.speed(link);
    differ = differ || topology.speed(link) != *first;
  }
  if (!first) return "";
  return differ ? "differ from link to link" : format_speed(*first);
}

std::string format_hops(const TopologyProperties& properties, int greatest, double mean) {
  if (properties.distances == Finding::sampled)
    return fmt::format("at least {}, {:.4g} on average (from {} processors, evenly spread)",
                       greatest, mean, properties.sampled_sources);
  return fmt::format("{} at most, {:.4g} on average", greatest, mean);
}

std::string format_bisection(const TopologyProperties& properties) {
  const auto& bisection = properties.bisection;
  const bool bound = bisection.finding == Finding::upper_bound;
  return fmt::format("{}{} link{} ({})", bound ? "at most " : "", bisection.width,
                     bisection.width == 1 ? "" : "s", bisection.how);
}

std::string format_connected(const TopologyProperties& properties) {
  if (properties.connected) return "every processor reaches every other";
  return fmt::format("{}{} pair{} without a way",
                     properties.distances == Finding::sampled ? "at least " : "",
                     properties.unreachable_pairs, properties.unreachable_pairs == 1 ? "" : "s");
}

std::string list_unreachable(const Topology& topology, const TopologyProperties& properties) {
  std::string out;
  for (const auto& row : properties.unreachable) {
    std::string targets;
    for (NodeId node : row.examples)
      targets += (targets.empty() ? "" : ", ") + topology.node_name(node);
    const auto more = row.count - static_cast<std::int64_t>(row.examples.size());
    if (more > 0) targets += fmt::format(" and {} more", more);
    out += fmt::format("  {} cannot reach {}\n", topology.node_name(row.from), targets);
  }
  return out;
}

// Sum of the latencies and least bandwidth on the way; nothing where a link
// does not say.
struct Way {
  std::optional<Time> latency = Time();
  std::optional<double> bytes_per_second = std::numeric_limits<double>::infinity();
};

Way way_of(const Topology& topology, const TopologyRoute& route) {
  Way way;
  const auto pass = [&way](const LinkSpeed& speed) {
    if (way.latency && speed.latency)
      *way.latency += *speed.latency;
    else
      way.latency.reset();
    if (way.bytes_per_second && speed.bytes_per_second)
      way.bytes_per_second = std::min(*way.bytes_per_second, *speed.bytes_per_second);
    else
      way.bytes_per_second.reset();
  };
  for (LinkId link : route.links) pass(topology.speed(link));
  if (route.links.empty()) pass(topology.intra_node());
  return way;
}

int hops_of(const Topology& topology, const TopologyRoute& route) {
  int hops = 0;
  for (LinkId link : route.links) hops += topology.graph().hops(link.value);
  return hops;
}

std::string render_route(const Topology& topology, const TopologyRoute& route) {
  std::string out =
      fmt::format("\nroute from rank {} to rank {}: ", route.from.value, route.to.value);
  if (!route.reachable) return out + "there is no way\n";
  if (route.links.empty()) {
    const std::string node = topology.node_name(topology.node_of(route.from));
    return out +
           (route.from == route.to ? "the same rank\n" : fmt::format("both on node {}\n", node));
  }
  const int hops = hops_of(topology, route);
  out += fmt::format("{} hop{}\n  {}", hops, hops == 1 ? "" : "s",
                     topology.node_name(topology.from(route.links.front())));
  for (LinkId link : route.links) out += " -> " + topology.node_name(topology.to(link));
  const Way way = way_of(topology, route);
  if (way.latency || way.bytes_per_second)
    out += fmt::format("\n  latencies {}, least bandwidth {}",
                       way.latency ? format_time(*way.latency) : "not given",
                       way.bytes_per_second ? format_rate(*way.bytes_per_second) : "not given");
  return out + "\n";
}

json json_time(const std::optional<Time>& time) {
  return time ? json(to_seconds(*time)) : json(nullptr);
}
// No limit has no number in JSON.
json json_rate(const std::optional<double>& rate) {
  return rate && std::isfinite(*rate) ? json(*rate) : json(nullptr);
}
json json_degrees(const DegreeRange& range) {
  return {{"min", range.min}, {"max", range.max}};
}

const char* finding_name(Finding finding) {
  return finding == Finding::exact     ? "exact"
         : finding == Finding::sampled ? "sampled"
                                       : "upper bound";
}

json json_route(const Topology& topology, const TopologyRoute& route) {
  json nodes = json::array();
  json links = json::array();
  if (route.reachable) nodes.push_back(topology.node_name(topology.node_of(route.from)));
  for (LinkId link : route.links) {
    nodes.push_back(topology.node_name(topology.to(link)));
    const LinkSpeed& speed = topology.speed(link);
    links.push_back({{"from", topology.node_name(topology.from(link))},
                     {"to", topology.node_name(topology.to(link))},
                     {"latency", json_time(speed.latency)},
                     {"bandwidth", json_rate(speed.bytes_per_second)}});
    if (speed.burst) links.back()["burst"] = *speed.burst;
  }
  const Way way = way_of(topology, route);
  json out = {{"from", route.from.value},
              {"to", route.to.value},
              {"reachable", route.reachable},
              {"hops", route.reachable ? json(hops_of(topology, route)) : json(nullptr)},
              {"nodes", std::move(nodes)},
              {"links", std::move(links)}};
  out["latency"] = route.reachable ? json_time(way.latency) : json(nullptr);
  out["bandwidth"] = route.reachable ? json_rate(way.bytes_per_second) : json(nullptr);
  return out;
}

}  // namespace

std::string render_text_topology(const Topology& topology, const TopologyProperties& properties,
                                 const std::optional<TopologyRoute>& route) {
  const bool bus = topology.shape().kind == machine::TopologyKind::bus;
  TextTable table({Align::left, Align::left});
  table.add({"processors", std::to_string(topology.processors())});
  if (topology.ranks_per_node() > 1)
    table.add({"ranks", fmt::format("{} ({} on each processor)", topology.ranks(),
                                    topology.ranks_per_node())});
  if (topology.switches() > 0)
    table.add({bus ? "buses" : "switches", std::to_string(topology.switches())});
  table.add({"links", fmt::format("{} (one direction each)", topology.links())});
  table.add({"links out of a processor", format_degrees(properties.processor_degree)});
  if (topology.switches() > 0)
    table.add({bus ? "links out of the bus" : "links out of a switch",
               format_degrees(properties.switch_degree)});
  table.add(
      {"distance in hops", format_hops(properties, properties.diameter, properties.mean_distance)});
  table.add({"bisection width", format_bisection(properties)});
  table.add({"connected", format_connected(properties)});
  table.add({"routing", std::string(machine::routing_rule(topology.shape()))});
  table.add({"routes", properties.routes_minimal
                           ? "minimal"
                           : fmt::format("not all minimal: {}",
                                         format_hops(properties, properties.longest_route,
                                                     properties.mean_route))});
  if (const std::string speed = format_links_speed(topology); !speed.empty())
    table.add({"speed of a link", speed});
  if (topology.header() > 0)
    table.add({"header of a message", fmt::format("{} B", topology.header())});
  if (topology.ranks_per_node() > 1)
    table.add({"within a processor", format_speed(topology.intra_node())});
  std::string out = topology.name() + "\n" + table.render(2);
  out += list_unreachable(topology, properties);
  if (route) out += render_route(topology, *route);
  return out;
}

std::string render_json_topology(const Topology& topology, const TopologyProperties& properties,
                                 const std::optional<TopologyRoute>& route) {
  json unreachable = json::array();
  for (const auto& row : properties.unreachable) {
    json examples = json::array();
    for (NodeId node : row.examples) examples.push_back(topology.node_name(node));
    unreachable.push_back({{"from", topology.node_name(row.from)},
                           {"count", row.count},
                           {"examples", std::move(examples)}});
  }
  json out = {{"name", topology.name()},
              {"shape", machine::format_shape(topology.shape())},
              {"processors", topology.processors()},
              {"switches", topology.switches()},
              {"links", topology.links()},
              {"ranks", topology.ranks()},
              {"ranks_per_node", topology.ranks_per_node()},
              {"header", topology.header()},
              {"processor_degree", json_degrees(properties.processor_degree)},
              {"switch_degree", json_degrees(properties.switch_degree)},
              {"diameter", properties.diameter},
              {"mean_distance", properties.mean_distance},
              {"distances", finding_name(properties.distances)},
              {"bisection_width", properties.bisection.width},
              {"bisection", finding_name(properties.bisection.finding)},
              {"connected", properties.connected},
              {"unreachable_pairs", properties.unreachable_pairs},
              {"unreachable", std::move(unreachable)},
              {"routing", machine::routing_rule(topology.shape())},
              {"routes_minimal", properties.routes_minimal},
              {"longest_route", properties.longest_route},
              {"mean_route", properties.mean_route}};
  if (route) out["route"] = json_route(topology, *route);
  return json_text(out);
}

}  // namespace foretrace::views
