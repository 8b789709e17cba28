// Network: what messages take, at their ends and on their way.
//
// The engine knows MPI's semantics and asks a Network for times: one class for
// each model, in network/. docs/networks.md has the rules. Where messages share links,
// the way itself is a SharedNetwork, which the engine drives in the order of
// time; so are the ranks' ports, where they have such. Everything else is
// known as soon as both ends are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/loggps.hpp"
#include "machine/moving.hpp"
#include "machine/timing.hpp"
#include "sim/network/shared_network.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

// A send (blocking or posted) as its sender alone sees it.
struct SendTimes {
  Time start;  // ranks with ports: when the message (or its request) has the sender's port
  Time sent;   // the message's (or its request's) stamp
  Time leave;  // of the call; blocking and rendezvous: not known yet
  Time end;    // of an eager transfer for its sender
};

// A message whose both ends are known.
struct Meeting {
  WorldRank from;
  WorldRank to;
  machine::MessageStamp stamp;
  machine::SendMode mode = machine::SendMode::standard;
  bool posted_send = false;
  Time entered;  // r0
  machine::RecvKind kind = machine::RecvKind::blocking;
  Time through;  // an eager message between ranks with ports: what pass_port() said
};

struct Delivery {
  Time sender;   // rendezvous: the blocking call's leave, or the transfer's end
  Time arrival;  // of the last byte; what it means is the network's own affair
};

// The data of a rendezvous at its sender's port.
struct DataTimes {
  Time start;  // when it has the port
  Time sent;   // its last byte has left
};

// A request that is being completed.
struct Finished {
  bool is_send = false;
  Time end;
  Bytes bytes;
  machine::Path path = machine::Path::outer;  // to whom it was sent, from whom it came
  std::uint32_t index = 0;                    // in the order listed
  Time rest = {};                             // from its end to the call's, at least (rest_after)
};

class Network {
 public:
  virtual ~Network() = default;

  // What lies between two ranks; `outer` if one is not valid.
  virtual machine::Path path(WorldRank a, WorldRank b) const = 0;
  virtual bool is_rendezvous(machine::Path path, machine::SendMode mode, Bytes bytes) const = 0;
  // Called for each rank's sends in program order. `untouched`: as Endpoint has it.
  virtual SendTimes begin_send(WorldRank from, WorldRank to, Time s0, machine::SendMode mode,
                               Bytes bytes, bool posted, bool untouched) = 0;
  virtual Delivery deliver(const Meeting& meeting) const = 0;
  // By how much a rendezvous is later than with a receiver that was there at s0.
  virtual Time rendezvous_delay(const Meeting& meeting) const = 0;

  virtual Time post_receive_leave(machine::Path path, Time r0, Bytes bytes) const = 0;
  // A blocking receive of `rank`; `other`: the latest that is known of the call's leave
  // (sendrecv: its send). Called for each rank's receives in program order.
  virtual Time receive_leave(WorldRank rank, machine::Path path, Bytes bytes, Time r0, Time other,
                             Time arrival) = 0;
  // The same if the message had been there long before.
  virtual Time receive_alone(machine::Path path, Time r0, Time other, Bytes bytes) const = 0;
  // The leave of a call that completes `requests` from w0 on, in program order;
  // may reorder them. `minimum`: what it takes if all had ended long ago.
  virtual Time complete(WorldRank rank, Time w0, std::span<Finished> requests, Time& minimum) = 0;

  // Says for each of the requests of a complete() that is about to be made what the
  // call takes after it, Finished::rest; returns what it takes at least.
  virtual Time rest_after(std::span<Finished> requests) const = 0;
  // What a blocking receive takes once its message is there.
  virtual Time receive_overhead(machine::Path) const { return {}; }

  // Whether a message's times follow from when its two ends begin, whatever else is under way.
  virtual bool times_follow_from_ends() const { return false; }
  // The least time from the moment at which a send begins until a receive that was posted
  // for its message ends.
  virtual Time least_transfer() const { return {}; }

  // One-sided. Accesses and locks of a target as equations have them, in program order; nothing:
  // they are messages (the engine's affair), each of which takes `send_overhead`.
  virtual std::optional<machine::AccessTimes> access(WorldRank /*from*/, WorldRank /*to*/,
                                                     machine::OneSided, Time /*enter*/, Bytes) {
    return std::nullopt;
  }
  virtual std::optional<Time> lock(WorldRank /*from*/, WorldRank /*to*/, Time /*enter*/) const {
    return std::nullopt;
  }
  virtual Time send_overhead(machine::Path) const { return {}; }

  // When the message can be matched by a wildcard.
  virtual Time header(WorldRank from, WorldRank to, const machine::MessageStamp& stamp) const = 0;

  // Whether each rank has a port that sends, and one that receives, one message to
  // or from other nodes at a time. The engine asks, in the order of the times that it gives:
  virtual bool has_ports() const { return false; }
  virtual DataTimes start_data(WorldRank, Time, Bytes) { return {}; }
  // `from` answers the request of a rendezvous: when the answer is back.
  virtual Time send_answer(WorldRank /*from*/, Time ready) { return ready; }
  // A message has its sender's port at `start`: when its last byte is through the
  // receiver's.
  virtual Time pass_port(WorldRank /*to*/, Time start, Bytes) { return start; }

  // The links that messages between nodes share; nullptr: none.
  virtual SharedNetwork* shared() { return nullptr; }
  // From when a message between nodes enters them until its last byte is there, with nobody else
  // under way.
  virtual Time alone_on_links(WorldRank, WorldRank, Bytes) { return Time(); }
  // Where a rank is; only asked when there is shared() or there are ports.
  virtual machine::NodeId node_of(WorldRank) const { return {}; }

  virtual std::size_t memory() const { return 0; }
};

enum class NetworkKind : std::uint8_t { datasheet, loggps, hops, bus, flow, packet, architecture };

// Everything that a Network is made from.
struct NetworkOptions {
  NetworkKind kind = NetworkKind::datasheet;
  machine::LogGPSTimes loggps;                  // all but datasheet
  machine::InnerTimes inner;                    // the same
  const machine::Topology* topology = nullptr;  // from hops on; bus: may be left out
  // By rank; empty: ranks fill the topology's nodes, without one each has its own.
  machine::Placement placement;
  Bytes block;               // hops: store-and-forward; 0: one block
  bool cut_through = false;  // hops
  Bytes packet_size{2048};   // packet
  int buffer_packets = 16;   // packet
  Bytes piece = kPiece;      // packet, flow
  bool adaptive = false;     // packet
  // architecture: makes what the messages pass; defaults are for links without a speed.
  std::function<std::unique_ptr<SharedNetwork>(const machine::LinkSpeed& defaults)> make_links;
};

// Throws Error for options that do not fit together or the number of ranks.
// `timing` and the topology must outlive it.
std::unique_ptr<Network> make_network(const NetworkOptions& options, const machine::Timing& timing,
                                      int ranks);

}  // namespace foretrace::sim
