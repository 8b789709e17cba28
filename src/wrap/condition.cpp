#include "wrap/condition.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace foretrace::wrap {
namespace {

constexpr int kMostNesting = 50;

class ConditionParser {
 public:
  ConditionParser(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  Condition parse() {
    Condition condition = disjunction();
    if (!rest_.empty()) fail("expected and, or, or the end of the line");
    return condition;
  }

 private:
  [[noreturn]] void fail(const char* expected) {
    throw Error(place_ + expected + ", found " +
                (rest_.empty() ? "the end of the line" : "'" + std::string(rest_) + "'"));
  }

  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())))
      rest_.remove_prefix(1);
  }

  // A run of characters that hold no blank and no bracket.
  std::string_view peek() const {
    std::size_t end = 0;
    if (rest_.starts_with('/')) {  // a regular expression may hold brackets
      end = rest_.find('/', 1);
      return end == std::string_view::npos ? rest_ : rest_.substr(0, end + 1);
    }
    while (end < rest_.size() && !std::isspace(static_cast<unsigned char>(rest_[end])) &&
           rest_[end] != '(' && rest_[end] != ')')
      ++end;
    return rest_.substr(0, end);
  }
  std::string_view take(std::string_view word) {
    rest_.remove_prefix(word.size());
    skip_blanks();
    return word;
  }
  bool take_if(std::string_view word) {
    skip_blanks();
    if (peek() != word) return false;
    take(word);
    return true;
  }

  Condition joined(Condition::Kind kind, std::string_view word,
                   Condition (ConditionParser::*part)()) {
    Condition first = (this->*part)();
    if (!take_if(word)) return first;
    Condition all;
    all.kind = kind;
    all.parts.push_back(std::move(first));
    do all.parts.push_back((this->*part)());
    while (take_if(word));
    return all;
  }
  Condition disjunction() {
    return joined(Condition::Kind::disjunction, "or", &ConditionParser::conjunction);
  }
  Condition conjunction() {
    return joined(Condition::Kind::conjunction, "and", &ConditionParser::negation);
  }

  Condition negation() {
    if (++depth_ > kMostNesting) throw Error(place_ + "the condition is nested too deeply");
    Condition condition;
    if (take_if("not")) {
      condition.kind = Condition::Kind::negation;
      condition.parts.push_back(negation());
    } else if (rest_.starts_with('(')) {
      take("(");
      condition = disjunction();
      skip_blanks();
      if (!rest_.starts_with(')')) fail("expected )");
      take(")");
    } else {
      condition = question();
    }
    --depth_;
    return condition;
  }

  Condition question() {
    Condition condition;
    if (take_if("has")) {
      condition.kind = rest_.starts_with('@') ? Condition::Kind::has_role : Condition::Kind::has;
      if (rest_.starts_with('@')) rest_.remove_prefix(1);
      condition.text = operand("expected an argument's name after has");
      if (condition.kind == Condition::Kind::has_role && !is_role(condition.text))
        throw Error(place_ + "has @" + condition.text +
                    ": expected @count, @datatype, @bytes, @peer, @tag or @comm");
    } else if (take_if("in")) {
      condition.kind = Condition::Kind::in;
      condition.text = operand("expected functions after in");
      condition.set.emplace(condition.text, place_);
    } else if (take_if("returns")) {
      condition.kind = Condition::Kind::returns;
      condition.text = operand("expected a type after returns");
    } else if (take_if("mpi")) {
      condition.kind = Condition::Kind::mpi;
      condition.text = operand("expected openmpi or mpich after mpi");
      if (condition.text != "openmpi" && condition.text != "mpich")
        throw Error(place_ + "mpi " + condition.text + ": expected openmpi or mpich");
    } else {
      fail("expected has, in, returns, mpi, not or (");
    }
    return condition;
  }

  std::string operand(const char* expected) {
    const std::string_view word = peek();
    if (word.empty()) fail(expected);
    return std::string(take(word));
  }

  std::string_view rest_;
  const std::string& place_;
  int depth_ = 0;
};

}  // namespace

Condition parse_condition(std::string_view text, const std::string& place) {
  return ConditionParser(text, place).parse();
}

bool asks_for_function(const Condition& condition) {
  if (condition.kind == Condition::Kind::mpi) return false;
  if (condition.parts.empty()) return true;
  return std::ranges::any_of(condition.parts, asks_for_function);
}

bool holds(const Condition& condition, const Subject& subject) {
  const auto part_holds = [&subject](const Condition& part) { return holds(part, subject); };
  switch (condition.kind) {
    case Condition::Kind::has: {
      const auto names = argument_names(*subject.function);
      return std::ranges::find(names, condition.text) != names.end();
    }
    case Condition::Kind::has_role:
      return has_role(*subject.function, condition.text);
    case Condition::Kind::in:
      return condition.set->contains(subject.function->name, subject.wrapped);
    case Condition::Kind::returns:
      return subject.function->result == condition.text;
    case Condition::Kind::mpi:
      return subject.mpi == condition.text;
    case Condition::Kind::negation:
      return !holds(condition.parts.front(), subject);
    case Condition::Kind::conjunction:
      return std::ranges::all_of(condition.parts, part_holds);
    case Condition::Kind::disjunction:
      break;
  }
  return std::ranges::any_of(condition.parts, part_holds);
}

bool is_role(std::string_view name) {
  for (std::string_view role : {"count", "datatype", "bytes", "peer", "tag", "comm"})
    if (role == name) return true;
  return false;
}

bool has_role(const MpiFunction& function, std::string_view role) {
  if (role == "bytes") return argument_of(function, "count") && argument_of(function, "datatype");
  return argument_of(function, role).has_value();
}

}  // namespace foretrace::wrap
