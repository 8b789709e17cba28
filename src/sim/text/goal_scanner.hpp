// GoalScanner: the words of a text program, one at a time.
//
// Goes over the text once; names and strings are views into it. It knows what
// a word looks like, and nothing of what may follow what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrace::sim {

struct GoalToken {
  enum class Kind : std::uint8_t { end, newline, number, name, string, symbol };

  Kind kind = Kind::end;
  bool fraction = false;  // a number with a point or an exponent: in `real`
  std::uint32_t line = 1;
  std::string_view text;    // symbols too; strings without their quotes
  std::int64_t number = 0;  // not a fraction
  double real = 0;          // any number

  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

class GoalScanner {
 public:
  GoalScanner(std::string_view text, std::string_view file)
      : at_(text.data()), end_(text.data() + text.size()), file_(file) {}

  // Throws Error for a number beyond 64 bits, a comment or string without an
  // end, a character that stands for nothing.
  GoalToken next();

  // Whether ':' follows the word that was read last, after blanks.
  bool colon_follows() const;
  // The word that would be read next if it is a name on the same line; else empty.
  std::string_view following_name() const;

  // Error "file:line: expected `what`, found `token`".
  [[noreturn]] void expected(const std::string& what, const GoalToken& token) const;
  [[noreturn]] void fail(std::uint32_t line, const std::string& what) const;

 private:
  void skip_blanks();
  void scan_number(GoalToken& token);
  void scan_string(GoalToken& token);
  void scan_symbol(GoalToken& token);

  const char* at_;
  const char* end_;
  std::uint32_t line_ = 1;
  std::string_view file_;
};

// How a message shows a token: 'word', end of line, ...
std::string describe_token(const GoalToken& token);

}  // namespace foretrace::sim
