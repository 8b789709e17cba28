// DatasheetNetwork: the machine model's equations alone (network `datasheet`).
//
// A message disturbs nobody; its times follow from machine::Timing. An arrival
// is when its receiver may leave.
#pragma once

#include "sim/network.hpp"

namespace foretrace::sim {

class DatasheetNetwork final : public Network {
 public:
  explicit DatasheetNetwork(const machine::Timing& timing);

  bool is_rendezvous(machine::SendMode mode, Bytes bytes) const override;
  SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted) override;
  Delivery deliver(const Meeting& meeting) const override;
  Time rendezvous_delay(const Meeting& meeting) const override;
  Time post_receive_leave(Time r0, Bytes bytes) const override;
  Time receive_leave(WorldRank rank, Time r0, Time other, Time arrival, Bytes bytes) override;
  Time receive_alone(Time r0, Time other, Bytes bytes) const override;
  Time rest_after(std::span<Finished> requests) const override;
  Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) override;
  Time least_transfer() const override;
  Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const override;

 private:
  const machine::Timing* timing_;
};

}  // namespace foretrace::sim
