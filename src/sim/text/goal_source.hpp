// GoalSource: a text program as a source of operations.
//
// The last step after goal_parser.hpp and goal_schedule.hpp: walks the
// program's bodies for each rank. A rank begins with MPI_Init and ends with
// MPI_Finalize; a send is an MPI_Isend, a receive an MPI_Irecv, and what waits
// for them MPI_Wait, MPI_Waitall or, where the order of arrival matters,
// MPI_Waitsome. Computation goes into the next operation's. Knows no times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/source.hpp"
#include "sim/text/goal_program.hpp"

namespace foretrace::sim {

class GoalSource : public Source {
 public:
  explicit GoalSource(GoalProgram program);
  ~GoalSource() override;

  // Starts all ranks again.
  void rewind();
  const GoalProgram& program() const { return program_; }
  // Held for the program and the ranks' places in it.
  std::size_t memory() const;

  int ranks() const override { return program_.ranks; }
  // Throws Error "file:line: rank R: ..." for an expression that comes to
  // something impossible.
  bool next(WorldRank rank, Operation& operation) override;
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override;
  bool reactive() const override { return program_.races; }
  bool races() const override { return program_.races; }
  bool posts_collectives() const override { return false; }
  std::string_view name(trace::NameId id) const override;
  const trace::Communicator& comm(trace::CommId id) const override;
  std::string place(WorldRank rank) const override;

 private:
  // A body that is not linear: what of it has begun.
  struct Walk {
    std::vector<std::uint32_t> required;  // by instruction: not yet done
    std::vector<std::uint32_t> ready;     // in order; from `next` on not begun
    std::size_t next = 0;
    std::vector<std::uint32_t> open;  // requests, in the order of posting
    std::uint32_t begun = 0;
    std::uint32_t current = kGoalNone;  // ends when the source is asked again
  };
  struct Frame {
    std::uint32_t body = 0;
    std::uint32_t at = 0;             // linear: the next instruction
    std::uint32_t owner = kGoalNone;  // the repeat or phase, in the frame below
    std::uint64_t left = 1;           // rounds, the current one included
    std::uint64_t handed_out = 0;     // operations of the rank when the round began
    Time compute;                     // waiting to be handed out when it began
    std::unique_ptr<Walk> walk;
  };
  // What only ranks inside a repeat, a phase or a graph need.
  struct Nested {
    std::vector<Frame> frames;
    std::vector<std::int64_t> index;  // by frame
    std::uint64_t handed_out = 0;
    std::vector<trace::Completion> completions;
  };
  enum class Stage : std::uint8_t { begin, linear, nested, end, over };
  struct Rank {
    Time compute;
    std::unique_ptr<Nested> nested;
    std::uint32_t body = 0;
    std::uint32_t at = 0;
    std::uint32_t line = 0;  // of the instruction that was performed last
    Stage stage = Stage::begin;
  };
  // A rank with the operation that is to be filled in.
  struct Turn;

  bool next_linear(Turn& turn);
  bool next_nested(Turn& turn);
  bool next_in_frame(Turn& turn, Frame& frame);
  bool next_in_walk(Turn& turn, Frame& frame);
  bool wait_in_walk(Turn& turn, Frame& frame);
  bool end_round(Turn& turn);
  bool enter(Turn& turn, const GoalInstruction& instruction, std::uint32_t number);
  void push_frame(Turn& turn, std::uint32_t body, std::uint32_t owner, std::uint64_t rounds);
  void start_walk(Frame& frame) const;
  void begin_in_walk(Frame& frame, std::uint32_t number) const;
  void end_in_walk(Frame& frame, std::uint32_t number) const;
  void release(Walk& walk, const GoalGraph& graph, std::uint32_t number, bool at_start) const;
  // True if an operation came out of it.
  bool perform(Turn& turn, const GoalInstruction& instruction, std::uint32_t slot_base);
  void fill_message(Turn& turn, const GoalInstruction& instruction, std::uint32_t slot_base);
  void fill_collective(Turn& turn, const GoalInstruction& instruction);
  void fill_wait(Turn& turn, std::span<const trace::Completion> completions, Completing completing);
  bool wait_conditional(Turn& turn, const GoalBody& body, const GoalInstruction& wait);

  bool holds(const Turn& turn, const GoalInstruction& instruction) const;
  std::int64_t evaluate(const Turn& turn, const GoalInstruction& instruction,
                        std::int64_t step) const;
  // The instruction's amount if that is from 0 to `most`.
  std::int64_t amount(const Turn& turn, const GoalInstruction& instruction, std::int64_t most,
                      const char* what) const;
  std::int64_t in_range(const Turn& turn, const GoalInstruction& instruction, std::int64_t value,
                        std::int64_t most, const char* what) const;
  [[noreturn]] void fail(const Turn& turn, const GoalInstruction& instruction,
                         const std::string& what) const;

  GoalProgram program_;
  std::vector<Rank> ranks_;
  std::vector<std::string> names_;
  mutable trace::Communicator world_;  // filled when it is first asked for
};

}  // namespace foretrace::sim
