#include "architecture/flit_network.hpp"

#include <algorithm>

#include "architecture/crossbar.hpp"
#include "architecture/flit_switch.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {

FlitNetwork::FlitNetwork(const Fabric& fabric, entity::Ps cycle, std::uint64_t seed)
    : fabric_(fabric), cycle_(cycle), routes_(fabric) {
  const bool rings = fabric.wraps && std::ranges::any_of(fabric.sides, [](int s) { return s > 2; });
  escapes_ = rings ? 2 : 1;
  for (int r = 0; r < fabric.routers(); ++r) {
    random_.emplace_back(seed ^ (static_cast<std::uint64_t>(r) + 1) * 0xd1342543de82ef95U);
    const SwitchSettings& settings = fabric.settings[static_cast<std::size_t>(r)];
    const std::string name = static_cast<std::size_t>(r) < fabric.names.size()
                                 ? fabric.names[static_cast<std::size_t>(r)]
                                 : "router " + std::to_string(r);
    const bool grid = settings.routing == Routing::dimension_order ||
                      (settings.routing == Routing::adaptive && !fabric.sides.empty());
    const int least =
        (grid && rings ? 2 : 1) + (grid && settings.routing == Routing::adaptive ? 1 : 0);
    if (settings.level == SwitchLevel::queued && settings.vcs < least)
      throw Error(name + ": expected at least " + std::to_string(least) +
                  " virtual channels for its routing" + (rings ? " in rings" : "") + ", found " +
                  std::to_string(settings.vcs) + "; set vcs");
    if (settings.level == SwitchLevel::crossbar)
      routers_.push_back(std::make_unique<CrossbarSwitch>(*this, r));
    else
      routers_.push_back(std::make_unique<FlitSwitch>(*this, r));
    kernel_.add(*routers_.back(), name);
  }
  for (int t = 0; t < fabric.terminals(); ++t) {
    if (fabric.entries[static_cast<std::size_t>(t)].router < 0 ||
        fabric.exits[static_cast<std::size_t>(t)].router < 0)
      throw Error("terminal " + std::to_string(t) +
                  " is not attached to a switch both ways; add a link");
    terminals_.push_back(std::make_unique<FlitTerminal>(*this, t));
    kernel_.add(*terminals_.back(), "terminal " + std::to_string(t));
  }
  for (int r = 0; r < fabric.routers(); ++r) {
    FlitRouter& router = *routers_[static_cast<std::size_t>(r)];
    for (const Port& port : fabric.ports[static_cast<std::size_t>(r)]) {
      router.out_.push_back(neighbour_of(port.out, true, r));
      router.in_.push_back(neighbour_of(port.in, false, r));
    }
    router.sent_.resize(router.out_.size());
  }
  for (int t = 0; t < fabric.terminals(); ++t) {
    FlitTerminal& terminal = *terminals_[static_cast<std::size_t>(t)];
    const auto end = [&](const Place& place, bool entry) {
      const Port& port =
          fabric
              .ports[static_cast<std::size_t>(place.router)][static_cast<std::size_t>(place.port)];
      const SwitchSettings& settings = fabric.settings[static_cast<std::size_t>(place.router)];
      const Channel& channel = entry ? port.in : port.out;
      return Neighbour{static_cast<std::uint32_t>(place.router), place.port, channel.cycles,
                       settings.vcs, settings.buffer};
    };
    terminal.out_ = end(fabric.entries[static_cast<std::size_t>(t)], true);
    terminal.in_ = end(fabric.exits[static_cast<std::size_t>(t)], false);
    const bool ideal = fabric.settings[terminal.out_.entity].level == SwitchLevel::crossbar;
    terminal.credits_.assign(static_cast<std::size_t>(terminal.out_.vcs),
                             ideal ? INT32_MAX : terminal.out_.buffer);
  }
  kernel_.start();
}

Neighbour FlitNetwork::neighbour_of(const Channel& channel, bool is_output, int router) const {
  Neighbour made;
  made.cycles = channel.cycles;
  // A sink takes as many flits as an input of the switch before it.
  const SwitchSettings& settings =
      fabric_.settings[static_cast<std::size_t>(channel.router >= 0 ? channel.router : router)];
  made.vcs = settings.vcs;
  made.buffer = settings.level == SwitchLevel::crossbar ? INT32_MAX : settings.buffer;
  if (channel.router >= 0) {
    made.entity = static_cast<std::uint32_t>(channel.router);
    made.port = channel.port;
  } else if (channel.terminal >= 0) {
    made.entity = static_cast<std::uint32_t>(fabric_.routers() + channel.terminal);
  } else if (is_output) {
    made.vcs = 0;
  }
  return made;
}

