// PostedCollective: a rank's part in a non-blocking collective that is carried out message by
// message while the rank goes on.
//
// Plain data for the engine, which alone changes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/reduction.hpp"
#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim {

struct PostedCollective {
  // One end of a message that is not waited for yet.
  struct Part {
    WorldRank peer;
    bool is_send = false;
    bool done = false;
    Time end;     // if done
    Bytes bytes;  // the same
  };

  WorldRank rank;             // invalid: over
  std::uint64_t request = 0;  // of the rank
  trace::CommId comm = 0;
  std::shared_ptr<const std::vector<WorldRank>> members;
  std::int32_t tag = 0;      // what tells its messages from those of other posted collectives
  std::uint32_t number = 0;  // in the order of posting, modulo 2^32
  CollectiveCall call;
  std::vector<Bytes> counts;  // of the call
  StepFunction step = nullptr;
  machine::Reduction combines = machine::Reduction::none;
  Time clock;

  // A step posts its receive, then its send, then may wait for what is open.
  enum class Stage : std::uint8_t { receive, send, wait };
  Stage stage = Stage::receive;  // what comes next, at `clock`
  std::uint32_t next = 0;        // number of the step after the one at hand
  Step at_hand;
  std::vector<Part> open;
  std::size_t waits_from = 0;  // the step's wait is for open[waits_from] and what follows
  std::uint32_t left = 0;      // of these, not done; 0: it does not wait
  // A step has waited: what comes after is no more part of the call that posted it.
  bool has_waited = false;
  // For Dependences: the latest start that MPI lets it wait for, once that is known; what its
  // messages would have taken so far, each empty and alone.
  std::optional<Time> latest;
  Time empty;
  // What it waited for others, and since when; for a call that stands for a blocking one.
  Time waited;
  Time since;
  bool blocks = false;
};

}  // namespace foretrace::sim
