// The routers: from a node, where does the way to a processor lead next?
//
// One small struct for each rule, all with the same two functions; Topology
// holds one of them and walks. next(at, to) and hops(from, to) want two
// different nodes, `to` and `from` processors; the nodes are numbered as
// builders.cpp numbers them. Routes depend on nothing but the two ends.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "topology/graph.hpp"
#include "topology/shape.hpp"

namespace foretrace::machine {

// A link between any two.
struct FullRouter {
  int next(int /*at*/, int to) const { return to; }
  int hops(int /*from*/, int /*to*/) const { return 1; }
};

// Everything through one node: a processor (star), a switch or a bus.
struct HubRouter {
  int hub = 0;
  bool bus = false;
  int next(int at, int to) const { return at == hub ? to : hub; }
  int hops(int from, int to) const { return bus || from == hub || to == hub ? 1 : 2; }
};

// Dimension order: one coordinate after the other is put right, the last (the
// one that changes fastest along the numbers) first. In a ring of even length
// both ways to the opposite node are as long; the rising one is taken.
struct GridRouter {
  std::vector<int> sides;
  bool wrap = false;
  int next(int at, int to) const;
  int hops(int from, int to) const;
};

// e-cube: the lowest bit that differs first.
struct HypercubeRouter {
  int next(int at, int to) const {
    const unsigned differing = static_cast<unsigned>(at) ^ static_cast<unsigned>(to);
    return at ^ static_cast<int>(differing & (~differing + 1));
  }
  int hops(int from, int to) const;
};

// Up to the lowest common ancestors, then down. Upwards from level l the
// parent is number (to / (w1*..*wl)) mod w(l+1): the ways to different
// processors spread over the roots, all ways to one processor come down
// through the same root (the d-mod-k rule, Zahavi 2012).
class TreeRouter {
 public:
  explicit TreeRouter(const TreeSizes& sizes);
  int next(int at, int to) const;
  int hops(int from, int to) const;

 private:
  std::vector<int> m_, w_;           // by level, from 0
  std::vector<int> below_;           // processors under a node of the level
  std::vector<int> copies_;          // nodes of the level over the same processors
  std::vector<int> first_of_level_;  // node numbers
};

// Destination tag: at stage i the output is bit (stages-1-i) of `to`; a perfect
// shuffle precedes every stage (Lawrie 1975). The one way there is.
struct OmegaRouter {
  int processors = 0;
  int stages = 0;
  int next(int at, int to) const;
  int hops(int /*from*/, int /*to*/) const { return stages + 1; }
};

// At most one link between groups: to the router that has it, over it, to the
// router of the destination (minimal routing, Kim et al., ISCA 2008).
class DragonflyRouter {
 public:
  DragonflyRouter(int routers, int global_links, int processors);
  int next(int at, int to) const;
  int hops(int from, int to) const;

  // The router, within its group, that has the link to a group `distance`
  // further on (1..groups-1).
  int gateway(int distance) const { return (distance - 1) / global_links_; }
  int groups() const { return groups_; }

 private:
  int routers_, global_links_, processors_, groups_;
  int first_router_;  // node number
};

// Any graph: breadth-first from the destination, against the links; among
// next nodes that are equally near the lowest number. The tables of the last
// destinations are kept, so a TableRouter belongs to one thread.
class TableRouter {
 public:
  explicit TableRouter(std::shared_ptr<const TopologyGraph> graph);
  int next(int at, int to) const { return table(to).next[static_cast<std::size_t>(at)]; }
  int hops(int from, int to) const { return table(to).hops[static_cast<std::size_t>(from)]; }

 private:
  struct Table {
    int destination = -1;
    std::vector<int> next;  // kUnreachable: no way
    std::vector<int> hops;
  };
  const Table& table(int destination) const;

  std::shared_ptr<const TopologyGraph> graph_;
  IncomingLinks incoming_;
  std::size_t capacity_;
  mutable std::vector<int> slot_;  // by destination, -1: not there
  mutable std::vector<Table> tables_;
  mutable std::size_t oldest_ = 0;
};

using Router = std::variant<FullRouter, HubRouter, GridRouter, HypercubeRouter, TreeRouter,
                            OmegaRouter, DragonflyRouter, TableRouter>;

Router make_router(const Shape& shape, const std::shared_ptr<const TopologyGraph>& graph);
// In words, for a person: which way is taken.
std::string_view routing_rule(const Shape& shape);

}  // namespace foretrace::machine
