// Expressions of analytical models: gnuplot's arithmetic, as a tree.
//
// Parsing alone; evaluate.hpp gives them values.
#pragma once

#include <string>
#include <vector>

#include "formulas/lexer.hpp"

namespace foretrace::formulas {

struct Node {
  enum class Kind {
    number,
    name,    // of a variable or an argument
    call,    // name(children)
    unary,   // - + !
    binary,  // two children
    choice,  // condition ? a : b
    sum,     // sum [name = first : last] term
  };
  Kind kind = Kind::number;
  std::string text;    // the name, or the sign
  double value = 0;    // of a number
  bool whole = false;  // a number that gnuplot takes for an integer
  int line = 1;
  std::vector<Node> children;
};

// Parses the expression that begins at tokens[at], and moves `at` behind it. Throws Error
// "FILE:LINE: ...", also for expressions nested too deeply.
Node parse_expression(const std::vector<Token>& tokens, std::size_t& at, const std::string& file);

// The expression as text, in one fixed way of writing.
std::string format_expression(const Node& node);

}  // namespace foretrace::formulas
