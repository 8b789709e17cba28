// EndpointNetwork: LogGPS at the ranks (overheads, gap, eager and rendezvous),
// with the way between them left to a derived class.
//
// The rules are those of docs/networks.md, "The endpoints". A message's stamp
// is x, when it enters the network; an arrival is y.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/network.hpp"

namespace foretrace::sim {

class EndpointNetwork : public Network {
 public:
  EndpointNetwork(const machine::LogGPSTimes& loggps, int ranks);

  bool is_rendezvous(machine::SendMode mode, Bytes bytes) const override;
  SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted) override;
  Delivery deliver(const Meeting& meeting) const override;
  Time rendezvous_delay(const Meeting& meeting) const override;
  Time post_receive_leave(Time r0, Bytes bytes) const final;
  Time receive_leave(WorldRank rank, Time r0, Time other, Time arrival, Bytes bytes) final;
  Time receive_alone(Time r0, Time other, Bytes bytes) const final;
  Time rest_after(std::span<Finished> requests) const final;
  Time receive_overhead() const final { return loggps_.overhead_recv; }
  Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) final;
  Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const final;
  std::size_t memory() const override { return send_free_.capacity() * sizeof(Time); }

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
  // one for g and `held`.
  Time start(WorldRank from, Time ready, Time held) {
    Time& free = send_free_[static_cast<std::size_t>(from.value)];
    const Time begin = std::max(ready, free);
    free = begin + loggps_.gap + held;
    return begin;
  }
  // When the answer to a rendezvous' request is back at its sender.
  Time answered(const Meeting& meeting) const;
  // When the data of a rendezvous enters the network, where senders have no ports.
  Time data_enters(const Meeting& meeting) const {
    return answered(meeting) + loggps_.overhead_send;
  }

  machine::LogGPSTimes loggps_;

 private:
  std::vector<Time> send_free_;  // by rank
};

}  // namespace foretrace::sim
