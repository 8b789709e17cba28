// GoalReader: a text program word by word, with what several statements share:
// expressions, sizes, times, lists of ranks.
//
// Stands between the scanner, which knows words, and the parser, which knows
// statements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/goal_program.hpp"
#include "sim/text/goal_scanner.hpp"

namespace foretrace::sim {

// A number, or an expression that differs from rank to rank.
struct GoalNumber {
  bool varies = false;
  std::int64_t value = 0;  // if it varies, an index into GoalProgram::steps
};

// Ranks from..to in steps.
struct GoalSpan {
  GoalNumber from;
  GoalNumber to;
  GoalNumber step{false, 1};
  std::uint32_t line = 0;
};

class GoalReader {
 public:
  // Which variables an expression may use.
  struct Scope {
    bool me = false;
    // Names by depth; empty ones are no variables.
    std::vector<std::string_view> index;
  };

  GoalReader(std::string_view text, GoalProgram& program)
      : program_(program), scanner_(text, program.file) {
    advance();
  }

  const GoalToken& token() const { return token_; }
  const GoalScanner& scanner() const { return scanner_; }
  void advance() { token_ = scanner_.next(); }
  void skip_lines();  // and semicolons
  // Whether the word was there; then it is behind us.
  bool take(std::string_view symbol);
  bool take_name(std::string_view name);
  void expect(std::string_view symbol, const char* where);
  [[noreturn]] void expected(const std::string& what) const { scanner_.expected(what, token_); }
  [[noreturn]] void fail(std::uint32_t line, const std::string& what) const {
    scanner_.fail(line, what);
  }
  bool at_end_of_statement() const;
  // The two that most lines of large programs are; all else, and what is wrong, is left to others.
  // A send or a receive as GoalScanner::plain_message() has it.
  bool plain_message(GoalInstruction& instruction);
  // What follows `requires`, as GoalScanner::plain_label() has it.
  std::string_view plain_label();

  Scope scope;

  GoalNumber number(const char* what);
  // One that does not vary, in a range.
  std::int64_t constant(const char* what, std::int64_t least, std::int64_t most);
  GoalNumber size();  // bytes
  GoalNumber time();  // picoseconds
  // `0 2 4..8 step 2` up to a word that cannot go on; commas are allowed.
  std::vector<GoalSpan> spans(const char* what);
  // What a number is where the index variables have these values.
  std::int64_t evaluate(const GoalNumber& number, std::span<const std::int64_t> index,
                        std::uint32_t line) const;

 private:
  void binary(int least, int nesting);
  void unary(int nesting);
  void primary(int nesting);
  void emit(GoalOperator op, std::int64_t value, int operands);
  // An expression that varies, times a unit.
  void multiply(std::int64_t unit);

  GoalProgram& program_;
  GoalScanner scanner_;
  GoalToken token_;
  const char* what_ = "";  // the expression being read
  bool varies_ = false;
  std::size_t depth_ = 0;
};

}  // namespace foretrace::sim
