#include "architecture/flit_switch.hpp"

#include <algorithm>
#include <bit>

namespace foretrace::architecture {
namespace {

// What one cycle of one switch needs; nothing in it outlives the cycle.
struct Scratch {
  std::uint64_t wanted[kMaxSwitchPorts];                 // by output: inputs that ask for it
  std::uint64_t asks[kMaxSwitchPorts];                   // by input: outputs that it asks for
  std::uint64_t granted[kMaxSwitchPorts];                // by input: outputs that chose it
  std::int8_t match[kMaxSwitchPorts];                    // by input: output
  std::uint8_t label[kMaxSwitchPorts][kMaxSwitchPorts];  // input, output: channel
  bool active[kMaxSwitchPorts][kMaxSwitchPorts];         // that it is no head
  std::uint64_t outputs;                                 // that are asked for
  std::vector<int> heads;                                // queues that ask for a channel
  std::vector<std::pair<int, int>> offers;               // queue, output channel
  std::vector<std::pair<int, int>> settled;
};
thread_local Scratch scratch;

// The first bit of `bits` from `start` on, round the end.
int first_from(std::uint64_t bits, int start) {
  const std::uint64_t after = bits & (~std::uint64_t{0} << start);
  return std::countr_zero(after ? after : bits);
}

}  // namespace

FlitSwitch::FlitSwitch(FlitNetwork& network, int router)
    : FlitRouter(network, router),
      vcs_(network.fabric().settings[static_cast<std::size_t>(router)].vcs),
      buffer_(network.fabric().settings[static_cast<std::size_t>(router)].buffer),
      allocation_(network.fabric().settings[static_cast<std::size_t>(router)].allocation),
      crossbar_delay_(network.fabric().settings[static_cast<std::size_t>(router)].crossbar_delay) {}

void FlitSwitch::start(entity::Kernel&) {
  ports_ = static_cast<int>(out_.size());
  queues_.resize(static_cast<std::size_t>(ports_ * vcs_));
  flits_.resize(queues_.size() * static_cast<std::size_t>(buffer_));
  inputs_.resize(static_cast<std::size_t>(ports_));
  outputs_.resize(static_cast<std::size_t>(ports_));
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& output = outputs_[o];
    output.vcs = static_cast<std::int16_t>(out_[o].vcs);
    output.free = output.has_credit = static_cast<std::uint32_t>((1ULL << output.vcs) - 1);
    output.first_credit = static_cast<int>(credits_.size());
    credits_.insert(credits_.end(), static_cast<std::size_t>(output.vcs), out_[o].buffer);
  }
  if (allocation_ == Allocation::joint) return;
  channel_turn_.assign(credits_.size(), 0);
  queue_turn_.assign(queues_.size(), 0);
}

std::size_t FlitSwitch::memory() const {
  return sizeof *this + queues_.capacity() * sizeof(Queue) + flits_.capacity() * 8 +
         outputs_.capacity() * sizeof(Output) + inputs_.capacity() * sizeof(Input) +
         credits_.capacity() * 4 + (channel_turn_.capacity() + queue_turn_.capacity()) * 2 +
         (out_.capacity() + in_.capacity()) * sizeof(Neighbour) + sent_.capacity() * 8;
}

void FlitSwitch::wake(entity::Kernel& kernel) {
  if (ticked_ >= kernel.now()) return;
  ticked_ = kernel.now();
  kernel.at(ticked_, number(), what_of(FlitEvent::tick, 0), 0, 1);
}

void FlitSwitch::become_head(Queue& queue, std::uint32_t packet) {
  queue.state = State::head;
  queue.way = network_.way(router_, packet);
}

void FlitSwitch::handle(entity::Kernel& kernel, const entity::Event& event) {
  const int port = port_of(event);
  switch (kind_of(event)) {
    case FlitEvent::flit: {
      const Flit flit = Flit::of(event.data);
      Queue& into = queue(port, flit.vc);
      const auto base =
          static_cast<std::size_t>(port * vcs_ + flit.vc) * static_cast<std::size_t>(buffer_);
      int at = into.first + into.count;
      if (at >= buffer_) at -= buffer_;
      flits_[base + static_cast<std::size_t>(at)] = event.data;
      ++into.count;
      if (into.state == State::idle) become_head(into, flit.packet);
      occupancy_.add(kernel.now(), 1);
      return wake(kernel);
    }
    case FlitEvent::credit: {
      Output& output = outputs_[static_cast<std::size_t>(port)];
      auto& credits = credits_[static_cast<std::size_t>(output.first_credit) + event.data];
      if (credits != INT32_MAX) ++credits;
      output.has_credit |= 1U << event.data;
      if (occupancy_.value() > 0) wake(kernel);
      return;
    }
    case FlitEvent::tick:
      return tick(kernel);
    case FlitEvent::wake:
      return;
  }
}

