#include "sim/text/goal_reader.hpp"

#include <cmath>

namespace foretrace::sim {
namespace {

struct Binary {
  std::string_view sign;
  int precedence;
  GoalOperator op;
};
constexpr Binary kBinary[] = {
    {"||", 1, GoalOperator::either},        {"&&", 2, GoalOperator::both},
    {"|", 3, GoalOperator::bit_or},         {"^", 4, GoalOperator::bit_xor},
    {"&", 5, GoalOperator::bit_and},        {"==", 6, GoalOperator::equal},
    {"!=", 6, GoalOperator::unequal},       {"<", 7, GoalOperator::less},
    {"<=", 7, GoalOperator::less_equal},    {">", 7, GoalOperator::greater},
    {">=", 7, GoalOperator::greater_equal}, {"<<", 8, GoalOperator::shift_left},
    {">>", 8, GoalOperator::shift_right},   {"+", 9, GoalOperator::add},
    {"-", 9, GoalOperator::subtract},       {"*", 10, GoalOperator::multiply},
    {"/", 10, GoalOperator::divide},        {"%", 10, GoalOperator::modulo},
};

const Binary* find_binary(const GoalToken& token) {
  if (token.kind != GoalToken::Kind::symbol) return nullptr;
  for (const Binary& binary : kBinary)
    if (token.text == binary.sign) return &binary;
  return nullptr;
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr Unit kSizes[] = {{"b", 1},         {"B", 1},           {"kB", 1000},
                           {"MB", 1000000},  {"GB", 1000000000}, {"KiB", 1 << 10},
                           {"MiB", 1 << 20}, {"GiB", 1 << 30}};
constexpr Unit kTimes[] = {
    {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};

template <std::size_t n>
const Unit* find_unit(const Unit (&units)[n], const GoalToken& token) {
  if (token.kind != GoalToken::Kind::name) return nullptr;
  for (const Unit& unit : units)
    if (token.text == unit.name) return &unit;
  return nullptr;
}

constexpr int kDeepestExpression = 100;

}  // namespace

void GoalReader::skip_lines() {
  while (token_.kind == GoalToken::Kind::newline || token_.is(";")) advance();
}

bool GoalReader::take(std::string_view symbol) {
  if (!token_.is(symbol)) return false;
  advance();
  return true;
}

bool GoalReader::take_name(std::string_view name) {
  if (!token_.is_name(name)) return false;
  advance();
  return true;
}

void GoalReader::expect(std::string_view symbol, const char* where) {
  if (!take(symbol)) expected("'" + std::string(symbol) + "' " + where);
}

bool GoalReader::plain_message(GoalInstruction& instruction) {
  const bool send = token_.is_name("send");
  if (!send && !token_.is_name("recv")) return false;
  const std::optional<GoalPlainMessage> message = scanner_.plain_message(send, program_.ranks);
  if (!message) return false;
  instruction.kind = send ? GoalKind::send : GoalKind::recv;
  instruction.amount = message->bytes;
  instruction.peer = static_cast<std::int32_t>(message->peer);
  instruction.tag = static_cast<std::int32_t>(message->tag);
  advance();
  return true;
}

std::string_view GoalReader::plain_label() {
  const std::string_view label = scanner_.plain_label();
  if (!label.empty()) advance();
  return label;
}

bool GoalReader::at_end_of_statement() const {
  return token_.kind == GoalToken::Kind::newline || token_.kind == GoalToken::Kind::end ||
         token_.is(";") || token_.is("}");
}

void GoalReader::emit(GoalOperator op, std::int64_t value, int operands) {
  program_.steps.push_back({value, op});
  depth_ = depth_ + 1 - static_cast<std::size_t>(operands);
  if (depth_ > kGoalExpressionDepth)
    fail(token_.line, "expected a simpler expression, found one with more than " +
                          std::to_string(kGoalExpressionDepth) + " values at once");
}

void GoalReader::primary(int nesting) {
  if (token_.kind == GoalToken::Kind::number) {
    if (token_.fraction) expected(std::string(what_) + ": a whole number");
    emit(GoalOperator::number, token_.number, 0);
    return advance();
  }
  if (take("(")) {
    binary(1, nesting + 1);
    return expect(")", "after this expression");
  }
  if (token_.is_name("size")) {
    emit(GoalOperator::number, program_.ranks, 0);
    return advance();
  }
  if (scope.me && token_.is_name("me")) {
    emit(GoalOperator::me, 0, 0);
    varies_ = true;
    return advance();
  }
  if (token_.kind == GoalToken::Kind::name)
    for (std::size_t i = scope.index.size(); i-- > 0;)
      if (token_.text == scope.index[i]) {
        emit(GoalOperator::index, static_cast<std::int64_t>(i), 0);
        varies_ = true;
        return advance();
      }
  std::string known = scope.me ? "me, size" : "size";
  for (const std::string_view name : scope.index)
    if (!name.empty()) known += ", " + std::string(name);
  expected(std::string(what_) + ": a number, " + known + " or (");
}

void GoalReader::unary(int nesting) {
  if (nesting > kDeepestExpression)
    fail(token_.line, "expected a simpler expression, found one nested " +
                          std::to_string(kDeepestExpression) + " deep");
  if (take("-")) {
    unary(nesting + 1);
    return emit(GoalOperator::negate, 0, 1);
  }
  if (take("!")) {
    unary(nesting + 1);
    return emit(GoalOperator::invert, 0, 1);
  }
  primary(nesting);
}

void GoalReader::binary(int least, int nesting) {
  unary(nesting);
  for (const Binary* found = find_binary(token_); found && found->precedence >= least;
       found = find_binary(token_)) {
    advance();
    binary(found->precedence + 1, nesting + 1);
    emit(found->op, 0, 2);
  }
}

GoalNumber GoalReader::number(const char* what) {
  const std::uint32_t line = token_.line;
  if (token_.kind == GoalToken::Kind::number && !token_.fraction) {
    const std::int64_t value = token_.number;
    const GoalToken first = token_;
    const GoalScanner before = scanner_;
    advance();
    if (!find_binary(token_)) return {false, value};
    token_ = first;
    scanner_ = before;
  }
  what_ = what;
  varies_ = false;
  depth_ = 0;
  const std::size_t begin = program_.steps.size();
  binary(1, 0);
  program_.steps.push_back({});
  if (varies_) return {true, static_cast<std::int64_t>(begin)};
  const GoalNumber constant{false, evaluate({true, static_cast<std::int64_t>(begin)}, {}, line)};
  program_.steps.resize(begin);
  return constant;
}

std::int64_t GoalReader::evaluate(const GoalNumber& number, std::span<const std::int64_t> index,
                                  std::uint32_t line) const {
  if (!number.varies) return number.value;
  const GoalValue result = evaluate_goal(&program_.steps[static_cast<std::size_t>(number.value)],
                                         {0, program_.ranks, index});
  if (result.fault != GoalFault::none)
    fail(line, std::string("expected a number, found ") + describe_goal_fault(result.fault));
  return result.value;
}

std::int64_t GoalReader::constant(const char* what, std::int64_t least, std::int64_t most) {
  const std::uint32_t line = token_.line;
  const GoalNumber found = number(what);
  if (found.varies)
    fail(line, std::string("expected ") + what + ": a number that is the same for all ranks, " +
                   "found an expression with variables");
  if (found.value < least || found.value > most)
    fail(line, std::string("expected ") + what + ": a number from " + std::to_string(least) +
                   " to " + std::to_string(most) + ", found " + std::to_string(found.value));
  return found.value;
}

// The expression was the last one read.
void GoalReader::multiply(std::int64_t unit) {
  program_.steps.back() = {unit, GoalOperator::number};
  program_.steps.push_back({0, GoalOperator::multiply});
  program_.steps.push_back({});
}

GoalNumber GoalReader::size() {
  const std::uint32_t line = token_.line;
  GoalNumber bytes = number("a size");
  const Unit* unit = find_unit(kSizes, token_);
  if (!unit) expected("b after the size (or kB, MB, GB, KiB, MiB, GiB)");
  advance();
  const std::int64_t count = bytes.value;
  if (bytes.varies) {
    if (unit->factor != 1) multiply(unit->factor);
  } else if (count < 0 || __builtin_mul_overflow(count, unit->factor, &bytes.value)) {
    fail(line, "expected a size from 0 to 2^63-1 bytes, found " + std::to_string(count) +
                   std::string(unit->name));
  }
  return bytes;
}

GoalNumber GoalReader::time() {
  const GoalToken first = token_;
  const bool fraction = first.kind == GoalToken::Kind::number && first.fraction;
  GoalNumber picoseconds;
  if (fraction)
    advance();
  else
    picoseconds = number("a time");
  std::int64_t factor = 1000;
  if (const Unit* unit = find_unit(kTimes, token_)) {
    factor = unit->factor;
    advance();
  }
  if (picoseconds.varies) {
    multiply(factor);
    return picoseconds;
  }
  bool fits = true;
  if (fraction) {
    const double real = first.real * static_cast<double>(factor);
    fits = real <= static_cast<double>(kMostGoalTime);
    if (fits) picoseconds.value = std::llround(real);
  } else {
    fits = !__builtin_mul_overflow(picoseconds.value, factor, &picoseconds.value) &&
           picoseconds.value >= 0 && picoseconds.value <= kMostGoalTime;
  }
  if (!fits) scanner_.expected("a time from 0 to 4000000 s", first);
  return picoseconds;
}

std::vector<GoalSpan> GoalReader::spans(const char* what) {
  std::vector<GoalSpan> result;
  do {
    GoalSpan span;
    span.line = token_.line;
    if (take_name("all")) {
      span.to.value = program_.ranks - 1;
    } else {
      span.from = span.to = number(what);
      if (take("..")) span.to = number(what);
      if (take_name("step")) span.step = number(what);
    }
    result.push_back(span);
    while (token_.is(",") || token_.kind == GoalToken::Kind::newline) advance();
  } while (!token_.is("{") && !token_.is("}"));
  return result;
}

}  // namespace foretrace::sim
