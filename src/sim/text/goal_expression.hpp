// Integer expressions of text programs: `(me+1)%size`.
//
// Kept in postfix form in one pool for a whole program and evaluated when a
// rank gets there, so that one block of text serves all its ranks. The rules
// are those of C on 64-bit integers, but for a modulo that is never negative.
// Parsing them is GoalParser's affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrace::sim {

enum class GoalOperator : std::uint8_t {
  end,
  number,
  me,     // the rank
  size,   // num_ranks
  index,  // of a loop or a family of groups; `value` is its depth, 0 outermost
  negate,
  invert,
  multiply,
  divide,
  modulo,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  bit_and,
  bit_xor,
  bit_or,
  both,    // &&; both sides are evaluated
  either,  // ||
};

struct GoalStep {
  std::int64_t value = 0;
  GoalOperator op = GoalOperator::end;
};

struct GoalVariables {
  std::int64_t me = 0;
  std::int64_t size = 0;
  std::span<const std::int64_t> index;  // by depth
};

// Values waiting for an operator, at most; the parser refuses deeper ones.
inline constexpr std::size_t kGoalExpressionDepth = 24;

enum class GoalFault : std::uint8_t { none, overflow, division_by_zero, shift };

struct GoalValue {
  std::int64_t value = 0;
  GoalFault fault = GoalFault::none;
};

// What the expression whose steps begin at `step` and end with
// GoalOperator::end comes to.
GoalValue evaluate_goal(const GoalStep* step, const GoalVariables& variables);

// "an overflow", "a division by zero", ...: for messages.
const char* describe_goal_fault(GoalFault fault);

}  // namespace foretrace::sim
