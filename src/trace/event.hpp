// Event: one record of a rank's history, and what it refers to.
//
// A trace holds, per rank, the events in program order. An event is a call
// (or a mark of the program's own); the computation before it belongs to it.
// Predicted and recorded traces hold the same events: a recorded one has the
// CPU times and the messages, a predicted one virtual times as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/clocks.hpp"
#include "trace/counts.hpp"

namespace foretrace::trace {

// What an event means to the simulator and to analyses. The function's name
// (MPI_Send, MPI_Issend, ...) is stored beside it.
enum class EventKind : std::uint8_t {
  init = 1,     // MPI_Init, MPI_Init_thread: a rank's first event
  finalize,     // MPI_Finalize: its enter time is the rank's time
  send,         // blocking send
  recv,         // blocking receive
  sendrecv,     // a send and a receive at once
  isend,        // posts a send
  irecv,        // posts a receive
  complete,     // Wait*, Test* that completed something: `completions`
  collective,   // on all ranks of `comm`
  call,         // any other MPI call: a state in the time line, no partner
  phase_begin,  // named phase of the program
  phase_end,
  aborted,      // MPI_Abort or a fatal signal: the rank's last event
  icollective,  // posts a collective on all ranks of `comm`
  mark,         // an event of the program's own: `name`, `value`
  probe,        // found a message: `recv`; `request`, if it took it out of matching (MPI_Mprobe)
};

// Whether every event of this kind refers to a communicator (Event::comm).
constexpr bool uses_comm(EventKind kind) {
  return kind == EventKind::icollective || kind == EventKind::probe ||
         (kind >= EventKind::send && kind <= EventKind::collective && kind != EventKind::complete);
}

// Which receive or send a completing call finished.
struct Completion {
  std::uint64_t request = 0;  // Event::request of the isend, irecv or icollective
  // For a receive: who sent it, under which tag, how much. Else: invalid, 0, 0.
  WorldRank source;
  std::int32_t tag = 0;
  Bytes bytes;
  bool cancelled = false;

  bool operator==(const Completion&) const = default;
};

// One of the two directions of a message; sendrecv uses both.
struct Endpoint {
  WorldRank peer;  // invalid: MPI_PROC_NULL, no message
  std::int32_t tag = 0;
  Bytes bytes;              // send: the message; irecv: the buffer; recv: what came
  bool any_source = false;  // receives: the program gave a wildcard
  bool any_tag = false;
  // Sends, of a collective too: nobody has written the data since it was sent last.
  bool untouched = false;
  // Messages, where the data does not lie together in memory: the bytes of a piece, in the middle;
  // 0: it lies together. One longer than the type holds counts as several.
  std::uint16_t piece = 0;

  bool operator==(const Endpoint&) const = default;
};

// Index into a trace's tables (Trace::names, Trace::comms).
using NameId = std::uint32_t;
using CommId = std::uint32_t;
// Index into Trace::sites, plus one; 0: not known.
using SiteId = std::uint32_t;

// A place in the program that calls: the instruction after the call.
struct Site {
  std::string object;        // path of the executable or shared library
  std::uint64_t offset = 0;  // from where it is loaded, bytes

  bool operator==(const Site&) const = default;
};

// What a rank called, and what it computed before it: an event without its times, and an
// operation (sim/operation.hpp) without what only the engine asks for.
struct Call {
  NameId name = 0;          // function, or the program's own name for phase_*, mark
  SiteId site = 0;          // where the call stands in the program
  CommId comm = 0;          // messages and collectives; call: if it moves something or is one-sided
  std::uint32_t count = 1;  // call: so many in a row (polling loops); 0: more of the last one

  Time compute;      // CPU time since the previous event; with count, before and between the calls
  double steps = 0;  // compute steps annotated since the previous event

  // send, isend, sendrecv; call: the peer that it moves `bytes` to or from, the target of what
  // is one-sided (invalid: all of them); collective, icollective: `untouched` alone
  Endpoint send;
  Endpoint recv;  // recv, irecv, sendrecv, probe

