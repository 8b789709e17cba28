// Topology: processors, switches and the links between them, with routes.
//
// Built once (builders.hpp, file.hpp), then asked: how many
// hops from here to there, over which links. Memory follows the number of links;
// the regular kinds compute every step of a route by rule, others search once
// for each destination and keep the last tables, so a Topology belongs to one
// thread (copies share the graph). It knows nothing of messages: what a link's
// speed means for one is the network model's affair.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "topology/graph.hpp"
#include "topology/routing.hpp"
#include "topology/shape.hpp"

namespace foretrace::machine {

// Nodes: processors 0..processors()-1, then switches and buses.
using NodeId = Id<struct TopologyNodeTag>;
// Links, one direction each, numbered by (from, to).
using LinkId = Id<struct TopologyLinkTag>;

class Topology {
 public:
  // `speeds` are what the graph's links refer to; the first is the spec's.
  // graph: built for spec.shape.
  Topology(TopologySpec spec, TopologyGraph graph, std::vector<LinkSpeed> speeds = {},
           std::vector<std::string> node_names = {});

  // The same with every latency and bandwidth that is given multiplied.
  Topology with_speeds_times(double latency, double bandwidth) const;
  // The same with bytes `factor` times as fast on the link between two nodes, both ways; to or from
  // a bus: on all of the bus. A link without a bandwidth of its own has `bytes_per_second`. Nothing
  // if there is no such link.
  std::optional<Topology> with_link_times(NodeId a, NodeId b, double factor,
                                          double bytes_per_second) const;

  const std::string& name() const { return spec_.name; }
  const Shape& shape() const { return spec_.shape; }
  const TopologyGraph& graph() const { return *graph_; }

  int processors() const { return graph_->processors(); }
  int switches() const { return nodes() - processors(); }  // buses included
  int nodes() const { return graph_->nodes(); }
  int links() const { return graph_->links(); }

  // Ranks fill the processors one after the other.
  std::uint64_t header() const { return spec_.header; }
  int ranks_per_node() const { return spec_.ranks_per_node; }
  std::int64_t ranks() const { return std::int64_t{processors()} * ranks_per_node(); }
  NodeId node_of(WorldRank rank) const { return NodeId(rank.value / ranks_per_node()); }
  const LinkSpeed& intra_node() const { return spec_.intra_node; }

  NodeKind kind(NodeId node) const { return graph_->kind(node.value); }
  // The name that a file gives a node; "3" for processor 3, "s0" for the first
  // switch.
  std::string node_name(NodeId node) const;

  NodeId from(LinkId link) const { return NodeId(graph_->from(link.value)); }
  NodeId to(LinkId link) const { return NodeId(graph_->to(link.value)); }
  const LinkSpeed& speed(LinkId link) const {
    return speeds_[static_cast<std::size_t>(graph_->speed(link.value))];
  }
  // The link whose capacity a message on `link` uses: itself, except that all
  // links into a bus are one medium.
  LinkId carrier(LinkId link) const { return bus_carrier_.empty() ? link : bus_carrier(link); }

  // Hops of the route from one processor to another: its links, a passage
  // through a bus counted once; 0 from a node to itself, nothing if there is
  // no way.
  std::optional<int> hops(NodeId from, NodeId to) const;
  // The node after `at` on the way to a processor; not valid if there is no way
  // or `at` is `to`.
  NodeId next_hop(NodeId at, NodeId to) const;
  // The links of the route from one processor to another, in order; false and
  // none if there is no way.
  bool route(NodeId from, NodeId to, std::vector<LinkId>& links) const;

 private:
  LinkId bus_carrier(LinkId link) const;

  TopologySpec spec_;
  std::shared_ptr<const TopologyGraph> graph_;
  std::vector<LinkSpeed> speeds_;
  std::vector<std::string> node_names_;
  std::vector<int> bus_carrier_;  // by node - processors(), where there is a bus
  Router router_;
};

}  // namespace foretrace::machine
