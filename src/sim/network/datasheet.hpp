// DatasheetNetwork: the machine model's equations alone (network `datasheet`).
//
// A message disturbs at most other messages of its own ranks (machine::Port); its times follow
// from machine::Timing on the path between them. An arrival is when its receiver may leave.
#pragma once

#include <optional>
#include <vector>

#include "sim/network.hpp"

namespace foretrace::sim {

class DatasheetNetwork final : public Network {
 public:
  DatasheetNetwork(const machine::Timing& timing, machine::Placement placement);

  machine::Path path(WorldRank a, WorldRank b) const override { return paths_.between(a, b); }
  bool is_rendezvous(machine::Path path, machine::SendMode mode, Bytes bytes) const override;
  SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode, Bytes bytes,
                       bool posted, bool untouched) override;
  Delivery deliver(const Meeting& meeting) const override;
  Time rendezvous_delay(const Meeting& meeting) const override;
  Time post_receive_leave(machine::Path path, Time r0, Bytes bytes) const override;
  Time receive_leave(WorldRank rank, machine::Path path, Bytes bytes, Time r0, Time other,
                     Time arrival) override;
  Time receive_alone(machine::Path path, Time r0, Time other, Bytes bytes) const override;
  Time rest_after(std::span<Finished> requests) const override;
  Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) override;
  bool times_follow_from_ends() const override { return !has_gap_; }
  Time least_transfer() const override;
  std::optional<machine::AccessTimes> access(WorldRank from, WorldRank to, machine::OneSided what,
                                             Time enter, Bytes bytes) override;
  std::optional<Time> lock(WorldRank from, WorldRank to, Time enter) const override {
    return enter + between(from, to).lock_time();
  }
  Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const override;

 private:
  const machine::Timing& between(WorldRank a, WorldRank b, bool untouched = false) const {
    return timing_->on(machine::of_data(paths_.between(a, b), untouched));
  }

  machine::Port& port(WorldRank rank, machine::Path path);

  const machine::Timing* timing_;
  machine::RankPaths paths_;
  bool has_gap_;                                   // on any path: else nothing is asked of ports
  std::vector<machine::Ports> ports_;              // by rank
  std::vector<machine::AccessPort> access_ports_;  // by rank, of those that made an access
};

}  // namespace foretrace::sim
