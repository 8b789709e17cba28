// Which message a receive gets. Messages come straight from their senders (inbox.hpp);
// there are two ways to know which of them is whose:
//
// - Named receives name source and tag. The n-th of them on a communicator gets the
//   n-th message, as long as no other kind could take it: so it is known here, before
//   the simulator has come to it, and the rank may run ahead of virtual time.
// - Asked receives are wildcards, receives of what a probe has taken, and all that are
//   posted while such a one is not complete: the simulator says which message they got,
//   by its sender and number. Those that are open to whatever message comes first are given
//   one here as well, as soon as it is known which is the first (horizon.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/unexpected.hpp"
#include "shared/horizon.hpp"
#include "shared/message_costs.hpp"
#include "shared/own_clock.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {

// A receive on its way, as part of a request or of a blocking call.
struct Incoming {
  enum class State : std::uint8_t {
    none,   // not posted, complete, or no message ever comes (MPI_PROC_NULL)
    named,  // its message is not there
    bound,  // named, its message is `message`
    asked,
  };
  State state = State::none;
  // Until it is there: communicator, source (-1: any) and tag (sim::kAnyTag: any) that it waits
  // for.
  Envelope message;
  // Of an asked receive: the message that it gets if this rank does not send itself one before.
  std::optional<Envelope> next;

  bool is_known() const { return state == State::named || state == State::bound; }
};

// As its sender has told.
inline KnownTransfer transfer_of(const Incoming& receive) {
  const Envelope& message = receive.message;
  const bool known = receive.state == Incoming::State::bound && message.sure;
  return {false, known ? message.sent : kNoClock,
          live::message_costs::sized(message.bytes, message.untouched)};
}

// What a receive that got it, or a probe that saw it, tells.
Result result_of(const Envelope& message);

class Mailbox {
 public:
  // A receive with this record is posted next.
  void expect(Incoming& receive, const Record& record);
  // The simulator says that the receive is complete, or that it was cancelled: its
  // message. Its source is -1 if it gets none.
  Result finish(Incoming& receive, const Result& said);
  // What a named receive got, which await() has waited for.
  Result finish(Incoming& receive);
  // Waits until the messages of these named receives, which have been posted, are there,
  // and are certain to have been sent.
  void await(std::span<Incoming* const> receives);
  // Gives receives what has come meanwhile and is theirs. What this rank does next begins at `now`;
  // 0 if that is not known.
  void look(Time now);
  // This rank sends nothing before `now`: open receives get what they were to get before.
  void give_open(Time now);
  // When the engine is done with the messages that its receives will get of those that are here;
  // Time::max() if that is not known.
  Time ends_by() const;
  bool has_open() const { return !open_.empty(); }
  // Before this, all messages were there at the last look().
  Time horizon() const { return view_.horizon; }
  const live::horizon::View& view() const { return view_; }
  // Whether it is known here which messages the receives get that were posted so far.
  bool follows() const { return open_.size() == static_cast<std::size_t>(asked_); }
  // Of what open receives may get, the first message behind the horizon; 0 if that is not known.
  Time next_for_open() const { return next_for_open_; }
  // Of the messages that wait and fit, the one that is seen first; nullptr: there is none.
  // Nothing if it is not known when one of them is seen.
  std::optional<const Envelope*> first(const Envelope& pattern) const {
    return unexpected_.first(pattern);
  }
  // The receive is withdrawn, if no message is there in virtual time: only the simulator can say
  // who gets what from now on.
  void withdraw(const Incoming& receive);
  // A probe has taken a message, or that message has been received.
  void probe_took() { ++asked_; }
  void probed_is_received() { --asked_; }
  // A receive's place in memory changes; it goes.
  void move(Incoming& from, Incoming& to);
  void forget(Incoming& receive);

 private:
  void collect();
  void match_open();
  void ask_for_all();
  void end_asking(const Incoming& receive);
  void bind(Incoming& receive, const Envelope& message);
  void leave(Incoming& receive);
  Envelope take(std::int32_t source, std::uint64_t number);

  std::vector<Incoming*> named_;   // in the order in which they were posted
  Unexpected unexpected_;          // that no named receive gets
  std::vector<Envelope> arrived_;  // by collect()
  int asked_ = 0;                  // on their way
  std::vector<Incoming*> open_;    // of these, in the order in which they were posted
  live::horizon::View view_;
  Time next_for_open_;
};

extern Mailbox mailbox;

// Hands the message to the rank that the record names, and fills in what the simulator
// has to know of it. When the call begins that sends it, if its clock is known.
std::int64_t hand_over(Record& record, Block data);
// Whether the send waits for its receiver.
bool is_rendezvous(const Record& record);
// Whether the rank may go on with what completes by data flow alone.
bool may_run_ahead();
// A blocking receive, or send and receive: posts it and waits for its message. Its
// source is -1 if it gets none.
Result receive(Record& record);

}  // namespace foretrace::mpi
