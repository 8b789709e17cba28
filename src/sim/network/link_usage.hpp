// LinkUsage: what the carriers of a network have carried, and when.
//
// Networks call carried() for a message (packet) on each carrier of its route;
// reports ask for the sums (loads) and for the busy time over virtual time
// (history): which link is hot, and when. The time axis has at most kBins
// bins, the same ones for all carriers; their width doubles whenever time grows
// beyond the last. Memory: 32 bytes and 8 bytes a bin for each carrier that
// carried something, and 4 bytes for each link number up to the highest of these.
// It knows nothing of routes or speeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "sim/network/shared_network.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

class LinkUsage {
 public:
  static constexpr int kBins = 64;

  // `carrier` (machine::Topology::carrier) has carried `messages` more messages
  // and `bytes` more bytes, somewhere in from..to. busy: bytes * time per byte
  // of the carrier; the history has it evenly over from..to, all at `from` where
  // these are equal. 0 <= from <= to. A message in packets counts its first
  // packet with messages = 1, the others with 0.
  void carried(machine::LinkId carrier, std::uint64_t messages, Bytes bytes, Time busy, Time from,
               Time to);
  // A carrier that was busy with one message (packet) all the time.
  void carried(machine::LinkId carrier, Bytes bytes, Time from, Time to,
               std::uint64_t messages = 1) {
    carried(carrier, messages, bytes, to - from, from, to);
  }

  // The same for what moves at a rate that changes, and counts no message: at the end of bin
  // `first`, and of those after it, it had moved `moved` bytes, before these `before`.
  void carried_by_bins(machine::LinkId carrier, double ps_per_byte, double before,
                       std::int64_t first, std::span<const double> moved);
  // The whole picoseconds that so many bytes take.
  static std::int64_t busy_ps(double bytes, double ps_per_byte) {
    return static_cast<std::int64_t>(std::min(bytes * ps_per_byte, 0x1p62));
  }

  // Makes the bins so wide that this time has one.
  void reach(Time time) {
    if ((time.count_ps() >> shift_) >= kBins) make_room(time.count_ps());
  }
  // bin_width() is 2 to this power, in ps.
  int shift() const { return shift_; }

  // By carrier number, those that carried something.
  std::vector<LinkLoad> loads() const;

  // Bin b of every history covers [b, b + 1) * bin_width(). The first width is
  // 1,024 ps, later ones are powers of two.
  Time bin_width() const { return Time::ps(std::int64_t{1} << shift_); }
  // Bins that are in use, at most kBins.
  int bins() const { return static_cast<int>(busy_.size()); }
  // Busy time of one carrier, bins() of them; they sum up to LinkLoad::busy.
  // All zero for a carrier that carried nothing.
  std::vector<Time> history(machine::LinkId carrier) const;

  std::size_t memory() const;

 private:
  struct Sum {
    machine::LinkId link;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::int64_t busy_ps = 0;
  };

  std::size_t slot_of(machine::LinkId carrier);
  void add_to_bin(std::size_t bin, std::size_t slot, std::int64_t ps);
  void add_history(std::size_t slot, std::int64_t busy, std::int64_t from, std::int64_t to);
  void make_room(std::int64_t last);

  int shift_ = 10;
  std::vector<std::int32_t> slot_;  // by link number, -1: carried nothing
  std::vector<Sum> sums_;           // by slot
  // By bin, then slot: what happens at one time lies together. The rows are as
  // long as the slots written to.
  std::vector<std::vector<std::int64_t>> busy_;
};

}  // namespace foretrace::sim
