// Fabric: routers, terminals and the channels between them, with the ways of packets.
//
// Between a description (elaborate.hpp) or a topology and what simulates it flit by flit
// (flit_switch.hpp). A router's ports are numbered; each leads to a port of another router or to a
// terminal. It knows nothing of time but the cycles of a channel, and holds no packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foretrace_entity.hpp"

namespace foretrace::machine {
class Topology;
}

namespace foretrace::architecture {

enum class Routing : std::uint8_t {
  table,            // one way with the fewest hops, the lowest port where several are equal
  random_minimal,   // at each router one of the ports with the fewest hops, by chance
  adaptive,         // any such port, the freest; in a grid with an escape channel
  dimension_order,  // grids: the first dimension first, the shorter way round, ties by chance
  up_down,          // up*/down* (Autonet): towards router 0, then away from it, in any graph
};

enum class Allocation : std::uint8_t {
  joint,        // the winner of the switch gets an output channel in the same cycle
  speculative,  // both are asked for in the same cycle, independently
  sequential,   // first the virtual channel, then the switch
};

// How a switch is simulated.
enum class SwitchLevel : std::uint8_t {
  crossbar,  // ideal: every output has a queue of its own, without a limit
  queued,    // input queues with virtual channels and credits
};

struct SwitchSettings {
  SwitchLevel level = SwitchLevel::queued;
  Allocation allocation = Allocation::joint;
  Routing routing = Routing::table;
  int vcs = 1;             // virtual channels of an input, 1 to 32
  int buffer = 8;          // flits of each
  int crossbar_delay = 1;  // cycles
  bool operator==(const SwitchSettings&) const = default;
};

inline constexpr int kMaxSwitchPorts = 64;

// One direction of a port: to or from a router's port, or a terminal, or nothing.
struct Channel {
  std::int32_t router = -1;
  std::int32_t terminal = -1;
  std::int32_t port = 0;    // of the other router
  std::int32_t cycles = 1;  // that a flit takes
};

struct Port {
  Channel out;
  Channel in;
};

struct Place {
  std::int32_t router = -1;
  std::int32_t port = 0;
};

// Where a head may go: any of `ports` (a bit for each) by virtual channels low..high (as parts of
// those that the next input has), or `escape` by its channels.
struct Way {
  std::uint64_t ports = 0;
  std::int8_t escape = -1;
  std::uint8_t half = 0;  // 0: all channels; 1: the lower half; 2: the upper; 3: all but the first
};

// What a packet remembers of its way.
struct WayState {
  std::int8_t dimension = -1;
  std::int8_t direction = 0;
  std::uint8_t half = 0;
  bool down = false;  // up*/down*: has gone down
};

struct Fabric {
  std::vector<std::vector<Port>> ports;  // by router
  std::vector<SwitchSettings> settings;  // by router
  std::vector<Place> entries, exits;     // by terminal: where it is attached
  // Grids: the sides, the first dimension being the one that changes fastest along the routers'
  // numbers, and whether they are closed.
  std::vector<int> sides;
  bool wraps = false;
  std::vector<std::string> names;  // of routers; may be empty

  int routers() const { return static_cast<int>(ports.size()); }
  int terminals() const { return static_cast<int>(entries.size()); }
  // Both ways, or (one_way) from a to b alone.
  void link_routers(int a, int b, int cycles, bool one_way = false);
  // to_router: the terminal sends there; from_router: it receives from there.
  void link_terminal(int terminal, int to_router, int from_router, int cycles);
};

// A k-ary n-cube, k-ary n-tree, k-ary n-fly and the like with one terminal for each place. Throws
// UsageError for what has no switches (a bus).
Fabric make_fabric(const machine::Topology& topology, const SwitchSettings& settings);
// The same of "mesh:8x8", "torus:4x4x4", "fattree:4,3", "omega:16".
Fabric make_fabric(std::string_view expression, const SwitchSettings& settings);

class FabricRouter {
 public:
  // Throws Error where a terminal cannot be reached, or a grid's way is asked for elsewhere.
  explicit FabricRouter(const Fabric& fabric);

  Way way(int router, int terminal, WayState& state, entity::Random& random) const;
  // Routers on the shortest way between two terminals, both ends included.
  int hops(int from, int to) const;
  std::size_t memory() const;

 private:
  Way grid_way(int router, int to_router, WayState& state, entity::Random& random) const;
  Way up_down_way(int router, int to_router, WayState& state) const;
  std::uint64_t minimal(int router, int to_router) const;
  void find_grid_ports();
  void find_tables();
  void find_orders();

  const Fabric* fabric_;
  bool any_grid_ = false;
  bool any_table_ = false;
  bool any_up_down_ = false;
  // Grids: by router and dimension, the ports up and down.
  std::vector<std::int8_t> up_, down_;
  // Else: by target, then router: hops to the router that has the terminal.
  std::vector<int> target_;                           // by router, -1: it has no terminal
  std::vector<std::vector<std::uint16_t>> distance_;  // by target, router
  // up*/down*: by target, router and whether it has gone down.
  std::vector<int> order_;
  std::vector<std::vector<std::uint16_t>> up_down_;
};

}  // namespace foretrace::architecture
