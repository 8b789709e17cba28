// GoalScanner: the words of a text program, one at a time.
//
// Goes over the text once; names and strings are views into it. It knows what
// a word looks like, and nothing of what may follow what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrace::sim {

// send BYTESb to PEER [tag TAG], and the same of recv: whole numbers alone.
struct GoalPlainMessage {
  std::int64_t bytes = 0;
  std::int64_t peer = 0;
  std::int64_t tag = 0;
};

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

  // What follows `send` or `recv` as the programs of other tools have it, a million times; then the
  // end of its line is read next. Where anything else stands there, right or wrong (a PEER is below
  // `ranks`): nothing, and nothing has been read.
  std::optional<GoalPlainMessage> plain_message(bool send, int ranks);

  // Likewise, of `requires`: one label, up to the end of the line. Empty: nothing has been read.
  std::string_view plain_label();

  // Whether ':' follows the word that was read last, after blanks.
  bool colon_follows() const;
  // The word that would be read next if it is a name on the same line; else empty.
  std::string_view following_name() const;

  // Error "file:line: expected `what`, found `token`".
  [[noreturn]] void expected(const std::string& what, const GoalToken& token) const;
  [[noreturn]] void fail(std::uint32_t line, const std::string& what) const;

 private:
  void skip_blanks();
  const char* plain_number(const char* at, std::int64_t& value) const;
  const char* plain_word(const char* at, std::string_view word) const;
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
