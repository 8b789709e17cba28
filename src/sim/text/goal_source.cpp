#include "sim/text/goal_source.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.hpp"
#include "sim/new_operation.hpp"

namespace foretrace::sim {

using machine::Cost;
using trace::EventKind;
using Flag = GoalInstruction::Flag;

namespace {

// names_ by number; then the collectives, then the phases.
enum Name : trace::NameId {
  kInit,
  kFinalize,
  kIsend,
  kIrecv,
  kWait,
  kWaitall,
  kWaitsome,
  kFirstCollective
};
constexpr const char* kGoalNames[] = {"MPI_Init", "MPI_Finalize", "MPI_Isend",   "MPI_Irecv",
                                      "MPI_Wait", "MPI_Waitall",  "MPI_Waitsome"};
constexpr auto kBarrier = static_cast<trace::NameId>(Cost::barrier);
constexpr trace::NameId kCollectives = static_cast<trace::NameId>(Cost::comm_create) - kBarrier;
constexpr trace::NameId kFirstPhase = kFirstCollective + kCollectives;

// Rounds of loops that do nothing, in a row.
constexpr std::uint64_t kMostIdleRounds = 20000000;

}  // namespace

struct GoalSource::Turn {
  std::int64_t me = 0;
  Rank& rank;
  Operation& operation;
  std::uint64_t idle = 0;

