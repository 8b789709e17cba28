// LoggpsNetwork: LogGPS (Kanbe et al. 2003; Ino et al., PPoPP 2001) between any two nodes.
//
// Each rank has two ports, one that sends and one that receives, each one message at
// a time: docs/networks.md, "loggps".
#pragma once

#include "sim/network/nodes.hpp"

namespace foretrace::sim {

class LoggpsNetwork final : public NodeNetwork {
 public:
  LoggpsNetwork(const NetworkOptions& options, int ranks)
      : NodeNetwork(options, ranks), receive_free_(static_cast<std::size_t>(ranks)) {}

  SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted, bool untouched) override {
    if (node_of(from) == node_of(to) || is_rendezvous(machine::Path::outer, mode, bytes))
      return EndpointNetwork::begin_send(from, to, s0, mode, bytes, posted, untouched);
    const Time begin = start(from, s0, loggps_.gap, stream(bytes));
    const Time sent = begin + loggps_.overhead_send;
    return {begin, sent, sent, sent};
  }
  Delivery deliver(const Meeting& meeting) const override {
    if (node_of(meeting.from) == node_of(meeting.to)) return EndpointNetwork::deliver(meeting);
    return {Time(), meeting.stamp.rendezvous ? answered(meeting) : meeting.through};
  }

  bool has_ports() const override { return true; }
  DataTimes start_data(WorldRank from, Time ready, Bytes bytes) override {
    const Time begin = start(from, ready, loggps_.gap, stream(bytes));
    return {begin, begin + loggps_.overhead_send + stream(bytes)};
  }
  Time send_answer(WorldRank from, Time ready) override {
    return start(from, ready, loggps_.gap, Time()) + loggps_.latency;
  }
  Time pass_port(WorldRank to, Time start, Bytes bytes) override {
    Time& free = receive_free_[static_cast<std::size_t>(to.value)];
    const Time first = std::max(start + loggps_.overhead_send + loggps_.latency, free);
    const Time last = first + stream(bytes);
    free = last + loggps_.gap;
    return last;
  }
  std::size_t memory() const override {
    return NodeNetwork::memory() + receive_free_.capacity() * sizeof(Time);
  }

 protected:
  Transit between(machine::NodeId, machine::NodeId, Bytes bytes) const override {
    return {loggps_.latency, stream(bytes)};
  }
  Time latency_between(machine::NodeId, machine::NodeId) const override { return loggps_.latency; }

 private:
  // Asked twice for each message, which often has the last one's size.
  Time stream(Bytes bytes) const {
    if (bytes != last_bytes_) {
      last_bytes_ = bytes;
      last_stream_ = loggps_.stream(bytes);
    }
    return last_stream_;
  }

  std::vector<Time> receive_free_;  // by rank
  mutable Bytes last_bytes_;
  mutable Time last_stream_;
};

}  // namespace foretrace::sim