// What happens in a cycle is decided from how things are at its beginning.
void FlitSwitch::tick(entity::Kernel& kernel) {
  scratch.outputs = 0;
  for (int p = 0; p < ports_; ++p) scratch.wanted[p] = scratch.asks[p] = scratch.granted[p] = 0;
  scratch.settled.clear();
  if (allocation_ != Allocation::joint) allocate_channels();
  const bool asked = request_switch();
  match();
  const bool settled = allocation_ != Allocation::joint && settle_channels();
  for (int input = 0; input < ports_; ++input)
    if (scratch.match[input] >= 0) grant(kernel, input, scratch.match[input]);
  if (!asked && !settled) return;
  ticked_ = kernel.now() + network_.cycle();
  kernel.at(ticked_, number(), what_of(FlitEvent::tick, 0), 0, 1);
}

// Whether anybody asks.
bool FlitSwitch::request_switch() {
  for (int input = 0; input < ports_; ++input)
    for (int vc = 0; vc < vcs_; ++vc) {
      const Queue& from = queue(input, vc);
      if (from.count == 0) continue;
      if (from.state == State::active) {
        const Output& output = outputs_[static_cast<std::size_t>(from.out)];
        if (output.has_credit >> from.out_vc & 1) request(input, vc, from.out, true);
        continue;
      }
      if (allocation_ == Allocation::sequential) continue;
      std::uint64_t ports = from.way.ports;
      if (from.way.escape >= 0) ports |= std::uint64_t{1} << from.way.escape;
      for (; ports; ports &= ports - 1) {
        const int port = std::countr_zero(ports);
        if (open(from, port) & outputs_[static_cast<std::size_t>(port)].has_credit)
          request(input, vc, port, false);
      }
    }
  return scratch.outputs != 0;
}

// Of the channels of one input that ask for one output, one does: packets under way before heads,
// then in turn.
void FlitSwitch::request(int input, int vc, int output, bool active) {
  const std::uint64_t bit = std::uint64_t{1} << output;
  if (scratch.asks[input] & bit) {
    if (scratch.active[input][output] != active) {
      if (!active) return;
    } else {
      const int turn = inputs_[static_cast<std::size_t>(input)].next_vc;
      const int before = scratch.label[input][output];
      if ((before - turn + vcs_) % vcs_ < (vc - turn + vcs_) % vcs_) return;
    }
  }
  scratch.asks[input] |= bit;
  scratch.wanted[output] |= std::uint64_t{1} << input;
  scratch.label[input][output] = static_cast<std::uint8_t>(vc);
  scratch.active[input][output] = active;
  scratch.outputs |= bit;
}

// iSLIP: each output grants in turn, each input accepts in turn; turns go on where both agree.
void FlitSwitch::match() {
  for (std::uint64_t outputs = scratch.outputs; outputs; outputs &= outputs - 1) {
    const int output = std::countr_zero(outputs);
    const int input =
        first_from(scratch.wanted[output], outputs_[static_cast<std::size_t>(output)].next_input);
    scratch.granted[input] |= std::uint64_t{1} << output;
  }
  for (int input = 0; input < ports_; ++input) {
    scratch.match[input] = -1;
    if (!scratch.granted[input]) continue;
    Input& accepts = inputs_[static_cast<std::size_t>(input)];
    const int output = first_from(scratch.granted[input], accepts.next_output);
    scratch.match[input] = static_cast<std::int8_t>(output);
    accepts.next_output = static_cast<std::uint8_t>((output + 1) % ports_);
    outputs_[static_cast<std::size_t>(output)].next_input =
        static_cast<std::uint8_t>((input + 1) % ports_);
    accepts.next_vc = static_cast<std::uint8_t>((scratch.label[input][output] + 1) % vcs_);
  }
}

