// FlitSwitch: a router with input queues, virtual channels and credits, cycle by cycle.
//
// Input and output pass one flit a cycle. The switch is allocated by one iteration of iSLIP
// (McKeown 1999); how a packet gets its output channel is SwitchSettings::allocation.
// docs/traffic.md has the pipeline. It sleeps while nothing in it can move.
#pragma once

#include <vector>

#include "architecture/flit_network.hpp"

namespace foretrace::architecture {

class FlitSwitch final : public FlitRouter {
 public:
  FlitSwitch(FlitNetwork& network, int router);
  void start(entity::Kernel& kernel) override;
  void handle(entity::Kernel& kernel, const entity::Event& event) override;
  std::size_t memory() const override;

 private:
  enum class State : std::uint8_t { idle, head, active };

  // A virtual channel of an input, with its queue in flits_.
  struct Queue {
    Way way;
    std::uint16_t first = 0;
    std::uint16_t count = 0;
    State state = State::idle;
    std::int8_t out = -1;
    std::uint8_t out_vc = 0;
  };
  struct Output {
    std::uint32_t free = 0;        // channels of the next input that no packet holds
    std::uint32_t has_credit = 0;  // with room
    std::uint8_t next_vc = 0;      // whose turn it is
    std::uint8_t next_input = 0;
    std::int16_t vcs = 0;
    int first_credit = 0;
  };
  struct Input {
    std::uint8_t next_output = 0;
    std::uint8_t next_vc = 0;
  };

  Queue& queue(int input, int vc) { return queues_[static_cast<std::size_t>(input * vcs_ + vc)]; }
  std::uint32_t open(const Queue& head, int port) const {
    const Output& output = outputs_[static_cast<std::size_t>(port)];
    return output.free & network_.channels(head.way, port, output.vcs);
  }
  void wake(entity::Kernel& kernel);
  void become_head(Queue& queue, std::uint32_t packet);
  void tick(entity::Kernel& kernel);
  bool request_switch();
  void request(int input, int vc, int output, bool active);
  void allocate_channels();
  bool settle_channels();
  void match();
  void grant(entity::Kernel& kernel, int input, int output);
  void send(entity::Kernel& kernel, int input, int vc);

  int ports_ = 0;
  int vcs_;
  int buffer_;
  Allocation allocation_;
  int crossbar_delay_;
  std::vector<Queue> queues_;
  std::vector<std::uint64_t> flits_;
  std::vector<Output> outputs_;
  std::vector<Input> inputs_;
  std::vector<std::int32_t> credits_;
  // Turns of the allocator of channels: by output channel, by input channel.
  std::vector<std::uint16_t> channel_turn_, queue_turn_;
  entity::Ps ticked_ = -1;
};

}  // namespace foretrace::architecture
