// SharedNetwork: links that messages share, in virtual time.
//
// The engine puts messages in, in the order of time, and takes out when they
// are there; what happens between is the model's (bus, flow, packet). It knows
// nodes and bytes, but neither MPI nor overheads. docs/networks.md says what
// each model computes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "topology/contention.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

// The engine's number of a message under way; small, and used again later.
using MessageId = std::uint32_t;

struct Arrival {
  MessageId message = 0;
  Time sent;     // its last byte has left the source: the send buffer is free
  Time arrived;  // its last byte is at the destination
};

// A message has left its source; where it will be there only later.
struct Departure {
  MessageId message = 0;
  Time sent;  // as Arrival::sent; never before the time at which it is told
};

// What one carrier (machine::Topology::carrier) has carried.
struct LinkLoad {
  machine::LinkId link;
  std::uint64_t messages = 0;
  Bytes bytes;
  Time busy;  // sum of bytes * time per byte
};

// Where a message goes, and what it does not overtake: the messages of one connection, which have
// one sending and one receiving rank. Each pair of ranks has a number of its own.
struct Way {
  machine::NodeId from;
  machine::NodeId to;  // another processor than `from`
  std::uint64_t connection = 0;
  bool in_pieces = false;  // data of a rendezvous: others go before what is not handed over yet
};

// What a host hands to its interface of one connection, before it turns to what else waits: as
// Open MPI over TCP by default (btl_tcp_max_send_size).
inline constexpr Bytes kPiece{131072};

class LinkUsage;

class SharedNetwork {
 public:
  virtual ~SharedNetwork() = default;

  // A message enters at `time`, which is not before any time that the network
  // was told or asked to go to. The request and the answer of a rendezvous are empty messages.
  virtual void inject(MessageId message, const Way& way, Bytes bytes, Time time) = 0;

  // Before this advance() has nothing to do; Time::max() while nothing is under way.
  virtual Time next() const = 0;

  // Goes to next() and does what is due then, if anything is; adds the messages whose arrival
  // has become certain, the order at one time being that of injection. It is told
  // at Arrival::sent, or later if departures() told of that before.
  virtual void advance(std::vector<Arrival>& arrivals) = 0;
  // The messages of which advance() learned that they left, in the order of
  // injection, where that is known before they are there.
  virtual std::span<const Departure> departures() const { return {}; }

  // Until the first byte of a message is there, with nobody else under way.
  virtual Time latency(machine::NodeId from, machine::NodeId to) const = 0;

  // What the links have carried so far.
  virtual const LinkUsage& usage() const = 0;

  // By carrier: media whose stations collide.
  virtual std::vector<std::pair<machine::LinkId, machine::Contention>> contention() const {
    return {};
  }

  virtual std::size_t memory() const = 0;
};

}  // namespace foretrace::sim