// One iteration of iSLIP between the heads and the channels of the next inputs.
void FlitSwitch::allocate_channels() {
  auto& offers = scratch.offers;
  offers.clear();
  const int queues = ports_ * vcs_;
  for (int number = 0; number < queues; ++number) {
    const Queue& from = queues_[static_cast<std::size_t>(number)];
    if (from.count == 0 || from.state != State::head) continue;
    std::uint64_t ports = from.way.ports;
    if (from.way.escape >= 0) ports |= std::uint64_t{1} << from.way.escape;
    for (; ports; ports &= ports - 1) {
      const int port = std::countr_zero(ports);
      const int first = outputs_[static_cast<std::size_t>(port)].first_credit;
      for (std::uint32_t vcs = open(from, port); vcs; vcs &= vcs - 1)
        offers.emplace_back(first + std::countr_zero(vcs), number);
    }
  }
  if (offers.empty()) return;
  // Each output channel chooses a queue ...
  std::ranges::sort(offers);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < offers.size();) {
    const int channel = offers[i].first;
    const int turn = channel_turn_[static_cast<std::size_t>(channel)];
    std::size_t best = i;
    for (; i < offers.size() && offers[i].first == channel; ++i)
      if ((offers[i].second - turn + queues) % queues <
          (offers[best].second - turn + queues) % queues)
        best = i;
    offers[kept++] = {offers[best].second, channel};
  }
  // ... and each queue one of those that chose it.
  offers.resize(kept);
  std::ranges::sort(offers);
  const int channels = static_cast<int>(credits_.size());
  for (std::size_t i = 0; i < kept;) {
    const int number = offers[i].first;
    auto& turn = queue_turn_[static_cast<std::size_t>(number)];
    std::size_t best = i;
    for (; i < kept && offers[i].first == number; ++i)
      if ((offers[i].second - turn + channels) % channels <
          (offers[best].second - turn + channels) % channels)
        best = i;
    const int channel = offers[best].second;
    scratch.settled.emplace_back(number, channel);
    turn = static_cast<std::uint16_t>((channel + 1) % channels);
    channel_turn_[static_cast<std::size_t>(channel)] =
        static_cast<std::uint16_t>((number + 1) % queues);
  }
}

// Whether any head has got a channel.
bool FlitSwitch::settle_channels() {
  for (const auto& [number, channel] : scratch.settled) {
    Queue& head = queues_[static_cast<std::size_t>(number)];
    int port = 0;
    while (port + 1 < ports_ &&
           outputs_[static_cast<std::size_t>(port + 1)].first_credit <= channel)
      ++port;
    Output& output = outputs_[static_cast<std::size_t>(port)];
    head.state = State::active;
    head.out = static_cast<std::int8_t>(port);
    head.out_vc = static_cast<std::uint8_t>(channel - output.first_credit);
    output.free &= ~(1U << head.out_vc);
  }
  return !scratch.settled.empty();
}

void FlitSwitch::grant(entity::Kernel& kernel, int input, int port) {
  const int vc = scratch.label[input][port];
  Queue& from = queue(input, vc);
  Output& output = outputs_[static_cast<std::size_t>(port)];
  if (!scratch.active[input][port]) {
    if (allocation_ == Allocation::speculative) {
      // In vain without a channel of this output that has room.
      if (from.state != State::active || from.out != port ||
          !(output.has_credit >> from.out_vc & 1))
        return;
    } else {
      const std::uint32_t choice = open(from, port) & output.has_credit;
      const int chosen = first_from(choice, output.next_vc);
      output.next_vc = static_cast<std::uint8_t>((chosen + 1) % output.vcs);
      output.free &= ~(1U << chosen);
      from.state = State::active;
      from.out = static_cast<std::int8_t>(port);
      from.out_vc = static_cast<std::uint8_t>(chosen);
    }
  }
  send(kernel, input, vc);
}

void FlitSwitch::send(entity::Kernel& kernel, int input, int vc) {
  Queue& from = queue(input, vc);
  const auto base = static_cast<std::size_t>(input * vcs_ + vc) * static_cast<std::size_t>(buffer_);
  Flit flit = Flit::of(flits_[base + from.first]);
  from.first = static_cast<std::uint16_t>(from.first + 1 == buffer_ ? 0 : from.first + 1);
  --from.count;
  Output& output = outputs_[static_cast<std::size_t>(from.out)];
  const Neighbour& next = out_[static_cast<std::size_t>(from.out)];
  auto& credits = credits_[static_cast<std::size_t>(output.first_credit + from.out_vc)];
  if (credits != INT32_MAX && --credits == 0) output.has_credit &= ~(1U << from.out_vc);
  flit.vc = from.out_vc;
  ++sent_[static_cast<std::size_t>(from.out)];
  const entity::Ps cycle = network_.cycle();
  kernel.after((1 + crossbar_delay_ + next.cycles) * cycle, next.entity,
               what_of(FlitEvent::flit, next.port), flit.packed());
  const Neighbour& before = in_[static_cast<std::size_t>(input)];
  kernel.after((1 + before.cycles) * cycle, before.entity, what_of(FlitEvent::credit, before.port),
               static_cast<std::uint64_t>(vc));
  occupancy_.add(kernel.now(), -1);
  if (!flit.tail) return;
  if (network_.watcher_) network_.watcher_->passed(flit.packet, router_, from.out);
  output.free |= 1U << from.out_vc;
  from.state = State::idle;
  if (from.count > 0) become_head(from, Flit::of(flits_[base + from.first]).packet);
}

}  // namespace foretrace::architecture
