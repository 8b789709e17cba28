// FlitNetwork: packets cut into flits, on switches with virtual channels and credits.
//
// Drives the switches (flit_switch.hpp, crossbar.hpp) and terminals of a Fabric on the kernel of
// entities, in cycles. Whoever injects packets decides when (traffic.hpp, flit_region.hpp); a
// Listener hears of those that left their source and of those that are there.
// docs/traffic.md says what a switch does in a cycle.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "architecture/fabric.hpp"
#include "foretrace_entity.hpp"

namespace foretrace::architecture {

struct FlitPacket {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint32_t flits = 1;
  WayState way;
  std::uint32_t hops = 0;
  std::uint32_t tag = 0;     // the injector's
  std::int64_t born = 0;     // cycle
  std::int64_t entered = 0;  // its first flit, the injection channel
};

// A flit as events and buffers hold it.
struct Flit {
  std::uint32_t packet = 0;
  std::uint8_t vc = 0;
  bool head = false;
  bool tail = false;
  std::uint64_t packed() const {
    return packet | std::uint64_t{vc} << 32 | std::uint64_t{head} << 40 | std::uint64_t{tail} << 41;
  }
  static Flit of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint8_t>(packed >> 32),
            (packed >> 40 & 1) != 0, (packed >> 41 & 1) != 0};
  }
};

// Event::what: the port, and above it one of these.
enum class FlitEvent : std::uint32_t { flit, credit, tick, wake };
inline std::uint32_t what_of(FlitEvent kind, int port) {
  return static_cast<std::uint32_t>(kind) << 16 | static_cast<std::uint32_t>(port);
}
inline FlitEvent kind_of(const entity::Event& event) {
  return static_cast<FlitEvent>(event.what >> 16);
}
inline int port_of(const entity::Event& event) {
  return static_cast<int>(event.what & 0xffff);
}

class FlitNetwork;

class Listener {
 public:
  virtual ~Listener() = default;
  // Its last flit has left the source.
  virtual void left(std::uint32_t /*packet*/, std::int64_t /*cycle*/) {}
  // Its last flit is there; its number is used again afterwards.
  virtual void arrived(std::uint32_t packet, std::int64_t cycle) = 0;
  // A router has sent its last flit through a port.
  virtual void passed(std::uint32_t /*packet*/, int /*router*/, int /*port*/) {}
};

// What is at the other end of a router's output.
struct Neighbour {
  std::uint32_t entity = UINT32_MAX;
  std::int32_t port = 0;
  std::int32_t cycles = 1;
  std::int32_t vcs = 0;
  std::int32_t buffer = 0;
};

// A router of either level.
class FlitRouter : public entity::Entity {
 public:
  FlitRouter(FlitNetwork& network, int router) : network_(network), router_(router) {}
  virtual std::size_t memory() const = 0;
  std::uint64_t sent(int port) const { return sent_[static_cast<std::size_t>(port)]; }
  const entity::TimeAverage& occupancy() const { return occupancy_; }
  int router() const { return router_; }

 protected:
  friend class FlitNetwork;
  FlitNetwork& network_;
  int router_;
  std::vector<Neighbour> out_;  // by port
  std::vector<Neighbour> in_;   // who gets the credits of an input
  std::vector<std::uint64_t> sent_;
  entity::TimeAverage occupancy_;  // flits in it
};

// A source with a queue without limit, and a sink that always takes.
class FlitTerminal final : public entity::Entity {
 public:
  FlitTerminal(FlitNetwork& network, int terminal) : network_(network), terminal_(terminal) {}
  void handle(entity::Kernel& kernel, const entity::Event& event) override;
  std::size_t queued() const { return queue_.size(); }

 private:
  friend class FlitNetwork;
  void tick(entity::Kernel& kernel);
  void tick_soon(entity::Kernel& kernel);

  FlitNetwork& network_;
  int terminal_;
  Neighbour out_, in_;
  std::vector<int> credits_;
  std::deque<std::uint32_t> queue_;
  std::uint32_t next_flit_ = 0;  // of the first packet
  int vc_ = 0;
  bool ticks_ = false;   // a tick is scheduled
  entity::Ps free_ = 0;  // when the next flit may go
};

class FlitNetwork {
 public:
  // `cycle` in picoseconds. The fabric must outlive the network. Throws Error for what cannot work.
  FlitNetwork(const Fabric& fabric, entity::Ps cycle, std::uint64_t seed);

  // At cycle `now()` or later; a packet takes its turn in its terminal's queue.
  std::uint32_t inject(std::int32_t from, std::int32_t to, std::uint32_t flits,
                       std::int64_t at_cycle, std::uint32_t tag = 0);
  void listen(Listener* listener) { listener_ = listener; }
  // Who hears of packets that pass routers; others need not be asked each time.
  void watch(Listener* watcher) { watcher_ = watcher; }

  entity::Kernel& kernel() { return kernel_; }
  std::int64_t now() const { return kernel_.now() / cycle_; }
  entity::Ps cycle() const { return cycle_; }
  // Everything due before `cycle`.
  void run_to(std::int64_t cycle) { kernel_.run(cycle * cycle_ - 1); }

  const FlitPacket& packet(std::uint32_t number) const { return packets_[number]; }
  FlitPacket& packet(std::uint32_t number) { return packets_[number]; }
  std::uint64_t under_way() const { return under_way_; }
  std::uint64_t ejected_flits() const { return ejected_; }
  const Fabric& fabric() const { return fabric_; }
  const FlitRouter& router(int number) const { return *routers_[static_cast<std::size_t>(number)]; }
  const FlitTerminal& terminal(int number) const {
    return *terminals_[static_cast<std::size_t>(number)];
  }
  std::size_t memory() const;

 private:
  friend class FlitTerminal;
  friend class FlitSwitch;
  friend class CrossbarSwitch;

  Neighbour neighbour_of(const Channel& channel, bool is_output, int router) const;
  // Of a head that has come to the front at a router.
  Way way(int router, std::uint32_t packet) {
    FlitPacket& moved = packets_[packet];
    ++moved.hops;
    return routes_.way(router, moved.to, moved.way, random_[static_cast<std::size_t>(router)]);
  }
  // The virtual channels of the next input (it has `vcs`) that a way through `port` may use.
  std::uint32_t channels(const Way& way, int port, int vcs) const;
  void arrived(std::uint32_t packet);

  const Fabric& fabric_;
  entity::Ps cycle_;
  FabricRouter routes_;
  std::vector<entity::Random> random_;  // by router, so that what passes one changes no other
  entity::Kernel kernel_;
  int escapes_ = 1;
  std::vector<std::unique_ptr<FlitRouter>> routers_;
  std::vector<std::unique_ptr<FlitTerminal>> terminals_;
  std::vector<FlitPacket> packets_;
  std::vector<std::uint32_t> free_;
  Listener* listener_ = nullptr;
  Listener* watcher_ = nullptr;
  std::uint64_t under_way_ = 0;
  std::uint64_t ejected_ = 0;
};

}  // namespace foretrace::architecture
