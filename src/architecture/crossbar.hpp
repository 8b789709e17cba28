// CrossbarSwitch: the ideal switch, with a queue without limit at each output.
//
// Every flit goes to its output's queue at once, however many come; each output passes one flit a
// cycle, in the order of coming. It takes a credit and a channel of the next input like any switch;
// its own inputs never run out of room. The coarse level of a switch.
#pragma once

#include <deque>
#include <vector>

#include "architecture/flit_network.hpp"

namespace foretrace::architecture {

class CrossbarSwitch final : public FlitRouter {
 public:
  using FlitRouter::FlitRouter;
  void start(entity::Kernel& kernel) override;
  void handle(entity::Kernel& kernel, const entity::Event& event) override;
  std::size_t memory() const override;

 private:
  struct Waiting {
    Flit flit;
    std::uint32_t channels = 0;  // of a head: those of the next input that it may take
  };
  // A packet that has got an output channel; or, at an input, its output.
  struct Held {
    std::uint32_t packet = 0;
    int number = 0;
  };
  struct Output {
    std::deque<Waiting> queue;
    std::vector<Held> held;
    std::uint32_t free = 0;
    std::vector<int> credits;
    int next_vc = 0;
  };

  int output_of(const Flit& flit, std::uint32_t& channels);
  bool pass(entity::Kernel& kernel, int port);
  void wake(entity::Kernel& kernel);

  std::vector<Output> outputs_;
  std::vector<Held> ways_;
  entity::Ps ticked_ = -1;
};

}  // namespace foretrace::architecture
