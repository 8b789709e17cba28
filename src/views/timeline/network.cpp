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

// The processors that send to each other.
std::set<std::pair<int, int>> talking(const RunNetwork& network, const trace::Trace& trace) {
  std::set<std::pair<int, int>> pairs;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    for (const trace::Event& event : trace.ranks[r]) {
      const bool sends = event.kind == trace::EventKind::send ||
                         event.kind == trace::EventKind::isend ||
                         event.kind == trace::EventKind::sendrecv;
      if (!sends || !event.send.peer.valid()) continue;
      const int from = network.placement[r].value;
      const int to = network.placement[static_cast<std::size_t>(event.send.peer.value)].value;
      if (from != to) pairs.insert({from, to});
    }
  return pairs;
}

}  // namespace

std::string network_json(const RunNetwork& network, const trace::Trace& trace) {
  const Topology& topology = network.topology;
  json ranks = json::array();
  for (const NodeId node : network.placement) ranks.push_back(node.value);
  json routes = json::array();
  std::size_t left = kMostRouteNodes;
  for (const auto& [from, to] : talking(network, trace)) {
    std::vector<LinkId> links;
    if (!topology.route(NodeId(from), NodeId(to), links)) continue;
    if (links.size() + 1 > left) break;
    left -= links.size() + 1;
    json route = {from};
    for (const LinkId link : links) route.push_back(topology.to(link).value);
    routes.push_back(std::move(route));
  }
  const json all = {{"name", topology.name()},
                    {"nodes", nodes_of(topology)},
                    {"links", links_of(topology)},
                    {"ranks", std::move(ranks)},
                    {"routes", std::move(routes)}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace foretrace::views
