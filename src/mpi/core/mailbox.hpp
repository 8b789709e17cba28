// Which message a receive gets. Messages come straight from their senders (inbox.hpp);
// there are two ways to know which of them is whose:
//
// - Named receives name source and tag. The n-th of them on a communicator gets the
//   n-th message, as long as no other kind could take it: so it is known here, before
//   the simulator has come to it, and the rank may run ahead of virtual time.
// - Asked receives are wildcards, receives of what a probe has taken, and all that are
//   posted while such a one is not complete: the simulator says which message they got,
//   by its sender and number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/core/block.hpp"
#include "mpi/core/simulator.hpp"
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
  Envelope message;  // of a named receive: communicator, source and tag that it waits for

  bool is_known() const { return state == State::named || state == State::bound; }
};

// As its sender has told.
inline KnownTransfer transfer_of(const Incoming& receive) {
  const Envelope& message = receive.message;
  const bool known = receive.state == Incoming::State::bound && message.sure;
  return {false, known ? message.sent : kNoClock, message.bytes};
}

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
  // Gives named receives what has come meanwhile.
  void look();
  // A named receive is withdrawn, if no message is there in virtual time: only the
  // simulator can say who gets what from now on.
  void ask_for_all();
  // A probe has taken a message, or that message has been received.
  void probe_took() { ++asked_; }
  void probed_is_received() { --asked_; }
  // A receive's place in memory changes; it goes.
  void move(Incoming& from, Incoming& to);
  void forget(Incoming& receive);

 private:
  void collect();
  void bind(Incoming& receive, const Envelope& message);
  void leave(Incoming& receive);
  Envelope take(std::int32_t source, std::uint64_t number);

  std::vector<Incoming*> named_;      // in the order in which they were posted
  std::vector<Envelope> unexpected_;  // that no named receive gets, in the order of arrival
  std::vector<Envelope> arrived_;     // by collect()
  int asked_ = 0;                     // on their way
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
