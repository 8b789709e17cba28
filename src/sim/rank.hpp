// Rank: one rank's state between its operations and in the one that it is in.
//
// Plain data for the engine, which alone changes it. Kept small: there may be a
// million of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "sim/arrivals.hpp"
#include "sim/collectives/algorithm.hpp"
#include "sim/engine.hpp"
#include "sim/matcher.hpp"
#include "sim/operation.hpp"
#include "sim/request_table.hpp"

namespace foretrace::sim {

// A collective that is being carried out message by message; the rank's
// operation is the step at hand meanwhile.
struct Expansion {
  bool active = false;
  CollectiveCall call;
  StepFunction step = nullptr;
  std::uint32_t next = 0;  // number of the next step
  Time compute;            // before the collective
  Time enter;
  Time wait;                               // of the steps so far
  Time reduction;                          // to be computed before the next step
  std::uint64_t posted = 0;                // requests of its own
  std::vector<trace::Completion> open;     // posted, not completed
  std::vector<trace::Completion> awaited;  // by the step at hand
  Operation collective;                    // as the source gave it
};

// A receive that takes the first message to arrive, or was posted after one
// that does.
struct OpenReceive {
  trace::CommId comm = 0;
  trace::Endpoint pattern;  // peer not valid: any source; tag kAnyTag: any
  machine::RecvKind kind = machine::RecvKind::blocking;
  std::uint64_t request = 0;
  Time entered;

  bool asks_same(const OpenReceive& other) const {
    return comm == other.comm && pattern.peer == other.pattern.peer &&
           pattern.tag == other.pattern.tag;
  }
};

// A message that a probe has taken and that is not received yet.
struct HeldMessage {
  std::uint64_t number = 0;
  Route route;
  PendingSend send;
};

// What only ranks have that had open receives or probes.
struct Racing {
  std::vector<OpenReceive> open;  // in the order of posting
  Arrivals arrivals;
  Time next_look = Time::max();   // when the rank looks for messages for them
  std::vector<HeldMessage> held;  // taken by probes
  Time told;                      // when the last silent message came

  std::size_t memory() const {
    return sizeof(Racing) + open.capacity() * sizeof(OpenReceive) + arrivals.memory() +
           held.capacity() * sizeof(HeldMessage);
  }
};

struct alignas(64) Rank {
  WorldRank id;
  bool absent = false;    // not started (Source::starts)
  bool prepared = false;  // `operation` and `enter` are those of the next operation
  bool parked = false;    // its next operation was not there when it was asked for
  bool blocked = false;
  bool send_open = false;  // blocking calls: the half that is not done yet
  bool recv_open = false;
  bool received = false;       // blocking calls, probes: a message has come
  bool detached : 1 = false;   // its call has gone on without what it waits for
  bool cancelled : 1 = false;  // cancelling call: the receive was withdrawn
  bool awaits = false;         // blocking calls: its receive is not known to the matcher
  machine::RecvKind awaited_kind = machine::RecvKind::blocking;
  bool any = false;               // blocked until any of its operation's requests ends
  bool probing = false;           // blocked until a message arrives
  std::uint32_t waiting_for = 0;  // halves of messages, requests or a collective
  std::uint32_t sends = 0;        // messages sent so far, modulo 2^32
  Operation operation;
  Time clock;                    // when the previous operation left
  Time enter;                    // of the current operation, after Engine::packing()
  Time leave;                    // of the current operation, as far as known
  Time latest;                   // collective: the latest start that it waits for
  Time send_delay;               // blocking send: what its receiver's lateness costs
  Time arrival;                  // blocking receive: its message's; lock: if nobody had held it
  trace::Endpoint message;       // blocking receive, probe: what came
  std::uint64_t payload = 0;     // of the message of a blocking receive
  std::uint64_t unreceived = 0;  // eager messages that it sent and nobody took yet
  std::uint64_t allowance = 0;   // how far `unreceived` may grow before others go first
  RequestTable requests;
  std::unique_ptr<Expansion> expansion;
  std::unique_ptr<Racing> racing;

  bool has_open_receives() const { return racing && !racing->open.empty(); }
  RankResult result;
};
static_assert(sizeof(Rank) <= 384);

}  // namespace foretrace::sim
