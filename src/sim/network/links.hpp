// LinkNetwork: LogGPS at the ranks, links that messages share between the nodes
// (networks bus, flow, packet).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "sim/network/nodes.hpp"

namespace foretrace::sim {

class LinkNetwork final : public NodeNetwork {
 public:
  LinkNetwork(const NetworkOptions& options, int ranks);

  // Between nodes: the time at which the data enters the links.
  Delivery deliver(const Meeting& meeting) const override;
  SharedNetwork* shared() override { return links_.get(); }
  Time alone_on_links(WorldRank from, WorldRank to, Bytes bytes) override;

 protected:
  // The links say when the last byte is there.
  Transit between(machine::NodeId from, machine::NodeId to, Bytes) const override {
    return {links_->latency(from, to), Time()};
  }

 private:
  NetworkOptions options_;
  std::unique_ptr<SharedNetwork> links_;
  // For alone_on_links(): the same links, empty, and what was asked before.
  std::unique_ptr<SharedNetwork> empty_;
  Time next_;  // nothing is under way there any more
  std::map<std::tuple<machine::NodeId, machine::NodeId, std::uint64_t>, Time> alone_;
};

}  // namespace foretrace::sim
