// LinkNetwork: LogGPS at the ranks, links that messages share between the nodes
// (networks bus, flow, packet).
#pragma once

#include <memory>

#include "sim/network/nodes.hpp"

namespace foretrace::sim {

class LinkNetwork final : public NodeNetwork {
 public:
  LinkNetwork(const NetworkOptions& options, int ranks);

  // Between nodes: the time at which the data enters the links.
  Delivery deliver(const Meeting& meeting) const override;
  SharedNetwork* shared() override { return links_.get(); }

 protected:
  // The links say when the last byte is there.
  Transit between(machine::NodeId from, machine::NodeId to, Bytes) const override {
    return {links_->latency(from, to), Time()};
  }

 private:
  std::unique_ptr<SharedNetwork> links_;
};

}  // namespace foretrace::sim
