// What ranks are told of the machine, to follow their own clocks by.
#include "live/live_source.hpp"
#include "machine/look_time.hpp"
#include "shared/message_costs.hpp"

namespace foretrace::live {

using trace::EventKind;

void LiveSource::publish_costs(std::uint64_t functions) const {
  const std::uint64_t place = allocate(2 * functions * sizeof(std::int64_t));
  auto* const costs = SharedMemory::at<std::int64_t>(place);
  for (std::uint64_t i = 0; i < functions; ++i) {
    costs[2 * i] = timing_->local_call(names_[i], ranks_).count_ps();
    costs[2 * i + 1] = machine::look_time(*timing_, names_[i], ranks_).count_ps();
  }
  SharedMemory::header().call_costs.store(place, std::memory_order_release);
}

// Of what was evaluated for this operation: others might be extrapolated, which would be told.
void LiveSource::publish_costs(const sim::Operation& operation, const sim::Outcome& outcome) const {
  using Kind = MessageCost;
  const auto publish = [](Bytes size, Kind what, auto cost) {
    if (!message_costs::is_known(size, what)) message_costs::publish(size, what, cost());
  };
  const machine::Timing& timing = *timing_;
  const Bytes sent = operation.send.bytes;
  const bool eager = operation.send.peer.valid() && !timing.is_rendezvous(operation.mode, sent);
  if (operation.send.peer.valid() && !operation.silent)
    publish(sent, Kind::gap, [&] { return timing.gap(sent); });
  switch (operation.kind) {
    case EventKind::send:
      if (eager && operation.mode == machine::SendMode::standard)
        publish(sent, Kind::send,
                [&] { return timing.send_eager_leave(Time(), operation.mode, sent); });
      break;
    case EventKind::isend:
      if (!eager) break;
      publish(sent, Kind::post_send, [&] { return timing.isend_post_leave(Time(), sent); });
      publish(sent, Kind::sent,
              [&] { return timing.isend_end(Time(), Time(), operation.mode, sent, false); });
      publish(sent, Kind::complete_send, [&] { return timing.isend_complete_minimum(sent); });
      publish(sent, Kind::sending_takes, [&] { return timing.sending_takes(sent); });
      break;
    case EventKind::irecv:
      if (operation.recv.peer.valid() || operation.recv.any_source)
        publish(operation.recv.bytes, Kind::post_receive,
                [&] { return timing.irecv_post_leave(Time(), operation.recv.bytes); });
      break;
    case EventKind::recv: {
      const Bytes bytes = outcome.message.bytes;
      if (!outcome.message.peer.valid() || operation.silent) break;
      publish(bytes, Kind::receive, [&] { return timing.recv_transfer(bytes); });
      publish(bytes, Kind::receive_at_least, [&] { return timing.recv_minimum(bytes); });
      publish(bytes, Kind::receiving_takes, [&] { return timing.receiving_takes(bytes); });
      break;
    }
    case EventKind::complete:
      for (const trace::Completion& completion : outcome.completions) {
        const Bytes bytes = completion.bytes;
        if (!completion.source.valid()) continue;
        publish(bytes, Kind::received, [&] {
          return timing.irecv_end(Time(), {Time(), bytes, false});
        });
        publish(bytes, Kind::complete_receive,
                [&] { return timing.irecv_complete_minimum(bytes); });
        publish(bytes, Kind::receiving_takes, [&] { return timing.receiving_takes(bytes); });
      }
      break;
    default:
      break;
  }
}

}  // namespace foretrace::live