  void fill(EventKind kind, trace::NameId name) {
    operation = kNewOperation;
    operation.kind = kind;
    operation.name = name;
    operation.compute = std::exchange(rank.compute, Time());
    if (rank.nested) ++rank.nested->handed_out;
  }
};

GoalSource::GoalSource(GoalProgram program) : program_(std::move(program)) {
  for (const char* name : kGoalNames) names_.emplace_back(name);
  for (trace::NameId c = 0; c < kCollectives; ++c) {
    std::string name(machine::name_of(static_cast<Cost>(kBarrier + c)));
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    names_.push_back("MPI_" + name);
  }
  rewind();
}

GoalSource::~GoalSource() = default;

void GoalSource::rewind() {
  ranks_.clear();
  ranks_.resize(static_cast<std::size_t>(program_.ranks));
  for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[r].body = program_.body_of_rank[r];
}

std::size_t GoalSource::memory() const {
  std::size_t bytes = program_.instructions.size() * sizeof(GoalInstruction) +
                      program_.bodies.capacity() * sizeof(GoalBody) +
                      program_.body_of_rank.capacity() * sizeof(std::uint32_t) +
                      program_.steps.capacity() * sizeof(GoalStep) +
                      program_.waits.capacity() * sizeof(std::uint32_t) +
                      program_.completions.capacity() * sizeof(trace::Completion) +
                      ranks_.capacity() * sizeof(Rank) +
                      world_.members.capacity() * sizeof(WorldRank);
  for (const trace::Communicator& comm : program_.comms)
    bytes += sizeof comm + comm.members.capacity() * sizeof(WorldRank);
  for (const GoalGraph& graph : program_.graphs)
    bytes += graph.edges.capacity() * sizeof(GoalGraph::Edge) +
             (graph.begin.capacity() + graph.required.capacity()) * sizeof(std::uint32_t);
  for (const Rank& rank : ranks_)
    if (rank.nested) bytes += sizeof(Nested) + rank.nested->frames.capacity() * sizeof(Frame);
  return bytes;
}

std::string_view GoalSource::name(trace::NameId id) const {
  if (id < names_.size()) return names_[id];
  return program_.phases.at(id - kFirstPhase);
}

const trace::Communicator& GoalSource::comm(trace::CommId id) const {
  if (id > 0) return program_.comms.at(id - 1);
  if (world_.members.empty()) {
    world_.members.reserve(ranks_.size());
    for (int r = 0; r < program_.ranks; ++r) world_.members.emplace_back(r);
  }
  return world_;
}

std::string GoalSource::place(WorldRank rank) const {
  const std::uint32_t line = ranks_[static_cast<std::size_t>(rank.value)].line;
  if (line == 0) return {};
  return program_.file.substr(program_.file.find_last_of('/') + 1) + ":" + std::to_string(line);
}

void GoalSource::fail(const Turn& turn, const GoalInstruction& instruction,
                      const std::string& what) const {
  throw Error(program_.file + ":" + std::to_string(instruction.line) + ": rank " +
              std::to_string(turn.me) + ": " + what);
}

std::int64_t GoalSource::evaluate(const Turn& turn, const GoalInstruction& instruction,
                                  std::int64_t step) const {
  GoalVariables variables{turn.me, program_.ranks, {}};
  if (turn.rank.nested) variables.index = turn.rank.nested->index;
  const GoalValue result =
      evaluate_goal(&program_.steps[static_cast<std::size_t>(step)], variables);
  if (result.fault != GoalFault::none)
    fail(turn, instruction,
         std::string("expected a number, found ") + describe_goal_fault(result.fault));
  return result.value;
}

bool GoalSource::holds(const Turn& turn, const GoalInstruction& instruction) const {
  return !instruction.has(Flag::conditional) ||
         evaluate(turn, instruction, instruction.condition) != 0;
}

std::int64_t GoalSource::in_range(const Turn& turn, const GoalInstruction& instruction,
                                  std::int64_t value, std::int64_t most, const char* what) const {
  if (value < 0 || value > most)
    fail(turn, instruction,
         std::string("expected ") + what + " from 0 to " + std::to_string(most) + ", found " +
             std::to_string(value));
  return value;
}

std::int64_t GoalSource::amount(const Turn& turn, const GoalInstruction& instruction,
                                std::int64_t most, const char* what) const {
  if (!instruction.has(Flag::amount_varies)) return instruction.amount;
  return in_range(turn, instruction, evaluate(turn, instruction, instruction.amount), most, what);
}

bool GoalSource::next(WorldRank rank, Operation& operation) {
  Rank& here = ranks_[static_cast<std::size_t>(rank.value)];
  Turn turn{rank.value, here, operation, 0};
  switch (here.stage) {
    case Stage::begin:
      turn.fill(EventKind::init, kInit);
      if (here.body == kGoalNone) {
        here.stage = Stage::end;
      } else if (program_.bodies[here.body].graph == kGoalNone) {
        here.stage = Stage::linear;
      } else {
        push_frame(turn, here.body, kGoalNone, 1);
      }
      return true;
    case Stage::linear:
      if (next_linear(turn)) return true;
      if (here.stage == Stage::nested) return next(rank, operation);
      break;
    case Stage::nested:
      if (next_nested(turn)) return true;
      here.nested.reset();
      break;
    case Stage::end:
      break;
    case Stage::over:
      return false;
  }
  here.line = 0;
  turn.fill(EventKind::finalize, kFinalize);
  here.stage = Stage::over;
  return true;
}

// The whole block of a rank as long as nothing in it needs a frame.
bool GoalSource::next_linear(Turn& turn) {
  Rank& rank = turn.rank;
  const GoalBody& body = program_.bodies[rank.body];
  while (rank.at < body.count) {
    const GoalInstruction& instruction = program_.instructions[body.first + rank.at];
    const bool block = instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase;
    if (block || (instruction.kind == GoalKind::wait && instruction.peer < 0)) {
      const std::uint32_t at = rank.at;
      push_frame(turn, rank.body, kGoalNone, 1);
      rank.nested->frames.back().at = at;
      return false;
    }
    ++rank.at;
    if (holds(turn, instruction) && perform(turn, instruction, body.slot_base)) return true;
  }
  return false;
}

void GoalSource::push_frame(Turn& turn, std::uint32_t body, std::uint32_t owner,
                            std::uint64_t rounds) {
  Rank& rank = turn.rank;
  if (!rank.nested) rank.nested = std::make_unique<Nested>();
  rank.stage = Stage::nested;
  Frame frame;
  frame.body = body;
  frame.owner = owner;
  frame.left = rounds;
  frame.handed_out = rank.nested->handed_out;
  frame.compute = rank.compute;
  start_walk(frame);
  rank.nested->frames.push_back(std::move(frame));
  rank.nested->index.push_back(0);
}

bool GoalSource::next_nested(Turn& turn) {
  while (!turn.rank.nested->frames.empty()) {
    Frame& frame = turn.rank.nested->frames.back();
    const bool handed_out = frame.walk ? next_in_walk(turn, frame) : next_in_frame(turn, frame);
    if (handed_out) return true;
  }
  return false;
}

// One instruction, or the end of the round. True if an operation came out.
bool GoalSource::next_in_frame(Turn& turn, Frame& frame) {
  const GoalBody& body = program_.bodies[frame.body];
  if (frame.at == body.count) return end_round(turn);
  const std::uint32_t number = frame.at++;
  const GoalInstruction& instruction = program_.instructions[body.first + number];
  if (instruction.kind == GoalKind::wait && instruction.peer < 0)
    return wait_conditional(turn, body, instruction);
  if (!holds(turn, instruction)) return false;
  if (instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase)
    return enter(turn, instruction, number);
  return perform(turn, instruction, body.slot_base);
}

bool GoalSource::enter(Turn& turn, const GoalInstruction& instruction, std::uint32_t number) {
  if (instruction.kind == GoalKind::phase) {
    turn.fill(EventKind::phase_begin, kFirstPhase + static_cast<trace::NameId>(instruction.amount));
    push_frame(turn, instruction.detail, number, 1);
    return true;
  }
  const std::int64_t rounds = amount(turn, instruction, INT64_MAX, "a number of rounds");
  if (!instruction.has(Flag::amount_varies))
    in_range(turn, instruction, rounds, INT64_MAX, "a number of rounds");
  if (rounds > 0) {
    push_frame(turn, instruction.detail, number, static_cast<std::uint64_t>(rounds));
  } else {
    Frame& frame = turn.rank.nested->frames.back();
    if (frame.walk) end_in_walk(frame, std::exchange(frame.walk->current, kGoalNone));
  }
  return false;
}

// A round in which nothing came out is like any other, unless it looks at the
// loop's variable: the computation in it is multiplied.
bool GoalSource::end_round(Turn& turn) {
  Nested& nested = *turn.rank.nested;
  Frame& frame = nested.frames.back();
  const GoalBody& body = program_.bodies[frame.body];
  if (frame.left > 1 && frame.handed_out == nested.handed_out) {
    if (!body.uses_index) {
      const std::int64_t once = (turn.rank.compute - frame.compute).count_ps();
      std::int64_t all = 0;
      if (__builtin_mul_overflow(once, static_cast<std::int64_t>(frame.left - 1), &all))
        all = INT64_MAX;
      turn.rank.compute += Time::ps(all);
      frame.left = 1;
    } else if (++turn.idle > kMostIdleRounds) {
      throw Error(program_.file + ":" + std::to_string(body.line) + ": rank " +
                  std::to_string(turn.me) + ": this repeat has no message in " +
                  std::to_string(kMostIdleRounds) + " rounds; compute its sum by hand");
    }
  }
  if (--frame.left > 0) {
    ++nested.index.back();
    frame.at = 0;
    frame.handed_out = nested.handed_out;
    frame.compute = turn.rank.compute;
    start_walk(frame);
    return false;
  }
  const std::uint32_t owner = frame.owner;
  nested.frames.pop_back();
  nested.index.pop_back();
  if (nested.frames.empty()) return false;
  Frame& below = nested.frames.back();
  if (below.walk) end_in_walk(below, std::exchange(below.walk->current, kGoalNone));
  const GoalInstruction& instruction =
      program_.instructions[program_.bodies[below.body].first + owner];
  if (instruction.kind != GoalKind::phase) return false;
  turn.fill(EventKind::phase_end, kFirstPhase + static_cast<trace::NameId>(instruction.amount));
  return true;
}

bool GoalSource::perform(Turn& turn, const GoalInstruction& instruction, std::uint32_t slot_base) {
  if (instruction.line > 0) turn.rank.line = instruction.line;
  switch (instruction.kind) {
    case GoalKind::calc:
      turn.rank.compute +=
          Time::ps(amount(turn, instruction, kMostGoalTime, "a time in picoseconds"));
      return false;
    case GoalKind::send:
    case GoalKind::recv:
      fill_message(turn, instruction, slot_base);
      return true;
    case GoalKind::collective:
      fill_collective(turn, instruction);
      return true;
    case GoalKind::wait: {
      const GoalProgram::Range& set = program_.sets[static_cast<std::size_t>(instruction.peer)];
      fill_wait(turn, std::span(program_.completions).subspan(set.first, set.count),
                Completing::all);
      return true;
    }
    default:
      return false;
  }
}

void GoalSource::fill_message(Turn& turn, const GoalInstruction& instruction,
                              std::uint32_t slot_base) {
  const bool send = instruction.kind == GoalKind::send;
  trace::Endpoint end;
  end.bytes = Bytes(static_cast<std::uint64_t>(amount(turn, instruction, INT64_MAX, "a size")));
  end.any_source = instruction.has(Flag::any_source);
  end.any_tag = instruction.has(Flag::any_tag);
  if (instruction.has(Flag::peer_varies))
    end.peer = WorldRank(static_cast<std::int32_t>(
        in_range(turn, instruction, evaluate(turn, instruction, instruction.peer),
                 program_.ranks - 1, send ? "a rank to send to" : "a rank to receive from")));
  else if (!end.any_source)
    end.peer = WorldRank(instruction.peer);
  end.tag = end.any_tag ? kAnyTag : instruction.tag;
  if (instruction.has(Flag::tag_varies))
    end.tag = static_cast<std::int32_t>(in_range(
        turn, instruction, evaluate(turn, instruction, instruction.tag), INT32_MAX, "a tag"));
  turn.fill(send ? EventKind::isend : EventKind::irecv, send ? kIsend : kIrecv);
  (send ? turn.operation.send : turn.operation.recv) = end;
  turn.operation.request = std::uint64_t{1} + slot_base + instruction.detail;
}

void GoalSource::fill_collective(Turn& turn, const GoalInstruction& instruction) {
  auto comm_id = static_cast<trace::CommId>(instruction.peer);
  if (instruction.has(Flag::peer_varies)) {
    const std::int64_t which = evaluate(turn, instruction, instruction.peer);
    const GoalFamily& family = program_.families[instruction.detail];
    if (which < family.from || which >= family.from + family.count)
      fail(turn, instruction,
           "expected a group of the family from " + std::to_string(family.from) + " to " +
               std::to_string(family.from + family.count - 1) + ", found " + std::to_string(which));
    comm_id = family.comm + static_cast<trace::CommId>(which - family.from);
  }
  std::int64_t root = instruction.tag;
  if (instruction.has(Flag::tag_varies)) root = evaluate(turn, instruction, instruction.tag);
  const auto members =
      comm_id == 0 ? program_.ranks : static_cast<std::int64_t>(comm(comm_id).members.size());
  if (instruction.tag >= 0 || instruction.has(Flag::tag_varies))
    in_range(turn, instruction, root, members - 1, "a root within the group");
  const std::int64_t bytes = amount(turn, instruction, INT64_MAX, "a size");
  const auto number = static_cast<trace::NameId>(instruction.cost) - kBarrier;
  turn.fill(EventKind::collective, kFirstCollective + number);
  turn.operation.collective = instruction.cost;
  turn.operation.comm = comm_id;
  turn.operation.root = LocalRank(static_cast<std::int32_t>(root));
  turn.operation.bytes = Bytes(static_cast<std::uint64_t>(bytes));
}

void GoalSource::fill_wait(Turn& turn, std::span<const trace::Completion> completions,
                           Completing completing) {
  turn.fill(EventKind::complete, completing == Completing::some ? kWaitsome
                                 : completions.size() == 1      ? kWait
                                                                : kWaitall);
  turn.operation.completing = completing;
  turn.operation.completions = completions;
}

// Some of the requests may never have been posted.
bool GoalSource::wait_conditional(Turn& turn, const GoalBody& body, const GoalInstruction& wait) {
  std::vector<trace::Completion>& completions = turn.rank.nested->completions;
  completions.clear();
  for (std::int64_t i = 0; i < wait.amount; ++i) {
    const std::uint32_t number = program_.waits[wait.detail + static_cast<std::size_t>(i)];
    const GoalInstruction& request = program_.instructions[body.first + number];
    if (!holds(turn, request)) continue;
    completions.emplace_back().request = std::uint64_t{1} + body.slot_base + request.detail;
  }
  if (completions.empty()) return false;
  fill_wait(turn, completions, Completing::all);
  return true;
}

void GoalSource::start_walk(Frame& frame) const {
  const GoalBody& body = program_.bodies[frame.body];
  if (body.graph == kGoalNone) return;
  const GoalGraph& graph = program_.graphs[body.graph];
  if (!frame.walk) frame.walk = std::make_unique<Walk>();
  Walk& walk = *frame.walk;
  walk.required = graph.required;
  walk.ready.clear();
  for (std::uint32_t i = 0; i < body.count; ++i)
    if (walk.required[i] == 0) walk.ready.push_back(i);
  walk.next = walk.begun = 0;
  walk.open.clear();
  walk.current = kGoalNone;
}

void GoalSource::release(Walk& walk, const GoalGraph& graph, std::uint32_t number,
                         bool at_start) const {
  for (std::uint32_t e = graph.begin[number]; e < graph.begin[number + 1]; ++e)
    if (graph.edges[e].at_start == at_start && --walk.required[graph.edges[e].to] == 0)
      walk.ready.push_back(graph.edges[e].to);
}

void GoalSource::begin_in_walk(Frame& frame, std::uint32_t number) const {
  release(*frame.walk, program_.graphs[program_.bodies[frame.body].graph], number, true);
}

void GoalSource::end_in_walk(Frame& frame, std::uint32_t number) const {
  release(*frame.walk, program_.graphs[program_.bodies[frame.body].graph], number, false);
}

bool GoalSource::next_in_walk(Turn& turn, Frame& frame) {
  Walk& walk = *frame.walk;
  const GoalBody& body = program_.bodies[frame.body];
  if (walk.current != kGoalNone) end_in_walk(frame, std::exchange(walk.current, kGoalNone));
  if (walk.next == walk.ready.size()) {
    if (walk.begun < body.count || !walk.open.empty()) return wait_in_walk(turn, frame);
    return end_round(turn);
  }
  const std::uint32_t number = walk.ready[walk.next++];
  const GoalInstruction& instruction = program_.instructions[body.first + number];
  ++walk.begun;
  begin_in_walk(frame, number);
  if (!holds(turn, instruction)) {
    end_in_walk(frame, number);
    return false;
  }
  if (instruction.is_request()) {
    walk.open.push_back(number);
  } else if (instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase) {
    walk.current = number;
    return enter(turn, instruction, number);
  } else if (instruction.kind == GoalKind::collective) {
    walk.current = number;
  } else {
    perform(turn, instruction, body.slot_base);
    end_in_walk(frame, number);
    return false;
  }
  return perform(turn, instruction, body.slot_base);
}

// Nothing is ready: whichever of the requests comes first that something
// depends on; at the end all of them.
bool GoalSource::wait_in_walk(Turn& turn, Frame& frame) {
  Walk& walk = *frame.walk;
  const GoalBody& body = program_.bodies[frame.body];
  const GoalGraph& graph = program_.graphs[body.graph];
  const bool last = walk.begun == body.count;
  const auto needed = [&](std::uint32_t request) {
    for (std::uint32_t e = graph.begin[request]; e < graph.begin[request + 1]; ++e)
      if (!graph.edges[e].at_start) return true;
    return false;
  };
  std::vector<trace::Completion>& completions = turn.rank.nested->completions;
  completions.clear();
  for (const std::uint32_t request : walk.open)
    if (last || needed(request))
      completions.emplace_back().request = std::uint64_t{1} + body.slot_base + request;
  if (last) walk.open.clear();
  fill_wait(turn, completions, last ? Completing::all : Completing::some);
  return true;
}

void GoalSource::completed(WorldRank rank, const Operation& operation, const Interval&,
                           const Outcome& outcome) {
  if (operation.kind != EventKind::complete || operation.completing != Completing::some) return;
  Frame& frame = ranks_[static_cast<std::size_t>(rank.value)].nested->frames.back();
  Walk& walk = *frame.walk;
  const std::size_t batch = walk.ready.size();
  for (const trace::Completion& completion : outcome.completions) {
    const auto number =
        static_cast<std::uint32_t>(completion.request - 1 - program_.bodies[frame.body].slot_base);
    std::erase(walk.open, number);
    end_in_walk(frame, number);
  }
  std::sort(walk.ready.begin() + static_cast<std::ptrdiff_t>(batch), walk.ready.end());
}

}  // namespace foretrace::sim
