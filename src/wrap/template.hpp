// Template: what a user writes to get a wrapper library: C with directives, one
// on a line (docs/wrap.md). Parsed here, filled in by generate.hpp.
#pragma once

#include <string>
#include <vector>

#include "wrap/condition.hpp"
#include "wrap/function_set.hpp"

namespace foretrace::wrap {

struct Node;
using Body = std::vector<Node>;

// A part under a condition; %else has none.
struct Branch {
  std::optional<Condition> condition;
  Body body;
};

struct Node {
  enum class Kind { text, call, loop, branches };
  Kind kind = Kind::text;
  int line = 0;                    // in the template, from 1
  std::string text;                // text: one line without its end; loop: the variable
  std::optional<FunctionSet> set;  // loop
  Body body;                       // loop
  std::vector<Branch> branches;
};

struct Wrap {
  int line = 0;
  FunctionSet set;
  Body body;
};

struct Template {
  std::string name;  // of the file, for messages
  bool cpp = false;  // C++, not C
  Body global;       // outside of all sections
  std::vector<Wrap> wraps;
  Body init;
  Body finalize;
};

// Throws Error "NAME:LINE: ...".
Template parse_template(std::string_view text, const std::string& name);

}  // namespace foretrace::wrap
