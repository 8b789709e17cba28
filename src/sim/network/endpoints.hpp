// EndpointNetwork: LogGPS at the ranks (overheads, gap, eager and rendezvous),
// with the way between them left to a derived class.
//
// The rules are those of docs/networks.md, "The endpoints". A message's stamp
// is x, when it enters the network; an arrival is y.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "sim/network.hpp"

namespace foretrace::sim {

class EndpointNetwork : public Network {
 public:
  // `nodes`: by rank.
  EndpointNetwork(const NetworkOptions& options, machine::Placement nodes);

  machine::Path path(WorldRank a, WorldRank b) const final { return paths_.between(a, b); }
  bool is_rendezvous(machine::Path path, machine::SendMode mode, Bytes bytes) const override;
  SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted, bool untouched) override;
  Delivery deliver(const Meeting& meeting) const override;
  Time rendezvous_delay(const Meeting& meeting) const override;
  Time post_receive_leave(machine::Path path, Time r0, Bytes bytes) const final;
  Time receive_leave(WorldRank rank, machine::Path path, Bytes bytes, Time r0, Time other,
                     Time arrival) final;
  Time receive_alone(machine::Path path, Time r0, Time other, Bytes bytes) const final;
  Time rest_after(std::span<Finished> requests) const final;
  Time receive_overhead(machine::Path path) const final { return on(path).overhead_recv; }
  Time send_overhead(machine::Path path) const final { return on(path).overhead_send; }
  Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) final;
  Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const final;
  std::size_t memory() const override { return send_free_.capacity() * sizeof(Time); }
  machine::NodeId node_of(WorldRank rank) const final { return paths_.node_of(rank); }

 protected:
  // Until the first byte, and from it to the last; empty network.
  struct Transit {
    Time latency;
    Time stream;
  };
  virtual Transit transit(WorldRank from, WorldRank to, Bytes bytes) const = 0;
  // For requests and answers, which are empty.
  virtual Time latency(WorldRank from, WorldRank to) const {
    return transit(from, to, Bytes(0)).latency;
  }
  // The earliest that `from` can start a message at `ready`; it then starts no other
  // one for `gap` and `held`.
  Time start(WorldRank from, Time ready, Time gap, Time held) {
    Time& free = send_free_[static_cast<std::size_t>(from.value)];
    const Time begin = std::max(ready, free);
    free = begin + gap + held;
    return begin;
  }
  // If nothing is in their way: when the receiver of a rendezvous has taken in the request, and
  // its sender the answer.
  Time asked(const Meeting& meeting) const;
  Time answered(const Meeting& meeting) const;
  // When the data of a rendezvous enters the network, where senders have no ports.
  Time data_enters(const Meeting& meeting) const {
    return answered(meeting) + on(path(meeting.from, meeting.to)).overhead_send;
  }
  const machine::LogGPSTimes& on(machine::Path path) const {
    return path == machine::Path::outer ? loggps_ : inner_[static_cast<std::size_t>(path)];
  }

  machine::LogGPSTimes loggps_;  // on the outer path

 private:
  std::array<machine::LogGPSTimes, machine::kPaths> inner_;
  machine::RankPaths paths_;
  std::vector<Time> send_free_;  // by rank
};

}  // namespace foretrace::sim
