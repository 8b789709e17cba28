// EndpointNetwork: LogGPS at the ranks (overheads, gap, eager and rendezvous),
// with the way between them left to a derived class.
//
// The rules are those of docs/networks.md, "The endpoints". A message's stamp
// is x, when it enters the network; an arrival is y.
#pragma once

#include "sim/network.hpp"

namespace foretrace::sim {

class EndpointNetwork : public Network {
 public:
  EndpointNetwork(const machine::LogGPSTimes& loggps, int ranks);

  bool is_rendezvous(machine::SendMode mode, Bytes bytes) const override;
  SendTimes begin_send(WorldRank from, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted) final;
  Delivery deliver(const Meeting& meeting) const override;
  Time rendezvous_delay(const Meeting& meeting) const override;
  Time post_receive_leave(Time r0, Bytes bytes) const final;
  Time receive_leave(WorldRank rank, Time r0, Time other, Time arrival, Bytes bytes) final;
  Time receive_alone(Time r0, Time other, Bytes bytes) const final;
  Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) final;
  Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const final;
  std::size_t memory() const override { return ranks_.capacity() * sizeof(RankState); }

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
  // How long a message keeps its sender (and, if receives_in_turn, its
  // receiver) from the next one, beside g.
  virtual Time own(Bytes) const { return Time(); }

  // When the data of a rendezvous enters the network.
  Time data_enters(const Meeting& meeting) const;

  // Whether a rank receives one message after the other.
  bool receives_in_turn_ = false;
  machine::LogGPSTimes loggps_;

 private:
  struct RankState {
    Time send_free;
    Time last_arrival = Time::ps(INT64_MIN);  // z of the last message in turn
    Time last_began;                          // its z - own
  };
  Time in_turn(WorldRank rank, Time arrival, Bytes bytes);

  std::vector<RankState> ranks_;
};

}  // namespace foretrace::sim
