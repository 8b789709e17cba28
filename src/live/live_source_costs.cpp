// What ranks are told of the machine, to follow their own clocks by.
#include "live/live_source.hpp"
#include "machine/look_time.hpp"
#include "shared/message_costs.hpp"

namespace foretrace::live {

using trace::EventKind;

void LiveSource::publish_costs(std::uint64_t functions) const {
  // Another one's: the program may call few of them, and only what it calls is asked for.
  const machine::Timing all = *timing_;
  const std::uint64_t place = allocate(2 * functions * sizeof(std::int64_t));
  auto* const costs = SharedMemory::at<std::int64_t>(place);
  for (std::uint64_t i = 0; i < functions; ++i) {
    costs[2 * i] = all.local_call(names_[i], ranks_).count_ps();
    costs[2 * i + 1] = machine::look_time(all, names_[i], ranks_).count_ps();
  }
  SharedMemory::header().call_costs.store(place, std::memory_order_release);
}

// Of what was evaluated for this operation: others might be extrapolated, which would be told.
void LiveSource::publish_costs(const sim::Operation& operation, const sim::Outcome& outcome) const {
  using Kind = MessageCost;
  // All ranks are on one node, or the model knows nothing of untouched data (ClockRules::by_size).
  const auto timing_of = [this](bool untouched) -> const machine::Timing& {
    return timing_->on(machine::of_data(machine::Path::node, untouched));
  };
  const auto publish = [&timing_of](Bytes bytes, bool untouched, Kind what, auto cost) {
    const Bytes size(message_costs::sized(bytes.count, untouched));
    if (!message_costs::is_known(size, what))
      message_costs::publish(size, what, cost(timing_of(untouched)));
  };
  using Timing = machine::Timing;
  const Timing& timing = *timing_;
  const Bytes sent = operation.send.bytes;
  const bool untouched = operation.send.untouched;
  const bool eager = operation.send.peer.valid() && !timing.is_rendezvous(operation.mode, sent);
  if (operation.send.peer.valid() && !operation.silent)
    publish(sent, untouched, Kind::gap, [&](const Timing& own) { return own.gap(sent); });
  switch (operation.kind) {
    case EventKind::send:
      if (eager && operation.mode == machine::SendMode::standard)
        publish(sent, untouched, Kind::send, [&](const Timing& own) {
          return own.send_eager_leave(Time(), operation.mode, sent);
        });
      break;
    case EventKind::isend:
      if (!eager) break;
      publish(sent, untouched, Kind::post_send,
              [&](const Timing& own) { return own.isend_post_leave(Time(), sent); });
      publish(sent, untouched, Kind::sent, [&](const Timing& own) {
        return own.isend_end(Time(), Time(), operation.mode, sent, false);
      });
      publish(sent, untouched, Kind::complete_send,
              [&](const Timing& own) { return own.isend_complete_minimum(sent); });
      publish(sent, untouched, Kind::sending_takes,
              [&](const Timing& own) { return own.sending_takes(sent); });
      break;
    case EventKind::irecv:
      if (operation.recv.peer.valid() || operation.recv.any_source)
        publish(operation.recv.bytes, false, Kind::post_receive, [&](const Timing& own) {
          return own.irecv_post_leave(Time(), operation.recv.bytes);
        });
      break;
    case EventKind::recv: {
      const Bytes bytes = outcome.message.bytes;
      const bool came_untouched = outcome.message.untouched;
      if (!outcome.message.peer.valid() || operation.silent) break;
      publish(bytes, came_untouched, Kind::receive,
              [&](const Timing& own) { return own.recv_transfer(bytes); });
      publish(bytes, came_untouched, Kind::receive_at_least,
              [&](const Timing& own) { return own.recv_minimum(bytes); });
      publish(bytes, came_untouched, Kind::receiving_takes,
              [&](const Timing& own) { return own.receiving_takes(bytes); });
      break;
    }
    case EventKind::complete:
      for (const trace::Completion& completion : outcome.completions)
        // A completion does not say which of the two it was.
        for (const bool either : {false, timing.knows_untouched()}) {
          const Bytes bytes = completion.bytes;
          if (!completion.source.valid()) continue;
          publish(bytes, either, Kind::received, [&](const Timing& own) {
            return own.irecv_end(Time(), {Time(), bytes, false});
          });
          publish(bytes, either, Kind::complete_receive,
                  [&](const Timing& own) { return own.irecv_complete_minimum(bytes); });
          publish(bytes, either, Kind::receiving_takes,
                  [&](const Timing& own) { return own.receiving_takes(bytes); });
        }
      break;
    default:
      break;
  }
}

}  // namespace foretrace::live
