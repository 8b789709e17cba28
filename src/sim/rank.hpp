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

struct alignas(64) Rank {
  WorldRank id;
  bool prepared = false;  // `operation` and `enter` are those of the next operation
  bool blocked = false;
  bool send_open = false;  // blocking calls: the half that is not done yet
  bool recv_open = false;
  bool received = false;  // blocking calls: a message has come
  bool awaits = false;    // blocking calls: its receive is not known to the matcher
  machine::RecvKind awaited_kind = machine::RecvKind::blocking;
  bool any = false;               // blocked until any of its operation's requests ends
  bool probing = false;           // blocked until a message arrives
  std::uint32_t waiting_for = 0;  // halves of messages, requests or a collective
  std::uint32_t sends = 0;        // messages sent so far, modulo 2^32
  Operation operation;
  Time clock;                    // when the previous operation left
  Time enter;                    // of the current operation
  Time leave;                    // of the current operation, as far as known
  Time latest;                   // collective: the latest start that it waits for
  Time send_delay;               // blocking send: what its receiver's lateness costs
  Time arrival;                  // blocking receive: its message's
  trace::Endpoint message;       // blocking receive, probe: what came
  std::uint64_t unreceived = 0;  // eager messages that it sent and nobody took yet
  std::uint64_t allowance = 0;   // how far `unreceived` may grow before others go first
  RequestTable requests;
  std::unique_ptr<Expansion> expansion;
  std::vector<OpenReceive> open;       // in the order of posting
  std::unique_ptr<Arrivals> arrivals;  // of a rank that had open receives or probes
  Time next_look = Time::max();        // when it looks for messages for them
  RankResult result;
};

}  // namespace foretrace::sim
