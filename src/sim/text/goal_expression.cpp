#include "sim/text/goal_expression.hpp"

namespace foretrace::sim {
namespace {

GoalFault modulo(std::int64_t left, std::int64_t right, std::int64_t& out) {
  if (right == 0) return GoalFault::division_by_zero;
  if (right == -1) {
    out = 0;
    return GoalFault::none;
  }
  out = left % right;
  if (out < 0) out += right < 0 ? -right : right;
  return GoalFault::none;
}

GoalFault divide(std::int64_t left, std::int64_t right, std::int64_t& out) {
  if (right == 0) return GoalFault::division_by_zero;
  if (left == INT64_MIN && right == -1) return GoalFault::overflow;
  out = left / right;
  return GoalFault::none;
}

GoalFault shift(std::int64_t left, std::int64_t by, bool to_left, std::int64_t& out) {
  if (by < 0 || by > 62) return GoalFault::shift;
  if (to_left)
    return __builtin_mul_overflow(left, std::int64_t{1} << by, &out) ? GoalFault::overflow
                                                                     : GoalFault::none;
  out = left >> by;
  return GoalFault::none;
}

GoalFault apply(GoalOperator op, std::int64_t left, std::int64_t right, std::int64_t& out) {
  const auto checked = [](bool overflow) {
    return overflow ? GoalFault::overflow : GoalFault::none;
  };
  switch (op) {
    case GoalOperator::multiply:
      return checked(__builtin_mul_overflow(left, right, &out));
    case GoalOperator::add:
      return checked(__builtin_add_overflow(left, right, &out));
    case GoalOperator::subtract:
      return checked(__builtin_sub_overflow(left, right, &out));
    case GoalOperator::divide:
      return divide(left, right, out);
    case GoalOperator::modulo:
      return modulo(left, right, out);
    case GoalOperator::shift_left:
    case GoalOperator::shift_right:
      return shift(left, right, op == GoalOperator::shift_left, out);
    case GoalOperator::less:
      out = left < right;
      break;
    case GoalOperator::less_equal:
      out = left <= right;
      break;
    case GoalOperator::greater:
      out = left > right;
      break;
    case GoalOperator::greater_equal:
      out = left >= right;
      break;
    case GoalOperator::equal:
      out = left == right;
      break;
    case GoalOperator::unequal:
      out = left != right;
      break;
    case GoalOperator::bit_and:
      out = left & right;
      break;
    case GoalOperator::bit_xor:
      out = left ^ right;
      break;
    case GoalOperator::bit_or:
      out = left | right;
      break;
    case GoalOperator::both:
      out = left != 0 && right != 0;
      break;
    default:
      out = left != 0 || right != 0;
      break;
  }
  return GoalFault::none;
}

}  // namespace

GoalValue evaluate_goal(const GoalStep* step, const GoalVariables& variables) {
  std::int64_t stack[kGoalExpressionDepth + 1] = {};
  std::size_t top = 0;
  for (; step->op != GoalOperator::end; ++step) {
    switch (step->op) {
      case GoalOperator::number:
        stack[top++] = step->value;
        break;
      case GoalOperator::me:
        stack[top++] = variables.me;
        break;
      case GoalOperator::size:
        stack[top++] = variables.size;
        break;
      case GoalOperator::index:
        stack[top++] = variables.index[static_cast<std::size_t>(step->value)];
        break;
      case GoalOperator::negate:
        if (__builtin_sub_overflow(0, stack[top - 1], &stack[top - 1]))
          return {0, GoalFault::overflow};
        break;
      case GoalOperator::invert:
        stack[top - 1] = stack[top - 1] == 0;
        break;
      default: {
        --top;
        const GoalFault fault = apply(step->op, stack[top - 1], stack[top], stack[top - 1]);
        if (fault != GoalFault::none) return {0, fault};
      }
    }
  }
  return {stack[0], GoalFault::none};
}

const char* describe_goal_fault(GoalFault fault) {
  switch (fault) {
    case GoalFault::overflow:
      return "a number beyond 64 bits";
    case GoalFault::division_by_zero:
      return "a division by zero";
    case GoalFault::shift:
      return "a shift by less than 0 or more than 62";
    case GoalFault::none:
      break;
  }
  return "nothing wrong";
}

}  // namespace foretrace::sim
