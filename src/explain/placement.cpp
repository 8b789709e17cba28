#include "explain/placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "explain/scotch_mapping.hpp"

namespace foretrace::explain {
namespace {

using machine::NodeId;
using machine::Placement;
using machine::Topology;
using sim::MessageMatrix;

// Scotch keeps the distances between all processors.
constexpr int kMostProcessors = 4096;
// The sum of all weights must be a number of 32 bits.
constexpr double kMostWeight = 1e8;

// What of the traffic shall be near.
enum class Near { messages, bytes, both };

WeightedGraph graph_of(const MessageMatrix& matrix, int places, Near near) {
  sim::Traffic sum;
  for (const auto& [pair, traffic] : matrix.pairs()) {
    sum.messages += traffic.messages;
    sum.bytes += traffic.bytes;
  }
  const auto part = [](std::uint64_t one, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(one) / static_cast<double>(all);
  };
  std::map<std::pair<int, int>, double> weights;
  for (const auto& [pair, traffic] : matrix.pairs()) {
    double& weight = weights[std::minmax(pair.first, pair.second)];
    if (near != Near::bytes) weight += part(traffic.messages, sum.messages);
    if (near != Near::messages) weight += part(traffic.bytes, sum.bytes);
  }
  WeightedGraph graph;
  // A place that stays free is a vertex without edges, so that all places are taken.
  graph.vertices = places;
  for (const auto& [pair, weight] : weights)
    graph.edges.push_back({pair.first, pair.second,
                           static_cast<std::int32_t>(1 + std::lround(kMostWeight * weight))});
  return graph;
}

// What a message of middling size takes over each link, in proportion.
WeightedGraph graph_of(const Topology& topology, const MessageMatrix& matrix) {
  sim::Traffic sum{1, 0};
  for (const auto& [pair, traffic] : matrix.pairs()) {
    sum.messages += traffic.messages;
    sum.bytes += traffic.bytes;
  }
  const double bytes = static_cast<double>(sum.bytes) / static_cast<double>(sum.messages);
  std::map<std::pair<int, int>, double> costs;
  double least = std::numeric_limits<double>::infinity();
  for (int link = 0; link < topology.links(); ++link) {
    const machine::LinkSpeed& speed = topology.speed(machine::LinkId(link));
    double cost = speed.latency ? speed.latency->seconds() : 0;
    if (speed.bytes_per_second) cost += bytes / *speed.bytes_per_second;
    const int from = topology.from(machine::LinkId(link)).value;
    const int to = topology.to(machine::LinkId(link)).value;
    double& both = costs[std::minmax(from, to)];
    both = std::max(both, cost);
    if (cost > 0) least = std::min(least, cost);
  }
  constexpr double kFine = 10;
  constexpr double kMost = 1000;
  WeightedGraph graph;
  graph.vertices = topology.nodes();
  for (const auto& [pair, cost] : costs)
    graph.edges.push_back({pair.first, pair.second,
                           static_cast<std::int32_t>(
                               cost > 0 ? std::lround(std::min(kFine * cost / least, kMost)) : 1)});
  return graph;
}

// Scotch's parts may differ by some ranks: who is too many goes to the nearest free place.
Placement placement_of(const std::vector<int>& parts, std::size_t ranks, const Topology& topology) {
  std::vector<int> free(static_cast<std::size_t>(topology.processors()), topology.ranks_per_node());
  Placement placement(ranks);
  std::vector<std::size_t> left;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    int& room = free[static_cast<std::size_t>(parts[rank])];
    if (room == 0) {
      left.push_back(rank);
      continue;
    }
    --room;
    placement[rank] = NodeId(parts[rank]);
  }
  for (const std::size_t rank : left) {
    int best = -1;
    int nearest = std::numeric_limits<int>::max();
    for (int node = 0; node < topology.processors(); ++node) {
      if (free[static_cast<std::size_t>(node)] == 0) continue;
      const int hops = topology.hops(NodeId(parts[rank]), NodeId(node)).value_or(nearest - 1);
      if (hops >= nearest) continue;
      nearest = hops;
      best = node;
    }
    --free[static_cast<std::size_t>(best)];
    placement[rank] = NodeId(best);
  }
  return placement;
}

class Search {
 public:
  Search(const Topology& topology, std::uint64_t most, const SimulatePlaced& simulate,
         BetterPlacement start)
      : topology_(topology), most_(most), simulate_(simulate), best_(std::move(start)) {
    seen_.insert(best_.placement);
  }

