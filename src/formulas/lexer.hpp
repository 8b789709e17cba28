// The words of an analytical model (FILE.model, gnuplot's syntax).
//
// From text to tokens with their lines; knows nothing of what they mean.
// Private to src/formulas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::formulas {

struct Token {
  enum class Kind { number, name, sign, end_of_statement };
  Kind kind = Kind::end_of_statement;
  std::string text;    // of a sign: "**", "<=", ...
  double value = 0;    // of a number
  bool whole = false;  // a number without point or exponent
  int line = 1;
};

// Comments (#) and lines that go on (\ at their end) are gone; ends of lines and semicolons
// are end_of_statement, also the last token. Throws Error "FILE:LINE: ...".
std::vector<Token> split(std::string_view text, const std::string& file);

}  // namespace foretrace::formulas
