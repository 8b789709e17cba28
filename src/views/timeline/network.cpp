#include "views/timeline/network.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "views/topology/positions.hpp"

namespace foretrace::views {
namespace {

using json = nlohmann::ordered_json;
using machine::LinkId;
using machine::NodeId;
using machine::Topology;

constexpr std::size_t kMostRouteNodes = 500'000;

json nodes_of(const Topology& topology) {
  const std::vector<Point> points = place_nodes(topology).nodes;
  Point least = points.front();
  Point most = least;
  for (const Point& point : points) {
    least = {std::min(least.x, point.x), std::min(least.y, point.y)};
    most = {std::max(most.x, point.x), std::max(most.y, point.y)};
  }
  const double side = std::max({most.x - least.x, most.y - least.y, 1e-9});
  const auto share = [&](double value, double low, double high) {
    const double margin = (side - (high - low)) / 2;
    return std::round((value - low + margin) / side * 1e4) / 1e4;
  };
  json list = json::array();
  for (std::size_t i = 0; i < points.size(); ++i)
    list.push_back({share(points[i].x, least.x, most.x), share(points[i].y, least.y, most.y),
                    static_cast<int>(topology.kind(NodeId(static_cast<std::int32_t>(i))))});
  return list;
}

json links_of(const Topology& topology) {
  std::set<std::pair<int, int>> pairs;
  for (int link = 0; link < topology.links(); ++link) {
    const int from = topology.from(LinkId(link)).value;
    const int to = topology.to(LinkId(link)).value;
    pairs.insert({std::min(from, to), std::max(from, to)});
  }
  json list = json::array();
  for (const auto& [a, b] : pairs) list.push_back({a, b});
  return list;
}

using Pairs = std::set<std::pair<int, int>>;

void add_pair(Pairs& pairs, const RunNetwork& network, WorldRank from, WorldRank to) {
  const auto node = [&](WorldRank rank) {
    return network.placement[static_cast<std::size_t>(rank.value)].value;
  };
  if (node(from) != node(to)) pairs.insert({node(from), node(to)});
}

// The processors that send to each other.
Pairs talking(const RunNetwork& network, const trace::Trace& trace) {
  Pairs pairs;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    for (const trace::Event& event : trace.ranks[r]) {
      const bool sends = event.kind == trace::EventKind::send ||
                         event.kind == trace::EventKind::isend ||
                         event.kind == trace::EventKind::sendrecv;
      if (sends && event.send.peer.valid())
        add_pair(pairs, network, WorldRank(static_cast<std::int32_t>(r)), event.send.peer);
    }
  return pairs;
}

// Those that do so inside collectives.
Pairs talking_inside(const RunNetwork& network, const std::vector<CallRounds>& rounds) {
  Pairs pairs;
  for (const CallRounds& call : rounds)
    for (const auto& round : call.rounds)
      for (const auto& [from, to] : round) add_pair(pairs, network, from, to);
  return pairs;
}

json routes_of(const RunNetwork& network, const trace::Trace& trace,
               const std::vector<CallRounds>& rounds) {
  const Topology& topology = network.topology;
  const Pairs own = talking(network, trace);
  std::vector<std::pair<int, int>> pairs(own.begin(), own.end());
  for (const auto& pair : talking_inside(network, rounds))
    if (!own.contains(pair)) pairs.push_back(pair);
  json routes = json::array();
  std::size_t left = kMostRouteNodes;
  for (const auto& [from, to] : pairs) {
    std::vector<LinkId> links;
    if (!topology.route(NodeId(from), NodeId(to), links)) continue;
    if (links.size() + 1 > left) break;
    left -= links.size() + 1;
    json route = {from};
    for (const LinkId link : links) route.push_back(topology.to(link).value);
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace

std::string network_json(const RunNetwork& network, const trace::Trace& trace,
                         const std::vector<CallRounds>& rounds) {
  const Topology& topology = network.topology;
  json ranks = json::array();
  for (const NodeId node : network.placement) ranks.push_back(node.value);
  const json all = {{"name", topology.name()},
                    {"nodes", nodes_of(topology)},
                    {"links", links_of(topology)},
                    {"ranks", std::move(ranks)},
                    {"routes", routes_of(network, trace, rounds)}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace foretrace::views
