// GoalProgram: a text program after parsing, ready to be walked by GoalSource.
//
// Plain arrays, filled by the parser and shared by all ranks. A body is a piece
// of a rank's program: a whole rank block, or what stands between the braces of
// a repeat or a phase. A body whose waits can be told beforehand is *linear*:
// its instructions lie in the order in which they are done, with the waits
// among them. In any other one they lie in the order of the text, with their
// requirements beside them (goal_schedule.hpp decides which).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "machine/timing.hpp"
#include "sim/text/goal_expression.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

enum class GoalKind : std::uint8_t {
  calc,
  send,
  recv,
  collective,
  repeat,  // a body, some number of times
  phase,   // a body with a name
  join,    // nothing; what comes after it waits for what comes before
  wait,    // linear bodies only
};

struct GoalInstruction {
  // What is an expression (an index into GoalProgram::steps), not a number.
  enum Flag : std::uint8_t {
    amount_varies = 1,
    peer_varies = 2,
    tag_varies = 4,
    any_source = 8,
    any_tag = 16,
    conditional = 32,
  };

  GoalKind kind = GoalKind::calc;
  std::uint8_t flags = 0;
  machine::Cost cost = machine::Cost::kCount;  // collective
  std::uint32_t line = 0;
  // calc: picoseconds; send, recv, collective: bytes; repeat: how often; phase:
  // its name; wait: how many requests.
  std::int64_t amount = 0;
  // send, recv: the rank; collective: the communicator, or, if it varies, the
  // number of the group in its family; wait: its set of requests in
  // GoalProgram::sets, -1 if that depends on conditions.
  std::int32_t peer = 0;
  std::int32_t tag = 0;         // send, recv; collective: the root, -1 without one
  std::uint32_t condition = 0;  // an expression, if conditional
  // send, recv: its place among the body's requests (its own number in a body
  // that is not linear); repeat, phase: the body; wait: where its requests
  // begin in GoalProgram::waits; collective that varies: its family.
  std::uint32_t detail = 0;

  bool has(Flag flag) const { return (flags & flag) != 0; }
  bool is_request() const { return kind == GoalKind::send || kind == GoalKind::recv; }
};

// Programs of a million ranks hold millions of them.
static_assert(sizeof(GoalInstruction) == 32);

inline constexpr std::uint32_t kGoalNone = UINT32_MAX;
// A calc takes up to 4000000 s.
inline constexpr std::int64_t kMostGoalTime = 4000000000000000000;  // ps

struct GoalBody {
  std::uint32_t first = 0;  // instructions
  std::uint32_t count = 0;
  std::uint32_t slots = 0;      // requests that may be open at once
  std::uint32_t slot_base = 0;  // requests of the bodies around it
  std::uint32_t parent = kGoalNone;
  // Not linear: index into GoalProgram::graphs.
  std::uint32_t graph = kGoalNone;
  std::uint32_t line = 0;   // where it begins
  bool uses_index = false;  // its loop has a variable
};

// What follows what in a body that is not linear; by instruction, counted from
// the body's first.
struct GoalGraph {
  struct Edge {
    std::uint32_t to = 0;
    bool at_start = false;  // `to` waits for the start only
  };
  std::vector<std::uint32_t> begin;  // of the edges that leave the instruction; one more at the end
  std::vector<Edge> edges;
  std::vector<std::uint32_t> required;  // how many lead to it
};

// group NAME[i = FROM..TO]: communicators that follow each other.
struct GoalFamily {
  std::uint32_t comm = 0;  // of the first
  std::int64_t from = 0;
  std::int64_t count = 0;
};

struct GoalProgram {
  struct Range {
    std::uint32_t first = 0;  // completions
    std::uint32_t count = 0;
  };

  std::string file;
  int ranks = 0;
  std::vector<GoalInstruction> instructions;
  std::vector<GoalBody> bodies;
  std::vector<std::uint32_t> body_of_rank;  // kGoalNone: the rank does nothing
  std::vector<GoalGraph> graphs;
  std::vector<GoalStep> steps;  // expressions
  // Whose requests a wait completes: instructions, counted from the body's first.
  std::vector<std::uint32_t> waits;
  std::vector<trace::Completion> completions;
  std::vector<Range> sets;                 // completions of waits without conditions
  std::vector<trace::Communicator> comms;  // from 1 on; 0, the world, is not held here
  std::vector<GoalFamily> families;
  std::vector<std::string> phases;
  // Messages or waits whose outcome depends on virtual time.
  bool races = false;
  // What was read but has no effect: "x.goal:7: cpu 1: ...".
  std::vector<std::string> notes;
};

}  // namespace foretrace::sim
