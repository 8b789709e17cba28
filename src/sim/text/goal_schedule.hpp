// GoalAssembler: from the statements of a body to the order in which a rank
// does them.
//
// Takes a body as it was written, operations and who requires whom, and adds it
// to the program. It looks for an order that holds whatever the network does:
// operations are done in the order in which they become ready (of those that
// become ready together, in the order of the text), and where none is ready the
// rank waits for the requests without which nothing else can go on. If at every
// wait all operations that are not yet begun depend on each of these requests,
// no order of arrival can change anything, and the body becomes linear. If not,
// it keeps its graph, and the program races. Parses nothing, knows no times.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/text/goal_program.hpp"

namespace foretrace::sim {

// A body in the order of the text.
struct GoalDraft {
  struct Requirement {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    bool at_start = false;  // `after` waits for the start of `before` only

    auto operator<=>(const Requirement&) const = default;
  };

  std::vector<GoalInstruction> instructions;
  std::vector<Requirement> requirements;
  std::uint32_t line = 0;
  bool uses_index = false;

  void clear() {
    instructions.clear();
    requirements.clear();
    uses_index = false;
  }
};

class GoalAssembler {
 public:
  explicit GoalAssembler(GoalProgram& program) : program_(program) {}

  // Adds the body and returns its number; `draft` is used up. Bodies inside it
  // have been added before. Throws Error where operations require each other in
  // a circle.
  std::uint32_t add(GoalDraft& draft);

  // The bodies from `first` on are those of one rank block, the outermost last:
  // numbers their requests so that all that are open at once differ.
  void close(std::uint32_t first);

 private:
  // Follows the requirements of a draft.
  struct Edges {
    std::vector<std::uint32_t> begin;
    std::vector<GoalGraph::Edge> edges;
    std::vector<std::uint32_t> back_begin;  // to the requests that must have ended
    std::vector<std::uint32_t> back;
    std::vector<std::uint32_t> required;
  };

  void build_edges(GoalDraft& draft);
  void check_circles(const GoalDraft& draft);
  [[noreturn]] void report_circle(const GoalDraft& draft, const std::vector<std::uint32_t>& left);
  // False if the body is not linear; then nothing has been added.
  bool linearize(const GoalDraft& draft);
  void begin_instruction(const GoalDraft& draft, std::uint32_t index);
  void batch_ready(std::uint32_t index);
  void end_batch();
  bool choose_wait();
  void emit(const GoalInstruction& instruction);
  void emit_wait();
  void add_graph(GoalDraft& draft, GoalBody& body);
  std::uint32_t intern(const GoalBody& body, const GoalInstruction& wait);

  GoalProgram& program_;
  std::unordered_map<std::string, std::uint32_t> known_sets_;

  // Working memory of linearize(), kept between bodies.
  Edges graph_;
  std::vector<std::uint32_t> unbegun_;  // by instruction: required ones that have not begun
  std::vector<std::uint32_t> pending_;  // required requests that have begun and not ended
  std::vector<std::uint32_t> place_;    // position in the linear order; kGoalNone: not begun
  std::vector<bool> ended_;             // requests that were waited for
  std::vector<std::uint32_t> hits_;     // how many of the awaited requests it requires
  std::vector<std::uint32_t> ready_;    // in order; from next_ready_ on not begun yet
  std::size_t next_ready_ = 0;
  std::size_t batch_ = 0;                  // where those that became ready together begin
  std::vector<std::uint32_t> candidates_;  // all that they still require are open requests
  std::vector<std::uint32_t> awaited_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::uint32_t first_ = 0;  // of the body's instructions
};

}  // namespace foretrace::sim