  void attempt(const Placement& placement) {
    if (const auto time = simulate(placement); time && *time < best_.time) keep(placement, *time);
  }

  // From the best so far, and then again from where a few changes at random lead, until several
  // of those have brought nothing.
  void improve() {
    constexpr int kPatience = 10;
    constexpr int kChanges = 3;
    descend(best_.placement, best_.time);
    std::mt19937 random(1);  // the same numbers everywhere
    for (int vain = 0; vain < kPatience && best_.simulated < most_; ++vain) {
      Placement start = best_.placement;
      for (int i = 0; i < kChanges; ++i) {
        const std::vector<Placement> all = neighbours(start, random() % start.size());
        if (!all.empty()) start = all[random() % all.size()];
      }
      const Time before = best_.time;
      if (const auto time = simulate(start)) descend(start, *time);
      if (best_.time < before) vain = -1;
    }
  }

  BetterPlacement take() { return std::move(best_); }

 private:
  // Nothing if that was done before, or no more may be.
  std::optional<Time> simulate(const Placement& placement) {
    if (!seen_.insert(placement).second) return std::nullopt;
    ++best_.simulated;
    return simulate_(placement);
  }
  void keep(const Placement& placement, Time time) {
    best_.placement = placement;
    best_.time = time;
  }

  // Round after round, until no single change makes the run shorter.
  void descend(Placement at, Time time) {
    for (bool better = true; better;) {
      better = false;
      for (std::size_t rank = 0; rank < at.size(); ++rank)
        for (const Placement& next : neighbours(at, rank)) {
          if (best_.simulated >= most_) return;
          const auto then = simulate(next);
          if (!then || *then >= time) continue;
          at = next;
          time = *then;
          better = true;
          if (time < best_.time) keep(at, time);
          break;
        }
    }
  }

  // The rank in the place of a later one, or in a free place.
  std::vector<Placement> neighbours(const Placement& at, std::size_t rank) const {
    std::vector<Placement> all;
    for (std::size_t other = rank + 1; other < at.size(); ++other) {
      if (at[other] == at[rank]) continue;
      all.push_back(at);
      std::swap(all.back()[rank], all.back()[other]);
    }
    for (int node = 0; node < topology_.processors(); ++node) {
      if (std::ranges::count(at, NodeId(node)) >= topology_.ranks_per_node()) continue;
      all.push_back(at);
      all.back()[rank] = NodeId(node);
    }
    return all;
  }

  const Topology& topology_;
  std::uint64_t most_;
  const SimulatePlaced& simulate_;
  BetterPlacement best_;
  std::set<Placement> seen_;
};

}  // namespace

BetterPlacement find_placement(const MessageMatrix& messages, const Topology& topology,
                               const Placement& present, Time time, std::uint64_t most,
                               const SimulatePlaced& simulate) {
  Search search(topology, most, simulate, {present, time, 0});
  const auto ranks = static_cast<int>(present.size());
  if (topology.processors() <= kMostProcessors && !messages.pairs().empty()) {
    const WeightedGraph target = graph_of(topology, messages);
    const int places = static_cast<int>(topology.ranks());
    for (const Near near : {Near::both, Near::messages, Near::bytes})
      if (const auto parts =
              map_by_scotch(graph_of(messages, places, near), target, topology.processors()))
        search.attempt(placement_of(*parts, present.size(), topology));
  }
  for (const char* name : {"block", "round-robin"})
    search.attempt(machine::make_placement(name, topology, ranks));
  search.improve();
  return search.take();
}

}  // namespace foretrace::explain