std::uint32_t FlitNetwork::channels(const Way& way, int port, int vcs) const {
  const auto first = [](int count) { return static_cast<std::uint32_t>((1ULL << count) - 1); };
  const std::uint32_t all = first(vcs);
  if (way.escape < 0) {
    if (way.half == 0) return all;
    return way.half == 1 ? first(vcs / 2) : all & ~first(vcs / 2);
  }
  std::uint32_t found = 0;
  if (way.ports >> port & 1) found = all & ~first(escapes_);
  if (way.escape == port) found |= way.half == 2 ? 2U : 1U;
  return found;
}

std::uint32_t FlitNetwork::inject(std::int32_t from, std::int32_t to, std::uint32_t flits,
                                  std::int64_t at_cycle, std::uint32_t tag) {
  std::uint32_t number = 0;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(packets_.size());
    packets_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  packets_[number] = {from, to, flits, {}, 0, tag, at_cycle, -1};
  ++under_way_;
  kernel_.at(at_cycle * cycle_, static_cast<std::uint32_t>(fabric_.routers() + from),
             what_of(FlitEvent::wake, 0), number);
  return number;
}

void FlitNetwork::arrived(std::uint32_t packet) {
  --under_way_;
  if (listener_) listener_->arrived(packet, now());
  free_.push_back(packet);
}

std::size_t FlitNetwork::memory() const {
  std::size_t bytes = kernel_.memory() + routes_.memory() +
                      packets_.capacity() * sizeof(FlitPacket) + free_.capacity() * 4;
  bytes += random_.capacity() * sizeof random_[0];
  for (const auto& router : routers_) bytes += router->memory();
  return bytes;
}

void FlitTerminal::handle(entity::Kernel& kernel, const entity::Event& event) {
  switch (kind_of(event)) {
    case FlitEvent::wake:
      queue_.push_back(static_cast<std::uint32_t>(event.data));
      return tick_soon(kernel);
    case FlitEvent::credit:
      ++credits_[event.data];
      return tick_soon(kernel);
    case FlitEvent::tick:
      ticks_ = false;
      return tick(kernel);
    case FlitEvent::flit:
      break;
  }
  const Flit flit = Flit::of(event.data);
  ++network_.ejected_;
  kernel.after((1 + in_.cycles) * network_.cycle_, in_.entity, what_of(FlitEvent::credit, in_.port),
               flit.vc);
  if (flit.tail) network_.arrived(flit.packet);
}

// Now, or in the next cycle if a flit has gone in this one.
void FlitTerminal::tick_soon(entity::Kernel& kernel) {
  if (ticks_ || queue_.empty()) return;
  ticks_ = true;
  kernel.at(std::max(kernel.now(), free_), number(), what_of(FlitEvent::tick, 0), 0, 1);
}

void FlitTerminal::tick(entity::Kernel& kernel) {
  if (queue_.empty()) return;
  const std::uint32_t number = queue_.front();
  FlitPacket& packet = network_.packets_[number];
  const int vcs = out_.vcs;
  if (next_flit_ == 0) {
    // The next channel in turn that has room; the packet keeps it to its end.
    int found = -1;
    for (int i = 1; i <= vcs && found < 0; ++i)
      if (credits_[static_cast<std::size_t>((vc_ + i) % vcs)] > 0) found = (vc_ + i) % vcs;
    if (found < 0) return;
    vc_ = found;
    packet.entered = kernel.now() / network_.cycle_;
  }
  int& credits = credits_[static_cast<std::size_t>(vc_)];
  if (credits == 0) return;
  if (credits != INT32_MAX) --credits;
  ++next_flit_;
  const bool tail = next_flit_ == packet.flits;
  const Flit flit{number, static_cast<std::uint8_t>(vc_), next_flit_ == 1, tail};
  kernel.after((1 + out_.cycles) * network_.cycle_, out_.entity,
               what_of(FlitEvent::flit, out_.port), flit.packed());
  if (tail) {
    next_flit_ = 0;
    queue_.pop_front();
    if (network_.listener_) network_.listener_->left(number, kernel.now() / network_.cycle_ + 1);
  }
  free_ = kernel.now() + network_.cycle_;
  tick_soon(kernel);
}

}  // namespace foretrace::architecture