  // collective, icollective: d of its equation; call: what it moves (one-sided, file I/O)
  // or combines
  Bytes bytes;
  // isend, irecv, icollective, probe that takes, call (access with a request): its serial, from 1
  std::uint64_t request = 0;
  std::uint64_t taken = 0;  // recv, irecv: the probe that took its message; 0: none
  LocalRank root;           // collectives, in `comm`; invalid where there is none

  EventKind kind = EventKind::call;
  machine::SendMode mode = machine::SendMode::standard;
  machine::Cost collective = machine::Cost::kCount;       // collective, icollective
  machine::OneSided one_sided = machine::OneSided::none;  // call
  // collective: what it combines, none where that is sum_double; call: that it combines `bytes`
  machine::Reduction reduction = machine::Reduction::none;

  bool operator==(const Call&) const = default;
};

// Before the call the rank waited for another of its threads. That one has computed since the rank
// was at the event that stands `back` events before this one: the call begins no earlier than
// `after` that was left, or entered. Of the event's computation `held` is the wait, as it was where
// it was recorded.
struct Join {
  std::uint64_t back = 0;  // 0: it waited for none
  bool entered = false;
  Time after;
  Time held;
  bool knows_steps = false;  // the same in annotated steps
  double after_steps = 0;
  double held_steps = 0;
  std::uint64_t mark = 0;  // for whoever makes events; is not written

  bool operator==(const Join&) const = default;
};

struct Event : Call {
  // This trace's clock, 0 when MPI_Init returned. With count, enter is leave minus the calls'
  // own time.
  Time enter;
  Time leave;  // >= enter
  Time wait;   // the part of leave - enter spent waiting for others

  std::vector<Completion> completions;  // complete

  std::int32_t code = 0;  // aborted: signal (> 0) or -(MPI_Abort's code) - 1
  CountsId counts = 0;    // collective
  double value = 0;       // mark: what the program said of it
  Join join;
  Join second;  // it waited for this as well; without `held`

  bool operator==(const Event&) const = default;
};

// Whether the call combines two operands of its own rank (MPI_Reduce_local).
inline bool combines(const Call& call) {
  return call.kind == EventKind::call && call.reduction != machine::Reduction::none;
}
// Whether the call tells what it moves.
inline bool moves_data(const Event& event) {
  return event.kind == EventKind::call && !combines(event) &&
         (event.bytes.count > 0 || event.send.peer.valid());
}
inline bool is_one_sided(const Event& event) {
  return event.kind == EventKind::call && event.one_sided != machine::OneSided::none;
}
// Whether the event refers to a communicator (Event::comm).
inline bool uses_comm(const Event& event) {
  return uses_comm(event.kind) || moves_data(event) || is_one_sided(event);
}

// Whether data that the call sends or receives does not lie together.
inline bool has_pieces(const Call& call) {
  return call.send.piece != 0 || call.recv.piece != 0;
}

// A probe that left its message where it was (MPI_Probe).
inline bool leaves_message(const Call& call) {
  return call.kind == EventKind::probe && call.request == 0;
}

// A communicator's members by world rank, in local rank order.
struct Communicator {
  // Agreed by all members: (world rank that chose it) << 32 | its count.
  // MPI_COMM_WORLD is 0.
  std::uint64_t key = 0;
  std::vector<WorldRank> members;
};

enum class Clock : std::uint8_t {
  cpu = 1,       // recorded; enter and leave hold accumulated CPU time
  wall = 2,      // recorded; enter and leave hold wall-clock time
  virtual_ = 3,  // predicted or simulated
};

// What a trace says of itself.
struct TraceInfo {
  int ranks = 0;
  Clock clock = Clock::cpu;
  std::string program;  // the command line
  std::string origin;   // "record", "predict", "simulate"
  std::string machine;  // virtual clock: the model's name
  std::string options;  // virtual clock: how it was computed ("bound=avg compute=none")
  std::string mpi;      // the MPI library that the program ran under
  Clocks clocks;        // clock wall: those of the hosts
  // By world rank the number of its node, from 0 on in the order of the ranks; empty: not known.
  std::vector<std::int32_t> nodes = {};
  // What whoever predicted the times said of them, as what takes no time: a line each.
  std::vector<std::string> notes = {};
};

}  // namespace foretrace::trace
