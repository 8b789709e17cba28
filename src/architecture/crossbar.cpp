#include "architecture/crossbar.hpp"

#include <algorithm>
#include <bit>

namespace foretrace::architecture {

void CrossbarSwitch::start(entity::Kernel&) {
  outputs_.resize(out_.size());
  for (std::size_t o = 0; o < out_.size(); ++o) {
    outputs_[o].free = static_cast<std::uint32_t>((1ULL << out_[o].vcs) - 1);
    outputs_[o].credits.assign(static_cast<std::size_t>(out_[o].vcs), out_[o].buffer);
  }
}

std::size_t CrossbarSwitch::memory() const {
  std::size_t bytes =
      sizeof *this + outputs_.capacity() * sizeof(Output) + ways_.capacity() * sizeof(Held);
  for (const Output& output : outputs_)
    bytes += output.queue.size() * sizeof(Waiting) + output.credits.capacity() * sizeof(int);
  return bytes;
}

void CrossbarSwitch::wake(entity::Kernel& kernel) {
  if (ticked_ >= kernel.now()) return;
  ticked_ = kernel.now();
  kernel.at(ticked_, number(), what_of(FlitEvent::tick, 0), 0, 1);
}

// The head's way is the way of the flits behind it.
int CrossbarSwitch::output_of(const Flit& flit, std::uint32_t& channels) {
  if (flit.head) {
    Way way = network_.way(router_, flit.packet);
    // Of several ports the one with the shortest queue.
    std::uint64_t ports = way.ports ? way.ports : std::uint64_t{1} << way.escape;
    int best = std::countr_zero(ports);
    for (; ports; ports &= ports - 1) {
      const int port = std::countr_zero(ports);
      if (outputs_[static_cast<std::size_t>(port)].queue.size() <
          outputs_[static_cast<std::size_t>(best)].queue.size())
        best = port;
    }
    channels = network_.channels(way, best, out_[static_cast<std::size_t>(best)].vcs);
    if (!flit.tail) ways_.push_back({flit.packet, best});
    return best;
  }
  const auto found = std::ranges::find(ways_, flit.packet, &Held::packet);
  const int output = found->number;
  if (flit.tail) ways_.erase(found);
  return output;
}

void CrossbarSwitch::handle(entity::Kernel& kernel, const entity::Event& event) {
  const int port = port_of(event);
  switch (kind_of(event)) {
    case FlitEvent::flit: {
      const Flit flit = Flit::of(event.data);
      std::uint32_t channels = 0;
      const int output = output_of(flit, channels);
      outputs_[static_cast<std::size_t>(output)].queue.push_back({flit, channels});
      occupancy_.add(kernel.now(), 1);
      return wake(kernel);
    }
    case FlitEvent::credit: {
      int& credits = outputs_[static_cast<std::size_t>(port)].credits[event.data];
      if (credits != INT32_MAX) ++credits;
      if (occupancy_.value() > 0) wake(kernel);
      return;
    }
    case FlitEvent::tick:
      break;
    case FlitEvent::wake:
      return;
  }
  bool passed = false;
  for (int output = 0; output < static_cast<int>(outputs_.size()); ++output)
    passed |= pass(kernel, output);
  if (!passed || occupancy_.value() == 0) return;
  ticked_ = kernel.now() + network_.cycle();
  kernel.at(ticked_, number(), what_of(FlitEvent::tick, 0), 0, 1);
}

// The first flit that can go.
bool CrossbarSwitch::pass(entity::Kernel& kernel, int port) {
  Output& output = outputs_[static_cast<std::size_t>(port)];
  const Neighbour& next = out_[static_cast<std::size_t>(port)];
  for (auto waiting = output.queue.begin(); waiting != output.queue.end(); ++waiting) {
    Flit flit = waiting->flit;
    int vc = -1;
    if (flit.head) {
      for (int i = 0; i < next.vcs && vc < 0; ++i) {
        const int candidate = (output.next_vc + i) % next.vcs;
        if ((output.free & waiting->channels) >> candidate & 1 &&
            output.credits[static_cast<std::size_t>(candidate)] > 0)
          vc = candidate;
      }
      if (vc < 0) continue;
      output.next_vc = (vc + 1) % next.vcs;
      output.free &= ~(1U << vc);
      if (!flit.tail) output.held.push_back({flit.packet, vc});
    } else {
      const auto held = std::ranges::find(output.held, flit.packet, &Held::packet);
      if (held == output.held.end() || output.credits[static_cast<std::size_t>(held->number)] == 0)
        continue;
      vc = held->number;
      if (flit.tail) output.held.erase(held);
    }
    int& credits = output.credits[static_cast<std::size_t>(vc)];
    if (credits != INT32_MAX) --credits;
    if (flit.tail) output.free |= 1U << vc;
    if (flit.tail && network_.watcher_) network_.watcher_->passed(flit.packet, router_, port);
    flit.vc = static_cast<std::uint8_t>(vc);
    output.queue.erase(waiting);
    occupancy_.add(kernel.now(), -1);
    ++sent_[static_cast<std::size_t>(port)];
    const int crossbar =
        network_.fabric().settings[static_cast<std::size_t>(router_)].crossbar_delay;
    kernel.after((1 + crossbar + next.cycles) * network_.cycle(), next.entity,
                 what_of(FlitEvent::flit, next.port), flit.packed());
    return true;
  }
  return false;
}

}  // namespace foretrace::architecture
